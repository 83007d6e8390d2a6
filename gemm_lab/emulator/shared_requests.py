"""Which requests to shared memory an H200's machine code makes, where the PTX says what the emulator executes.

`machine_loads` finds how wide the machine's accesses are and which of the PTX's they serve. Here that is joined with
the basic blocks of a program: a branch around a store often becomes a predicate of the store, and then every warp that
comes to the branch issues the instruction, whoever takes part.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache

from gemm_lab import compiler
from gemm_lab.emulator import flow, program
from gemm_lab.emulator.program import Program
from gemm_lab.machine_loads import MachineAccess, machine_accesses

MNEMONICS = {"ld": "LDS", "st": "STS"}
SUFFIXES = {8: ".64", 16: ".128"}


@dataclass(frozen=True, eq=False)
class SharedRequests:
    """How to count a kernel's shared memory.

    accesses  index of a PTX instruction -> the machine's access; None where that is unknown. Without generic addresses
    issued    basic block -> the counts (line, space, action) to which each warp that executes it adds a request
    unknown   the lines of unknown accesses: there the PTX's are counted
    """

    accesses: Mapping[int, MachineAccess | None] = field(default_factory=dict)
    issued: Mapping[int, tuple[tuple, ...]] = field(default_factory=dict)
    unknown: frozenset[int] = frozenset()


@lru_cache(maxsize=64)
def shared_requests(source: str, entry: str) -> SharedRequests:
    """Compile a kernel to machine code as well, and see what that makes of its accesses to shared memory."""
    ptx = compiler.compile_ptx(source, entry)
    loaded = program.load(ptx.text, ptx.entry)
    instructions = loaded.kernel.instructions
    if not any(i.opcode[0] in MNEMONICS and "shared" in i.opcode for i in instructions):
        return SharedRequests()
    try:
        made = compiler.compile_kernel(source, entry)
    except compiler.CompileError:    # ptxas refused: it needs more than a block can have
        found, guarded = machine_accesses(loaded.kernel, {}), set()
    else:
        found = machine_accesses(loaded.kernel, compiler.shared_accesses(made))
        guarded = compiler.guarded_accesses(made)
    unknown = frozenset(instructions[at].line or 0 for at, access in found.items() if access is None)
    return _with_guards(loaded, found, guarded, unknown)


def _with_guards(loaded: Program, found: dict[int, MachineAccess | None], guarded: set[tuple[int, str]],
                 unknown: frozenset[int]) -> SharedRequests:
    blocks = [code.block for code in loaded.codes]
    block_of = {id(i): n for n, block in enumerate(blocks) for i in block.instructions}
    issued = defaultdict(list)
    for at, access in found.items():
        i = loaded.kernel.instructions[at]
        if access is None or not access.leads or (i.line, _name(i, access)) not in guarded:
            continue
        n = block_of[id(i)]
        head = n if i.guard else flow.branches_around(blocks, n)
        if head is not None:
            found[at] = replace(access, guarded=True)
            issued[head].append((i.line, "shared", "load" if i.opcode[0] == "ld" else "store"))
    return SharedRequests(found, {n: tuple(keys) for n, keys in issued.items()}, unknown)


def _name(instruction, access: MachineAccess) -> str:
    return MNEMONICS[instruction.opcode[0]] + SUFFIXES.get(access.width, "")
