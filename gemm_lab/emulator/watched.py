"""What a kernel's instructions tell about races before it runs: which arrays it could write to, and where it waits."""

from __future__ import annotations

from dataclasses import dataclass

from gemm_lab.emulator import flow
from gemm_lab.emulator.memory import Global, Region
from gemm_lab.emulator.ptx import Address, Instruction, Symbol


def polling(blocks: list[flow.Block]) -> set[Instruction]:
    """The loads and atomics on whose values it depends how long a loop goes on: it may be waiting for a flag.

    Nobody waits for a flag in shared memory in a loop with a barrier: there it is the number of some work.
    """
    found = set()
    for loop in flow.loops(blocks):
        instructions = [i for n in loop.body for i in blocks[n].instructions]
        branches = set().union(*(flow.read_at_end(blocks[n].end) for n in loop.body))
        meets = any(isinstance(blocks[n].end, flow.Barrier) for n in loop.body)
        found.update(i for i in flow.feeding(instructions, branches)[0]
                     if i.opcode[0] in ("ld", "atom") and not (meets and "shared" in _spaces(i)))
    return found


@dataclass(frozen=True)
class Targets:
    """Where the addresses to which a kernel writes come from: variables, and bytes of arguments as (name, offset)."""
    variables: frozenset[str]
    pointers: frozenset[tuple[str, int]]


def targets(instructions: list[Instruction]) -> Targets | None:
    """What the kernel could write to in global memory; None: anything."""
    addresses = [i.operands[1 if i.opcode[0] == "atom" else 0] for i in instructions
                 if i.opcode[0] in ("st", "atom", "red") and not _spaces(i) & {"shared", "local", "param"}]
    feeding, _ = flow.feeding(instructions, {r.name for address in addresses for r in flow.registers(address)})
    if any(i.opcode[0] in ("ld", "ldu", "atom", "shfl") and "param" not in i.opcode for i in feeding):
        return None    # a pointer that lies in memory
    loads = [i.operands[1] for i in feeding if i.opcode[0] == "ld"]
    if not all(isinstance(address.base, Symbol) for address in loads):
        return None
    operands = [*addresses, *(operand for i in feeding if i.opcode[0] != "ld" for operand in i.operands)]
    bases = [operand.base if isinstance(operand, Address) else operand for operand in operands]
    return Targets(frozenset(base.name for base in bases if isinstance(base, Symbol)),
                   frozenset((address.base.name, address.base.offset + address.offset) for address in loads))


def _spaces(i: Instruction) -> set[str]:
    return {part.split("::")[0] for part in i.opcode}


def written(found: Targets | None, memory: Global, arguments: dict[str, bytes],
            symbols: dict[str, int]) -> list[Region]:
    """The arrays to which the kernel could write."""
    first = set()
    if found is not None:
        addresses = [int.from_bytes(arguments[name][at:at + 8], "little") for name, at in found.pointers]
        addresses += [symbols[name] for name in found.variables if name in symbols]
        first = {region.first for region in map(memory.region, addresses) if region}
    return [r for r in memory.regions.values() if not r.constant and (found is None or r.first in first)]
