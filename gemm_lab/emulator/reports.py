"""What the student is told: one finding for each defect, with the line, the thread and the array by name."""

from __future__ import annotations

import re

from gemm_lab.emulator import warp
from gemm_lab.emulator.memory import SHARED_FILL
from gemm_lab.emulator.ptx import Unsupported
from gemm_lab.run import Finding

LOCAL_ARRAY = "a local array"    # whose name optimised code does not tell


class Stop(Exception):
    """The run cannot go on; `finding` says why."""

    def __init__(self, finding: Finding):
        super().__init__(finding.message)
        self.finding = finding


class Findings:
    """Collects findings; the same defect (kind and lines, in either order) is kept once."""

    def __init__(self):
        self._found: dict[tuple, Finding] = {}

    def add(self, finding: Finding) -> None:
        self._found.setdefault((finding.kind, frozenset(finding.lines)), finding)

    def has(self, kind: str, *lines: int | None) -> bool:
        return (kind, frozenset(n for n in lines if n is not None)) in self._found

    def all(self) -> tuple[Finding, ...]:
        return tuple(self._found.values())


def finding(kind: str, line: int | None, message: str, other_line: int | None = None) -> Finding:
    """A finding whose message starts with its line."""
    return Finding(kind, line, at_line(line) + message, other_line)


def at_line(line: int | None) -> str:
    return f"line {line}: " if line else ""


# ---- names ----------------------------------------------------------------------------------------------------------

def cxx_name(symbol: str) -> str:
    """The name in the source of a mangled variable: _ZZ5tiledvE2As -> As."""
    if symbol.startswith("__local_depot"):
        return LOCAL_ARRAY
    lengths = re.finditer(r"(?<=E)\d+" if symbol.startswith("_ZZ") else r"(?<=^_ZL)\d+|(?<=^_Z)\d+", symbol)
    names = [symbol[m.end():m.end() + int(m[0])] for m in lengths]
    return names[-1] if names and names[-1] else symbol


def unit(region) -> tuple[int, str]:
    """(bytes, name) of the pieces in which an array is described: elements, or words where their type is unknown."""
    size = region.dtype.itemsize
    if size == 1 or region.size % size:
        return 1, "byte"
    return size, "element" if region.shape else "word"


def size_of(region) -> str:
    """ "A has 4096 elements (64 x 64)" """
    bytes_, name = unit(region)
    count = region.size // bytes_
    shape = f" ({' x '.join(map(str, region.shape))})" if len(region.shape) > 1 else ""
    return f"{cxx_name(region.name)} has {count} {name}{'s' * (count != 1)}{shape}"


def place_of(access, region, address: int) -> str:
    """ "element 4100 of A, 5 past its last" """
    bytes_, name = unit(region)
    first = (address - region.first) // bytes_
    last = (address - region.first + access.bytes - 1) // bytes_
    which = f"{name} {first}" if first == last else f"{name}s {first} to {last}"
    beyond = f"{-first} before its first" if first < 0 else f"{last - (region.size // bytes_ - 1)} past its last"
    return f"{which} of {cxx_name(region.name)}, {beyond}"


def element_of(region, byte: int) -> str:
    """ "element 37 of C (row 1, column 5)": where a byte of an array's storage lies"""
    byte, name = byte - region.at, cxx_name(region.name)
    if not region.shape:
        return f"word {byte // 4} of {name}" if byte % 4 == 0 else f"byte {byte} of {name}"
    element = byte // region.dtype.itemsize
    if len(region.shape) != 2:
        return f"element {element} of {name}"
    row, column = divmod(element, region.shape[1])
    return f"element {element} of {name} (row {row}, column {column})"


# ---- findings -------------------------------------------------------------------------------------------------------

_DOES = {"load": "reads", "store": "writes", "atomic": "updates"}


def out_of_bounds(batch, access, space, region, address: int, member: int) -> Stop:
    """A member of the group reaches outside of every array."""
    does = f"{batch.threads.who(batch.group.thread(member))} {_DOES[access.action]}"
    if region is None:
        message = (f"{does} address {address:#x} of {space.name} memory, where no array is: the pointer is null, or "
                   "was computed from something that is not an array")
    else:
        message = f"{does} {place_of(access, region, address)}: {size_of(region)}"
        message += " of shared memory" if space.name == "shared" else ""
        message += " (is shared_bytes missing?)" if region.size == 0 else ""
    return Stop(finding("out-of-bounds", access.line, message))


def misaligned(batch, access, base, region) -> Stop:
    """A member of the group reaches an address that is not a multiple of the size of the access."""
    addresses = base.reshape(-1) + access.offset
    member = int((addresses % access.bytes != 0).argmax())
    bytes_, name = unit(region)
    byte = int(addresses[member]) % (1 << 56) - region.first
    where = f"{name} {byte // bytes_}" if byte % bytes_ == 0 else f"byte {byte}"
    return Stop(finding("misaligned", access.line,
                        f"{batch.threads.who(batch.group.thread(member))} moves {access.bytes} bytes at {where} of "
                        f"{cxx_name(region.name)}; such an access must start at a multiple of {access.bytes} bytes"))


def because(sentence: str) -> str:
    """A sentence that may explain a finding, put behind it."""
    return f". {sentence}" if sentence else ""


def unwritten_shared(line: int | None, who: str, place: str, departures, block: int) -> Finding:
    """A thread of a block reads a place of shared memory that holds nothing yet."""
    return finding("uninitialized", line, f"{who} reads {place}, which nobody has written yet (here it holds "
                   f"{SHARED_FILL:#x}, a NaN): a store leaves it out, or no barrier makes the store come "
                   f"first{because(departures.sentence(block))}", departures.of_block(block)[1])


def left_out(batch, mask, line: int | None) -> None:
    """A thread calls a warp-level function with a mask that does not name its own lane."""
    group = batch.group
    missing = ~warp.named(group, mask, group.lane)
    if missing.any():
        member = int(missing.argmax())
        batch.findings.add(finding(
            "barrier-divergence", line, f"{batch.threads.who(group.thread(member))} is lane {group.lane[member]} of "
            f"its warp, and the mask {_hex(group, mask, member)} does not name that lane: whoever calls a warp-level "
            "function must be in its mask, and the result is undefined"))


def absent_lanes(batch, mask, lane, line: int | None) -> None:
    """A thread asks, in a shuffle, for the value of a lane that does not take part. If the mask names that lane, this
    is a finding, else a note: the value may never be used."""
    group = batch.group
    absent = ~warp.present(group, lane)
    missing = absent & warp.named(group, mask, lane)
    if absent.any() and not missing.any() and not batch.execution.notes:
        member = int(absent.argmax())
        batch.execution.notes.append(
            f"In line {line} {batch.threads.who(group.thread(member))} takes, by a shuffle, the value of lane "
            f"{lane[member]} of its warp, which does not take part: that value is undefined, and NaN here")
    if missing.any():
        member = int(missing.argmax())
        batch.findings.add(finding(
            "barrier-divergence", line, f"{batch.threads.who(group.thread(member))} asks for the value of lane "
            f"{lane[member]} of its warp, which is in the mask {_hex(group, mask, member)} but does not come to this "
            "shuffle: it has returned, or went another way; the result is undefined"))


def _hex(group, mask, member: int) -> str:
    return f"{int(warp.spread(group, mask)[member]) & 0xFFFFFFFF:#010x}"


def cannot_execute(instruction, problem: Exception) -> Finding:
    """The emulator itself fails at an instruction."""
    if isinstance(problem, Unsupported):
        return finding("unsupported", instruction.line, f"the emulator does not support {problem}")
    return finding("unsupported", instruction.line, f"the emulator cannot execute `{instruction.text}` "
                   f"({type(problem).__name__}: {problem})")


def read_only(line: int | None, region) -> str:
    """The message where a kernel writes to an array that must not be written."""
    name = cxx_name(region.name)
    return f"{at_line(line)}the kernel writes to {name}, but that array is read-only; pass a copy of it"
