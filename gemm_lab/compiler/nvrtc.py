"""NVRTC, NVIDIA's run-time compiler, through ctypes. It needs neither a GPU nor a driver."""

from __future__ import annotations

import ctypes
import re
import sys
from collections.abc import Collection, Mapping, Sequence
from ctypes import POINTER, byref, c_char_p, c_int, c_size_t, c_void_p
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from threading import Lock

_STILL_WORKS = ("Without it kernels can be neither compiled nor run; counts on paper, recorded results and plots still "
                "work.")

_OLDEST = 13    # the major version that first knows every option used here
_SYSTEM_NAMES = ["nvrtc64_130_0.dll"] if sys.platform == "win32" else ["libnvrtc.so.13", "libnvrtc.so"]
_lock = Lock()     # one compilation at a time


class NoCompiler(RuntimeError):
    """NVRTC cannot be loaded; the message says what to install and what works without it."""


@dataclass(frozen=True)
class Output:
    """What NVRTC made of one program. A failed program has no `entry`; it has PTX if only the assembler refused it."""

    entry: str | None      # the entry's mangled name
    ptx: str
    cubin: bytes           # empty for a virtual architecture
    log: str


@cache
def library() -> ctypes.CDLL:
    """The loaded NVRTC library, from the pip package if there is one, else from where the system finds it."""
    if sys.platform == "darwin":
        raise NoCompiler(f"NVRTC has no macOS build: use Linux, Windows or a hosted notebook. {_STILL_WORKS}")
    faults = []
    for candidate in [*_packaged(), *_SYSTEM_NAMES]:
        try:
            return _load(candidate)
        except OSError as fault:
            faults.append(f"{Path(candidate).name}: {fault}")
    raise NoCompiler("NVRTC was not found. Install it: pip install nvidia-cuda-nvrtc (it needs no GPU). "
                     f"{_STILL_WORKS}\nTried: {'; '.join(faults)}")


def _packaged() -> list[Path]:
    """NVRTC libraries in pip's packages, the newest first."""
    pattern = "bin/**/nvrtc64*.dll" if sys.platform == "win32" else "lib/libnvrtc.so.*"
    found = [path for folder in package_folders() for path in folder.glob(pattern) if ".alt." not in path.name]
    return sorted(found, key=lambda path: [int(n) for n in re.findall(r"\d+", path.name)], reverse=True)


def _load(candidate: Path | str) -> ctypes.CDLL:
    """Load NVRTC, and before it the library of built-ins beside it, which it looks for on the system's path only."""
    if isinstance(candidate, Path):
        for builtins in candidate.parent.glob("*nvrtc-builtins*"):
            if ".alt." not in builtins.name:
                ctypes.CDLL(str(builtins))
    lib = _declare(ctypes.CDLL(str(candidate)))
    if _version(lib)[0] < _OLDEST:
        raise OSError(f"version {_version(lib)[0]}; {_OLDEST} or newer is needed")
    return lib


def package_folders() -> list[Path]:
    """The folders into which NVIDIA's pip packages install: `nvidia/cu13`, `nvidia/cuda_nvrtc`, ..."""
    spec = find_spec("nvidia")
    roots = (spec and spec.submodule_search_locations) or []
    return [folder for root in roots for folder in sorted(Path(root).iterdir()) if folder.is_dir()]


def _declare(lib: ctypes.CDLL) -> ctypes.CDLL:
    """Give ctypes the C signatures of `nvrtc.h`."""
    strings = POINTER(c_char_p)
    signatures = {
        "nvrtcVersion": [POINTER(c_int), POINTER(c_int)],
        "nvrtcGetNumSupportedArchs": [POINTER(c_int)],
        "nvrtcGetSupportedArchs": [POINTER(c_int)],
        "nvrtcCreateProgram": [POINTER(c_void_p), c_char_p, c_char_p, c_int, strings, strings],
        "nvrtcDestroyProgram": [POINTER(c_void_p)],
        "nvrtcCompileProgram": [c_void_p, c_int, strings],
        "nvrtcAddNameExpression": [c_void_p, c_char_p],
        "nvrtcGetLoweredName": [c_void_p, c_char_p, POINTER(c_char_p)],
    }
    for name in ("PTX", "CUBIN", "ProgramLog"):
        signatures[f"nvrtcGet{name}Size"] = [c_void_p, POINTER(c_size_t)]
        signatures[f"nvrtcGet{name}"] = [c_void_p, c_char_p]
    for name, argtypes in signatures.items():
        getattr(lib, name).argtypes, getattr(lib, name).restype = argtypes, c_int
    lib.nvrtcGetErrorString.argtypes, lib.nvrtcGetErrorString.restype = [c_int], c_char_p
    return lib


def version() -> str:
    """The version of the loaded NVRTC: "13.0"."""
    return "{}.{}".format(*_version(library()))


def _version(lib: ctypes.CDLL) -> tuple[int, int]:
    major, minor = c_int(), c_int()
    lib.nvrtcVersion(byref(major), byref(minor))
    return major.value, minor.value


@cache
def supported_archs() -> tuple[str, ...]:
    """The real architectures that this NVRTC compiles for: ("sm_75", "sm_80", ...)."""
    count = c_int()
    _check(library().nvrtcGetNumSupportedArchs(byref(count)))
    numbers = (c_int * count.value)()
    _check(library().nvrtcGetSupportedArchs(numbers))
    return tuple(f"sm_{number}" for number in numbers)


def compile_program(source: str, expression: str, options: Sequence[str], headers: Mapping[str, str],
                    file: str) -> Output:
    """Compile `source`, called `file`, with `headers` (name -> text) at hand, for the kernel that `expression` names.

    A program that does not compile is an Output, too; RuntimeError only if NVRTC itself fails.
    """
    lib, program = library(), c_void_p()
    with _lock:
        _check(lib.nvrtcCreateProgram(byref(program), _bytes(source), _bytes(file), len(headers),
                                      _strings(headers.values()), _strings(headers)))
        try:
            _check(lib.nvrtcAddNameExpression(program, _bytes(expression)))
            failed = lib.nvrtcCompileProgram(program, len(options), _strings(options))
            entry = None if failed else _lowered_name(program, expression)
            ptx = _read(program, "PTX").rstrip(b"\0").decode(errors="replace")
            log = _read(program, "ProgramLog").rstrip(b"\0").decode(errors="replace")
            return Output(entry, _without_folders(ptx), b"" if failed else _read(program, "CUBIN"), log)
        finally:
            lib.nvrtcDestroyProgram(byref(program))


def _lowered_name(program: c_void_p, expression: str) -> str:
    name = c_char_p()
    _check(library().nvrtcGetLoweredName(program, _bytes(expression), byref(name)))
    return name.value.decode()


def _without_folders(ptx: str) -> str:
    """NVRTC puts the current folder before every file name, which would make the text depend on the machine."""
    return re.sub(r'(\.file\s+\d+\s+)"[^"\n]*[/\\]([^"/\\]+)"', r'\1"\2"', ptx)


def _read(program: c_void_p, kind: str) -> bytes:
    """One result of a program, empty if it has none: "PTX", "CUBIN" or "ProgramLog"."""
    lib, size = library(), c_size_t()
    if getattr(lib, f"nvrtcGet{kind}Size")(program, byref(size)) or not size.value:
        return b""
    buffer = ctypes.create_string_buffer(size.value)
    _check(getattr(lib, f"nvrtcGet{kind}")(program, buffer))
    return buffer.raw


def _strings(texts: Collection[str]) -> ctypes.Array:
    encoded = [_bytes(text) for text in texts]
    return (c_char_p * len(encoded))(*encoded)


def _bytes(text: str) -> bytes:
    return text.encode(errors="replace")


def _check(status: int) -> None:
    if status:
        raise RuntimeError(f"NVRTC failed: {library().nvrtcGetErrorString(status).decode()}")
