"""CUDA C++ -> PTX and machine code, on a machine without a GPU.

The compiler is NVRTC (nvrtc.py). A source may include the usual headers (headers.py) and may be a whole program, whose
host code is left out (host_code.py). Every complaint of the compiler speaks of the student's lines (diagnostics.py).
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from functools import cached_property, lru_cache

from gemm_lab.compiler import cubin, headers, host_code, nvrtc, sass, scan
from gemm_lab.compiler.diagnostics import FILE, CompileError, Diagnostic, about_entry, parse, show
from gemm_lab.compiler.nvrtc import NoCompiler

__all__ = ["ARCH_PTX", "CompileError", "Compiled", "Diagnostic", "NoCompiler", "Ptx", "compile_kernel", "compile_ptx",
           "entries", "global_loads", "sass_by_line", "shared_accesses", "show"]

ARCH_PTX = "compute_80"     # the one virtual architecture that is emulated
_UNUSED = "-diag-suppress=177"      # "declared but never referenced" means nothing once host code is left out


@dataclass(frozen=True)
class Ptx:
    """PTX of one kernel: `entry` is its name in `text`, `diagnostics` are the compiler's warnings."""

    text: str = field(repr=False)
    entry: str
    source: str = field(repr=False)
    log: str = field(default="", repr=False)
    diagnostics: tuple[Diagnostic, ...] = ()


@dataclass(frozen=True)
class Compiled:
    """Machine code of one kernel and what it takes to run a thread, or a block, of it.

    name                       the kernel as asked for, "shared_tiling<32, 0>"; `entry` is its name in the cubin
    registers                  32-bit registers of a thread
    shared_bytes               static shared memory of a block
    local_bytes                stack frame of a thread: arrays that did not fit into registers
    spill_store/load_bytes     what the code moves because registers ran out; `spill_bytes` is the sum
    barriers                   hardware barriers of a block
    sass, instructions, loop   the machine code: nvdisasm's text, its instructions, and those of the loop with barriers
    """

    ptx: str
    cubin: bytes
    registers: int
    shared_bytes: int
    local_bytes: int
    spill_store_bytes: int
    spill_load_bytes: int
    barriers: int
    log: str
    entry: str
    arch: str
    name: str
    source: str
    diagnostics: tuple[Diagnostic, ...] = ()

    @property
    def spill_bytes(self) -> int:
        return self.spill_store_bytes + self.spill_load_bytes

    @cached_property
    def sass(self) -> str:
        """nvdisasm's text, made on first use. RuntimeError without nvdisasm."""
        return sass.disassemble(self.cubin, self.entry)

    @cached_property
    def instructions(self) -> tuple[str, ...]:
        """The machine instructions in program order, "LDS.128 R12, [UR4+0x10]". RuntimeError without nvdisasm."""
        return sass.instructions(self.sass)

    @cached_property
    def loop(self) -> tuple[str, ...]:
        """Those of the loop around the first barrier, one round: a tiled kernel's step, or several if unrolled."""
        return sass.loop(self.sass)

    def __repr__(self) -> str:
        text = (f"{self.name} for {self.arch}: {self.registers} registers, {self.shared_bytes:,} bytes of shared "
                f"memory, {self.local_bytes} bytes of stack frame, {self.spill_bytes} bytes of spills")
        return "\n\n".join([text, show(self.diagnostics, self.source)]).rstrip()


def entries(source: str) -> tuple[str, ...]:
    """The names of the kernels (`__global__` functions) in a source, templates without their arguments."""
    return tuple(kernel.name for kernel in scan.kernels(source))


def compile_ptx(source: str, entry: str, options: tuple[str, ...] = ()) -> Ptx:
    """PTX for compute_80 with line information, C++17; `entry` is "k", or "k<32, true>" for a template.

    `options` go to NVRTC as they are, ("-G",) for no optimisation. Results are kept: the same call compiles once.
    Raises CompileError, ValueError (no such kernel, wrong template arguments) and NoCompiler.
    """
    _check_text(source, entry)
    return _ptx(source, entry, tuple(options))


def compile_kernel(source: str, entry: str, arch: str = "sm_90", options: tuple[str, ...] = ()) -> Compiled:
    """Machine code for one architecture, with its use of registers and memory. Otherwise as `compile_ptx`."""
    _check_text(source, entry)
    _check_arch(arch)
    return _kernel(source, entry, arch, tuple(options))


def sass_by_line(compiled: Compiled) -> dict[int, list[str]]:
    """Source line -> its machine instructions, "LDS.128 R12, [UR4+0x10]", in program order.

    An inlined function's code counts for the function's own lines, or if it is in a header, for the line that used it.
    """
    return sass.by_line(compiled.sass)


def shared_accesses(compiled: Compiled) -> dict[int, Counter[str]]:
    """Source line -> its shared-memory instructions by width, {31: Counter({"LDS": 32, "LDS.128": 8})}.

    No suffix means 32 bits. An instruction counts once, however often a loop runs it. Lines as in `sass_by_line`.
    Needs no nvdisasm.
    """
    found: dict[int, Counter[str]] = {}
    for access in cubin.accesses(compiled.cubin, compiled.entry):
        if access.line is not None and access.name[:3] in ("LDS", "STS"):
            found.setdefault(access.line, Counter())[access.name] += 1
    return dict(sorted(found.items()))


def global_loads(compiled: Compiled) -> dict[int, int]:
    """Source line -> its instructions that load from global memory, however wide; as in `shared_accesses`."""
    found = Counter(access.line for access in cubin.accesses(compiled.cubin, compiled.entry)
                    if access.line is not None and access.name.startswith("LDG"))
    return dict(sorted(found.items()))


def _check_text(source: str, entry: str) -> None:
    for name, value in (("source", source), ("entry", entry)):
        if not isinstance(value, str):
            raise TypeError(f"{name} is a {type(value).__name__}; it must be a str")
    if not re.fullmatch(r"\s*[A-Za-z_][\w:]*\s*(?:<[^;{}\n\0]*>\s*)?", entry):
        raise ValueError(f'entry = {entry!r}; it must name a kernel, as in "k" or "k<32, true>"')
    fault = ("the source is empty" if not source.strip() else
             "the source holds a NUL character, which no C++ file may" if "\0" in source else
             "the source has no kernel: no function is marked __global__" if "__global__" not in source else None)
    if fault:
        raise CompileError([Diagnostic(None, None, fault, "error")], fault, source)


def _check_arch(arch: str) -> None:
    number = re.fullmatch(r"(sm_\d+)[af]?", arch) if isinstance(arch, str) else None
    if not number or number[1] not in nvrtc.supported_archs():
        raise ValueError(f"arch = {arch!r}; NVRTC {nvrtc.version()} compiles for {', '.join(nvrtc.supported_archs())}")


@lru_cache(maxsize=256)
def _ptx(source: str, entry: str, options: tuple[str, ...]) -> Ptx:
    output, warnings = _compile(source, entry, (f"-arch={ARCH_PTX}", *options))
    return Ptx(output.ptx, output.entry, source, output.log, warnings)


@lru_cache(maxsize=256)
def _kernel(source: str, entry: str, arch: str, options: tuple[str, ...]) -> Compiled:
    made, warnings = _compile(source, entry, (f"-arch={arch}", "--ptxas-options=-v", *options))
    return Compiled(made.ptx, made.cubin, **_resources(made.log, made.entry), log=made.log, entry=made.entry, arch=arch,
                    name=entry, source=source, diagnostics=warnings)


def _compile(source: str, entry: str, options: tuple[str, ...]) -> tuple[nvrtc.Output, tuple[Diagnostic, ...]]:
    """Compile; if the compiler reports host code, leave that out and compile again."""
    options = ("--std=c++17", "-no-source-include", f"-include={headers.PRELUDE}",
               "-frandom-seed=0",      # the seed names what is static or in an unnamed namespace
               "-no-cache",            # where a driver is, NVRTC would keep results on disk, without ptxas's report
               *options)
    options += () if "-G" in options else ("-lineinfo",)
    source = source.removeprefix("\ufeff")      # a byte-order mark
    text, left_out = source, {}
    while True:
        output = nvrtc.compile_program(text, entry, options, headers.refused(source) | headers.headers(), FILE)
        found = parse(output.log, source, output.ptx)
        if output.entry is not None and f".entry {output.entry}(" not in output.ptx:
            raise ValueError(f"{entry} is declared, but its body is missing")
        if output.entry is not None:
            return output, found
        dropped = host_code.drop(text, [d for d in found if d.severity == "error"])
        if dropped is None:
            raise _fault(source, entry, output.log, [host_code.explain(headers.explain(d), left_out) for d in found])
        text, left_out, options = dropped.source, left_out | dropped.reasons, (*options, _UNUSED)


def _fault(source: str, entry: str, log: str, found: list[Diagnostic]) -> Exception:
    about = about_entry(log)
    if about is None or any(d.severity == "error" for d in found):
        return CompileError(found, log, source)
    name = entry.partition("<")[0].strip()
    known = {kernel.name: kernel for kernel in scan.kernels(source)}
    kernel = known.get(name.rpartition("::")[2])
    if kernel is None:
        return ValueError(f"no kernel is named {name!r}; this source has {', '.join(known) or 'none that can be seen'}")
    if kernel.template is not None:
        return ValueError(f"entry = {entry!r}, but {name} is a template <{kernel.template}>: name it with one argument "
                          f'for each parameter, "{name}<...>". The compiler says: {about}')
    if "<" in entry:
        return ValueError(f'entry = {entry!r}, but {name} is no template in this source: name it "{name}"')
    return ValueError(f"entry = {entry!r} does not name a kernel. The compiler says: {about}")


def _resources(log: str, entry: str) -> dict[str, int]:
    """The numbers that ptxas reports for one kernel."""
    name = re.escape(entry)
    part = re.search(rf"Compiling entry function '{name}'(.*?)(?:Compiling entry function|\Z)", log, re.DOTALL)[1]
    properties = re.search(rf"Function properties for {name}\n.*?(\d+) bytes stack frame, "
                           r"(\d+) bytes spill stores, (\d+) bytes spill loads", part)

    def number(pattern: str) -> int:
        match = re.search(pattern, part)
        return int(match[1]) if match else 0
    return {"registers": number(r"Used (\d+) registers"), "barriers": number(r"used (\d+) barriers"),
            "shared_bytes": number(r"(\d+) bytes smem"), "local_bytes": int(properties[1]),
            "spill_store_bytes": int(properties[2]), "spill_load_bytes": int(properties[3])}
