"""Trace mode: what one block did, step by step. `trace` is the format, `recorder` writes it, `phases` says what each
step is for, `spots` finds the places that findings speak of."""

from gemm_lab.emulator.tracing.recorder import Recorder, TooLong
from gemm_lab.emulator.tracing.trace import Trace

__all__ = ["Recorder", "TooLong", "Trace"]
