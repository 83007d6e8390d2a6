"""The steps of what a kernel asks of the system: printf, assert, trap."""

from __future__ import annotations

import numpy as np

from gemm_lab.emulator import printing, warp
from gemm_lab.emulator.ptx import SIZES, Instruction, Unsupported
from gemm_lab.emulator.reports import Stop, finding


def call(decoder, i: Instruction):
    """A function that is not in the PTX: printf and assert are the system's, anything else is unknown."""
    function, (results, arguments) = i.opcode[1], i.operands
    if function not in ("vprintf", "__assertfail"):
        raise Unsupported(f"a call of {function}")
    values = [decoder.source(a, "s64") for a in arguments if SIZES[a.type] == 8]
    writes = [decoder.writer(result, "s32") for result in results]

    def step(b):
        addresses = [warp.spread(b.group, value(b)) for value in values]
        if function == "__assertfail":
            raise printing.assertion_failed(b, i.line, int(addresses[0][0]))
        printing.print_for(b, *addresses, i.line)
        for write in writes:
            write(b, np.int32(0))
    return step


def trap(decoder, i: Instruction):
    def step(b):
        who = b.threads.who(b.group.thread(0))
        raise Stop(finding("assertion", i.line, f"{who} stops the kernel (trap)"))
    return step


STEPS = {"call": call, "trap": trap}
