"""A machine with a GPU, as far as tests without one need it: the stand-in for CuPy in `fakes/`, and jobs for it."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

from gemm_lab import gpu
from gemm_lab.gpu.job import Job

FAKES = Path(__file__).parent / "fakes"
ON_GPU = ("gemm_lab.gpu.launching", "gemm_lab.gpu.cublas", "gemm_lab.gpu.timing")


def job(code: str, **more) -> Job:
    return Job(**{"label": code, "code": code.encode(), "symbol": "mangled", "grid": (1, 1, 1), "block": (32, 1, 1),
                  "shared_bytes": 0, "source": "gemm 0.001", "entry": "k"} | more)


def stand_in(monkeypatch):
    """The stand-in for CuPy, imported into this process, as a fixture's generator; modules that use it load anew."""
    kept = {name: module for name, module in sys.modules.items()
            if name.split(".")[0] in ("cupy", "cupy_backends", "cupyx") or name in ON_GPU}
    for name in kept:
        del sys.modules[name]
    monkeypatch.syspath_prepend(str(FAKES))
    yield importlib.import_module("cupy")
    for name in [name for name in sys.modules if name.split(".")[0] == "cupy" or name in ON_GPU]:
        del sys.modules[name]
    for name in ON_GPU:
        vars(gpu).pop(name.rsplit(".", 1)[1], None)
    sys.modules.update(kept)
