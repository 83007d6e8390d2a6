"""The shared-memory instructions and global loads of a cubin by source line, read from its bytes.

nvdisasm says the same and much more, but takes half a second to start: too long before every emulated launch. A cubin
is an ELF file. An instruction is 16 bytes; NVIDIA publishes no encoding, so the fields used here were read off
nvdisasm's output, and tests compare the two:

    bits 0-11    the operation, and the form of its operands
    bits 73-75   of a load or store: how wide it is
"""

from __future__ import annotations

import struct
from bisect import bisect
from dataclasses import dataclass
from operator import itemgetter

from gemm_lab.compiler.diagnostics import FILE
from gemm_lab.compiler.line_table import lines_of, sequences

INSTRUCTION_BYTES = 16
OPERATIONS = {0x984: "LDS", 0x388: "STS", 0x988: "STS", 0x381: "LDG", 0x981: "LDG"}
WIDTHS = ("U8", "S8", "U16", "S16", "", "64", "128", "")


@dataclass(frozen=True)
class Access:
    """One machine instruction that loads from or stores to shared memory, or loads from global memory.

    name  "LDS", "STS.64", "LDS.U8", "LDG": no suffix means 32 bits
    line  of the student's source. Code from an inlined function belongs to the function's own line if it stands in
          the student's source, and to the line that called it if it stands in a header; None where neither does
    """

    name: str
    line: int | None


def accesses(cubin: bytes, entry: str) -> list[Access]:
    """Those of one kernel, in program order."""
    names, sections = _sections(cubin)
    code = f".text.{entry}"
    lines, found = _lines(names, sections, code), []
    for n, (low, high) in enumerate(struct.iter_unpack("<QQ", sections[code])):
        if name := OPERATIONS.get(low & 0xFFF):
            place = bisect(lines, n * INSTRUCTION_BYTES, key=itemgetter(0)) - 1
            line = lines[place][1] if place >= 0 else None
            found.append(Access(f"{name}.{WIDTHS[high >> 9 & 7]}".rstrip("."), line))
    return found


def _sections(cubin: bytes) -> tuple[list[str], dict[str, bytes]]:
    """The sections' names in order, and their bytes by name (ELF specification, 64-bit section headers)."""
    (table,), (count, strings) = struct.unpack_from("<Q", cubin, 40), struct.unpack_from("<HH", cubin, 60)
    headers = [struct.unpack_from("<IIQQQQ", cubin, table + 64 * n) for n in range(count)]
    bodies = [cubin[start:start + size] for *_, start, size in headers]
    names = [bodies[strings][h[0]:].split(b"\0", 1)[0].decode() for h in headers]
    return names, dict(zip(names, bodies, strict=True))


def _lines(names: list[str], sections: dict[str, bytes], code: str) -> list[tuple[int, int | None]]:
    """(first address, line of the student's source) for one kernel. A relocation ties each sequence to its code."""
    symbols = (index for _, _, _, index, _, _ in struct.iter_unpack("<IBBHQQ", sections[".symtab"]))
    section_of = [names[index] if index < len(names) else "" for index in symbols]
    relocations = [*struct.iter_unpack("<QQq", sections.get(".rela.debug_line", b"")),
                   *struct.iter_unpack("<QQ", sections.get(".rel.debug_line", b""))]    # before compute capability 9.0
    for offset, info, *_ in relocations:
        if section_of[info >> 32] == code:
            return lines_of(sequences(sections[".debug_line"])[offset], FILE)
    return []
