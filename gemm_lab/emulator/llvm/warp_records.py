"""The records of what passes between the lanes of a warp, or between the threads of a block at a barrier."""

from __future__ import annotations

from functools import partial

from gemm_lab.emulator.flow import is_arrival
from gemm_lab.emulator.llvm import control, warps
from gemm_lab.emulator.ptx import Instruction, Unsupported
from gemm_lab.emulator.warp_steps import pick, two


def shuffle(asm, i: Instruction) -> None:
    mode = pick(i, ("up", "down", "bfly", "idx"))
    first, second = two(i.operands[0])
    sources = [asm.source(source, "b32") for source in i.operands[1:]]
    asm.arena.finished(asm.n)
    asm.emit(("shuffle", mode, asm.check), partial(warps.shuffle, mode=mode, check=asm.check),
             asm.target(first, "b32"), asm.target(second, "pred"), *sources)


def vote(asm, i: Instruction) -> None:
    mode = pick(i, ("all", "any", "uni", "ballot"))
    sources = asm.source(i.operands[1], "pred"), asm.source(i.operands[2], "b32")
    asm.arena.finished(asm.n)
    asm.emit(("vote", mode, asm.check), partial(warps.vote, mode=mode, check=asm.check),
             asm.target(i.operands[0], "b32" if mode == "ballot" else "pred"), *sources)


def active(asm, i: Instruction) -> None:
    asm.emit(("activemask",), warps.active, asm.arena.place(i.operands[0]))


def warp_barrier(asm, i: Instruction) -> None:
    """bar.warp.sync: the lanes of a warp run together already. Named barriers, bar.arrive too, are left to NumPy."""
    if is_arrival(i):
        raise Unsupported(f"`{i.text}`")
    if asm.check:
        asm.emit(("meet",), warps.meet, asm.source(i.operands[0], "b32"))


def vote_result(asm, i: Instruction) -> None:
    """What a barrier with a vote found."""
    operation = i.opcode[1]
    asm.emit(("vote result", operation), partial(control.vote_result, operation=operation),
             asm.arena.place(i.operands[0]))


STEPS = {"shfl": shuffle, "vote": vote, "activemask": active, "bar": warp_barrier, "barrier": warp_barrier,
         "vote_result": vote_result}
