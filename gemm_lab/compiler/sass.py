"""Machine code for a reader: the disassembly of a cubin, and its instructions by source line."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections import defaultdict
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

from gemm_lab.compiler.diagnostics import FILE
from gemm_lab.compiler.nvrtc import package_folders

_PLACE = re.compile(r'\s*//## File "(?:[^"]*[/\\])?([^"/\\]+)", line (\d+)')
_INSTRUCTION = re.compile(r"\s*/\*[0-9a-f]{4,}\*/\s+(.*?)\s*;")
_LABEL_OR_INSTRUCTION = re.compile(rf"(\.L\w+):|{_INSTRUCTION.pattern}")


@cache
def disassembler() -> str:
    """Path of nvdisasm, from its pip package or PATH. RuntimeError if there is none."""
    packaged = [path for folder in package_folders() for path in folder.glob("bin/**/nvdisasm*") if path.is_file()]
    found = str(packaged[0]) if packaged else shutil.which("nvdisasm")
    if found is None:
        raise RuntimeError("machine code needs nvdisasm: pip install nvidia-cuda-nvdisasm. Without it everything but "
                           "`.sass` works")
    return found


def disassemble(cubin: bytes, entry: str) -> str:
    """nvdisasm's text for one kernel, each stretch headed by the source line it came from (innermost first)."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "kernel.cubin"
        path.write_bytes(cubin)
        done = subprocess.run([disassembler(), "--print-code", "--print-line-info-inline", str(path)],
                              capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"nvdisasm could not read the cubin: {done.stderr.strip()}")
    sections = re.split(r"^//-+ (\S+) +-+$", done.stdout, flags=re.MULTILINE)
    text = dict(zip(sections[1::2], sections[2::2], strict=True))[f".text.{entry}"]
    return re.sub(r'File "[^"]*[/\\]', 'File "', text).strip("\n") + "\n"


def by_line(sass: str) -> dict[int, list[str]]:
    """Source line -> its instructions ("LDS.128 R12, [UR4+0x10]") in program order; padding is left out.

    Code from an inlined function belongs to the function's own line if it stands in the student's source, and to the
    line that called it if it stands in a header.
    """
    lines: defaultdict[int, list[str]] = defaultdict(list)
    line, label, heading = None, "", False
    for text in sass.split("\n"):
        place, instruction = _PLACE.match(text), _INSTRUCTION.match(text)
        if place:
            line = line if heading else None        # the innermost place comes first
            heading = True
            if line is None and place[1] == FILE:
                line = int(place[2])
        elif instruction:
            heading = False
            padding = ("NOP", f"BRA `({label})")    # behind its end a kernel is filled with a jump to itself and NOPs
            if line is not None and instruction[1] not in padding:
                lines[line].append(instruction[1])
        label = text.strip().removesuffix(":")
    return dict(sorted(lines.items()))


def instructions(sass: str) -> tuple[str, ...]:
    """Every instruction in program order, padding left out."""
    code = [match[1] for text in sass.split("\n") if (match := _INSTRUCTION.match(text))]
    while code and code[-1] == "NOP":
        code.pop()
    return tuple(code[:-1])     # the last is the jump to itself that ends every kernel


def loop(sass: str) -> tuple[str, ...]:
    """The instructions of the loop around the first barrier, one round in program order; empty without such a loop."""
    code = [match[1] or match[2] for text in sass.split("\n") if (match := _LABEL_OR_INSTRUCTION.match(text))]
    barrier = next((n for n, text in enumerate(code) if opcode(text).startswith("BAR")), len(code))
    jumps = ((n, re.search(r"BRA.* `\((\.L\w+)\)", text)) for n, text in enumerate(code))
    rounds = [(code.index(jump[1]), n) for n, jump in jumps if jump and code.index(jump[1]) < barrier < n]
    first, last = min(rounds, key=lambda ends: ends[1] - ends[0], default=(0, -1))
    return tuple(text for text in code[first:last + 1] if not text.startswith(".L"))


def opcode(instruction: str) -> str:
    """The operation with its modifiers: "LDS.128" of "@P0 LDS.128 R12, [UR4+0x10]"."""
    return re.sub(r"^@!?U?P\w+\s+", "", instruction).split()[0]
