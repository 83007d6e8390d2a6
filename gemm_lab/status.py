"""What this machine can do: one banner."""

from __future__ import annotations

from dataclasses import dataclass

from gemm_lab import __version__, gpu
from gemm_lab.records import recorded, shipped_devices
from gemm_lab.tables import html_table


@dataclass(frozen=True, repr=False)
class Status:
    """GPU, compiler, emulator and records of this machine. Shows itself as a table.

    gpu        the GPU in use, None without one; `gpu_missing` then says why, and what helps
    compiler   the version of NVRTC, None without one; `compiler_missing` then says why
    emulator   the emulator's back end, "numpy" or "llvm", None where none can be chosen; `emulator_missing` says why
    recorded   the devices whose measurements ship, with the date
    """

    gpu: gpu.Device | None
    gpu_missing: str | None
    compiler: str | None
    compiler_missing: str | None
    emulator: str | None
    emulator_missing: str | None
    recorded: tuple[str, ...]

    def rows(self) -> list[tuple[str, str]]:
        """The banner's lines: a heading and a text each."""
        compiler = f"NVRTC {self.compiler}: CUDA C++ is compiled here, no GPU needed" if self.compiler else \
            f"none: {self.compiler_missing}"
        emulator = f"none: {self.emulator_missing}" if self.emulator_missing else "needs the compiler" \
            if not self.compiler else f"kernels run, are counted and checked on the CPU ({self.emulator} back end)"
        return [("GPU", str(self.gpu) if self.gpu else f"none: {self.gpu_missing}"), ("Compiler", compiler),
                ("Emulator", emulator), ("Recorded", ", ".join(self.recorded) or "nothing")]

    def __repr__(self) -> str:
        return "\n".join([f"GEMM Lab {__version__}", *(f"  {name:<9} {text}" for name, text in self.rows())])

    def _repr_html_(self) -> str:
        return html_table((), self.rows(), f"GEMM Lab {__version__}")


def status() -> Status:
    """What works here: the GPU (or why there is none), the compiler, the emulator, and the recorded measurements."""
    return Status(gpu.device() if gpu.available() else None, gpu.reason(), *compiler(), *emulator_backend(),
                  tuple(f"{device} ({' and '.join(dates(device))})" for device in shipped_devices()))


def dates(device: str) -> list[str]:
    """When the timings that ship were measured, in order."""
    shipped = (name for name in ("bench", "law", "ladder", "tuning") if device in shipped_devices(name))
    return sorted({recorded(device, name).date for name in shipped})


def compiler() -> tuple[str | None, str | None]:
    """The version of NVRTC, such as "13.0", or None and why it cannot be loaded."""
    from gemm_lab.compiler import NoCompiler, nvrtc
    try:
        return nvrtc.version(), None
    except NoCompiler as error:
        return None, str(error).splitlines()[0]


def emulator_backend() -> tuple[str | None, str | None]:
    """The emulator's back end, or None and why the one that GEMM_LAB_EMULATOR names cannot be used."""
    from gemm_lab.emulator.emulate import back_end
    try:
        return back_end(), None
    except ValueError as error:
        return None, str(error)
