"""Which requests to shared memory an H200's machine code makes, where the PTX says what the emulator executes.

`machine_loads` finds how wide the machine's accesses are and which of the PTX's they serve. A request has at least one
lane that takes part: a machine instruction whose predicate leaves out the whole warp is none.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache

from gemm_lab import compiler
from gemm_lab.emulator import program
from gemm_lab.machine_loads import MachineAccess, machine_accesses


@dataclass(frozen=True, eq=False)
class SharedRequests:
    """How to count a kernel's shared memory.

    accesses  index of a PTX instruction -> the machine's access; None where that is unknown. Without generic addresses
    unknown   the lines of unknown accesses: there the PTX's are counted
    """

    accesses: Mapping[int, MachineAccess | None] = field(default_factory=dict)
    unknown: frozenset[int] = frozenset()


AS_WRITTEN = SharedRequests()    # as the PTX says, or where nothing is counted


def machine_code_of(source: str, entry: str) -> compiler.Compiled | None:
    """A kernel's machine code; None where ptxas refuses: it needs more than a block can have."""
    try:
        return compiler.compile_kernel(source, entry)
    except compiler.CompileError:
        return None


@lru_cache(maxsize=64)
def shared_requests(source: str, entry: str) -> SharedRequests:
    """Compile a kernel to machine code as well, and see what that makes of its accesses to shared memory."""
    ptx = compiler.compile_ptx(source, entry)
    kernel = program.load(ptx.text, ptx.entry).kernel
    if not any(i.opcode[0] in ("ld", "st") and "shared" in i.opcode for i in kernel.instructions):
        return AS_WRITTEN
    compiled = machine_code_of(source, entry)
    found = machine_accesses(kernel, compiler.shared_accesses(compiled) if compiled else {})
    unknown = frozenset(kernel.instructions[at].line or 0 for at, access in found.items() if access is None)
    return SharedRequests(found, unknown)
