"""Is there a GPU that CuPy can use? If not, why not, in one sentence that says what helps."""

from __future__ import annotations

import importlib
import os
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from importlib import metadata

from gemm_lab.gpu import smi

WHEELS = ("cupy", "cupy-cuda11x", "cupy-cuda12x", "cupy-cuda13x", "cupy-cuda14x")  # each installs a package `cupy`
OLDEST = 75     # compute capability 7.5: the oldest that the compiler supports
INSTALL = '`make lab CUDA=13` in a checkout, else `pip install "cupy-cuda13x[ctk]"` (12, not 13, for an older driver)'
REINSTALL = f"install it again: {INSTALL}"


class NoGpu(RuntimeError):
    """There is no GPU that works here; the message says why and what helps."""


@dataclass(frozen=True)
class Device:
    """The GPU in use. Versions are texts ("580.65", "13.0"), sizes are bytes."""

    name: str
    compute_capability: str
    sms: int
    memory_bytes: int
    l2_bytes: int
    driver: str          # of the driver itself, where nvidia-smi tells it; else the CUDA version it supports
    driver_cuda: str     # the newest CUDA that the driver supports
    runtime: str         # the CUDA that CuPy was built for
    cupy: str
    bus_id: str = ""

    @property
    def arch(self) -> str:
        """The compiler's name for it, such as "sm_90"."""
        return "sm_" + self.compute_capability.replace(".", "")

    def __str__(self) -> str:
        return (f"{self.name}, compute capability {self.compute_capability}, {self.memory_bytes / 2**30:.0f} GiB; "
                f"driver {self.driver} (CUDA {self.driver_cuda}), CuPy {self.cupy} (CUDA {self.runtime})")


def available() -> bool:
    """Whether kernels can run on a GPU here."""
    return reason() is None


@cache
def reason() -> str | None:
    """Why no kernel can run on a GPU here, in one sentence with the cure; None if one can."""
    wheels = installed_wheels()
    if len(wheels) > 1:
        return (f"{' and '.join(wheels)} are installed together and overwrite each other's files: remove them all "
                f"(`pip uninstall -y {' '.join(wheels)}`), then install one, {INSTALL}")
    try:
        cupy = importlib.import_module("cupy")
        return _driver_fault(cupy) or _device_fault(cupy)
    except ModuleNotFoundError as error:
        if error.name == "cupy":
            return f"CuPy, which GEMM Lab needs to use a GPU, is not installed: if there is an NVIDIA GPU, {INSTALL}"
        return f"CuPy is installed but broken ({error}): {REINSTALL}"
    except Exception as error:    # whatever a broken installation raises must not take the lesson down
        return f"CuPy is installed but broken ({type(error).__name__}: {_first_line(error)}): {REINSTALL}"


def installed_wheels() -> list[str]:
    """Names of the installed distributions that bring a package called `cupy`."""
    found = []
    for name in WHEELS:
        with suppress(metadata.PackageNotFoundError):
            metadata.distribution(name)
            found.append(name)
    return found


def _driver_fault(cupy) -> str | None:
    runtime = cupy.cuda.runtime
    if getattr(runtime, "is_hip", False):
        return f"this CuPy is built for AMD GPUs, and the kernels are CUDA for NVIDIA's: {INSTALL}"
    driver, built = runtime.driverGetVersion(), runtime.runtimeGetVersion()
    if driver == 0:
        return ("CuPy is installed but there is no NVIDIA driver: with an NVIDIA GPU, install its driver "
                "(under WSL2 the one for Windows) and check with `nvidia-smi`")
    if built // 1000 > driver // 1000:
        return (f"CuPy is built for CUDA {built // 1000} and the driver supports only CUDA {version(driver)}: update "
                f"the driver, or use `make lab CUDA={driver // 1000}` (`cupy-cuda{driver // 1000}x`)")
    return None


def _device_fault(cupy) -> str | None:
    try:
        count = cupy.cuda.runtime.getDeviceCount()
    except cupy.cuda.runtime.CUDARuntimeError as error:
        return f"the NVIDIA driver does not offer a GPU ({_first_line(error)}): does `nvidia-smi` work?"
    if count == 0:
        visible = os.environ.get("CUDA_VISIBLE_DEVICES")
        hint = "" if visible is None else f" (CUDA_VISIBLE_DEVICES is {visible!r})"
        return f"the NVIDIA driver sees no GPU{hint}: does `nvidia-smi` list one?"
    capability = int(cupy.cuda.Device(0).compute_capability)
    if capability < OLDEST:
        return (f"the GPU has compute capability {capability / 10}, and the compiler supports {OLDEST / 10} and later "
                "(Turing, 2018): use the emulator, or another GPU")
    return None


@cache
def device() -> Device:
    """The GPU in use; NoGpu if there is none."""
    if reason():
        raise NoGpu(f"No GPU: {reason()}. Everything but timing works without one.")
    import cupy
    runtime = cupy.cuda.runtime
    properties = runtime.getDeviceProperties(0)
    bus_id = cupy.cuda.Device(0).pci_bus_id
    driver_cuda = version(runtime.driverGetVersion())
    return Device(
        name=properties["name"].decode(), compute_capability=f"{properties['major']}.{properties['minor']}",
        sms=properties["multiProcessorCount"], memory_bytes=properties["totalGlobalMem"],
        l2_bytes=properties["l2CacheSize"], driver=(smi.ask(bus_id, "driver_version") or [f"CUDA {driver_cuda}"])[0],
        driver_cuda=driver_cuda, runtime=version(runtime.runtimeGetVersion()), cupy=cupy.__version__, bus_id=bus_id)


def version(number: int) -> str:
    """CUDA's version numbers in words: 13020 is "13.2"."""
    return f"{number // 1000}.{number % 1000 // 10}"


def _first_line(error: Exception) -> str:
    return (str(error).strip().splitlines() or ["no message"])[0]
