"""printf and assert: the text that a kernel leaves behind."""

from __future__ import annotations

import re

import numpy as np

from gemm_lab.emulator.memory import LOCAL_TAG
from gemm_lab.emulator.reports import Stop, finding

MAX_OUTPUT = 1 << 20    # characters; a GPU's buffer has an end, too
MAX_LOST = 1_000_000    # calls of printf whose text is not kept
_FORMAT = re.compile(r"%([-+ #0]*\d*(?:\.\d+)?)(hh|h|ll|l|j|z|t)?([diouxXcsfFeEgGaAp%])")


class Output:
    """What a kernel prints, up to MAX_OUTPUT characters."""

    def __init__(self):
        self.parts, self.size, self.full = [], 0, False
        self.lost = 0    # calls after that

    def write(self, text: str) -> None:
        """Keep the text, or say once that there was more."""
        self.full = self.size + len(text) > MAX_OUTPUT
        if self.full:
            text = f"\n... more was printed: only the first {MAX_OUTPUT:,} characters are kept\n"
        self.parts.append(text)
        self.size += len(text)

    def __str__(self) -> str:
        return "".join(self.parts)


def print_for(batch, formats: np.ndarray, buffers: np.ndarray, line: int | None) -> None:
    """vprintf: every thread of the group prints, in order. Stop where it goes on and on with nobody to read it."""
    if batch.output.full:
        batch.output.lost += batch.group.n
        if batch.output.lost > MAX_LOST:
            raise Stop(finding("unsupported", line, f"printf was called {MAX_LOST:,} times more after the first "
                               f"{MAX_OUTPUT:,} characters: the run was stopped here"))
    for member, thread in enumerate(batch.group.members):
        if batch.output.full:
            return
        values = Values(batch, int(buffers[member]), int(thread))
        batch.output.write(_FORMAT.sub(values.formatted, text_at(batch, int(formats[member]))))


def text_at(batch, address: int) -> str:
    """The C string at a global address."""
    region = batch.spaces["global"].region(address)
    data = region.storage[address - region.first:].tobytes()
    return data.split(b"\0")[0].decode("utf-8", "replace")


class Values:
    """The arguments of one printf, in a thread's local memory: each lies at a multiple of its size."""

    def __init__(self, batch, address: int, thread: int):
        self.batch, self.position = batch, 0
        local = batch.spaces["local"]
        region = local.region(address - LOCAL_TAG)
        self.data = local.rows()[thread, address - LOCAL_TAG - region.first + region.at:] if region else None

    def take(self, kind: str):
        """The next value."""
        size = int(kind[1:])
        start = -(-self.position // size) * size
        self.position = start + size
        return self.data[start:start + size].view(kind)[0]

    def formatted(self, m: re.Match) -> str:
        """C's formatting of the next value."""
        spec, length, kind = "%" + m[1], m[2], m[3]
        if kind == "%":
            return "%"
        if kind in "aA":
            return float(self.take("f8")).hex()
        if kind in "fFeEgG":
            return (spec + kind) % float(self.take("f8"))
        if kind == "s":
            return (spec + kind) % text_at(self.batch, int(self.take("i8")))
        if kind == "p":
            return hex(int(self.take("u8")))
        size = 8 if length in ("ll", "l", "j", "z", "t") else 4
        value = int(self.take(f"{'i' if kind in 'di' else 'u'}{size}"))
        return (spec + "c") % chr(value & 255) if kind == "c" else (spec + {"i": "d", "u": "d"}.get(kind, kind)) % value


def assertion_failed(batch, line: int | None, condition: int) -> Stop:
    """__assertfail: the finding for the first thread; `condition` is the address of its text."""
    who = batch.threads.who(batch.group.thread(0))
    return Stop(finding("assertion", line, f"{who} finds that `{text_at(batch, condition)}` does not hold"))
