"""Which accesses the machine code makes of the PTX's loads and stores to shared memory.

The assembler (ptxas) merges accesses of one thread to neighbouring words into accesses of 64 or 128 bits where it can
tell that the address is aligned. It unrolls loops further than the PTX shows, and then merges across rounds; and where
three words of four are wanted it reads all four, even before it is known whether they are wanted. How wide the results
are stands in the machine code, by source line. `machine_accesses` finds which accesses of the PTX they are:

1. A *family* is the loads (or stores) with one address register. Its offsets are cut into *chunks*, the widest aligned
   pieces that are filled. How ptxas cut is one of a few ways (WAYS): narrower if it did not know the base to be
   aligned, several rounds joined if it unrolled a loop, across basic blocks if it read ahead.
2. Choose a way for each family such that the words of each width are those of the machine code, each basic block taken
   a whole number of times (the copies that unrolling made). Families that share a source line are solved together: the
   machine code books a chunk under one line even if it serves several.
3. Where no choice fits, the answer is None: unknown.

Counting then needs no memory of what came before: `MachineAccess.requests` says which of an instruction's requests the
machine makes. Where chunks of several rounds were joined, that is the request whose address is a multiple of the width.

For some atomic updates of shared memory, sums of floats above all, there is no machine instruction. ptxas writes a
loop: load the old value, compute the new one, store it if the memory still holds the old one. Of the lanes of a warp
that update the same word one gets through in each round, and every round is a load. So much is counted; rounds that are
lost to another warp, which came in between, depend on how the warps happen to run.

Limits. A loop may be unrolled so that a word's width depends on the round
(an odd row stride; a remainder, if ptxas alone unrolled): then no choice fits or, rarely, one fits by accident. A check
is that the requests that are counted move the PTX's words, or more where four are read for three.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from itertools import product
from math import prod

import numpy as np

from gemm_lab.counts import WARP
from gemm_lab.emulator.ptx import SIZES, Instruction, Kernel, Register, Symbol, registers

WORD, WIDEST = 4, 16
WIDTHS = (16, 8, 4, 2, 1)
MOST_CHOICES = 20_000    # combinations that are tried for lines that belong together


@dataclass(frozen=True)
class MachineAccess:
    """What the machine does for one load or store of the PTX.

    width   bytes of one lane's access
    leads   True: it makes an access where the PTX does; False: another instruction's access serves this one;
            None: it makes one where the address is a multiple of the width, and that access serves the rounds after it
    spins   it is the load in the loop that an atomic update becomes
    """

    width: int
    leads: bool | None
    spins: bool = False

    def requests(self, byte_addresses: np.ndarray) -> np.ndarray:
        """Of the PTX's requests (n, 32), a negative address for each inactive lane, those of the machine."""
        first = np.where(byte_addresses < 0, np.iinfo(np.int64).max, byte_addresses).min(axis=1)
        made = first % self.width == 0 if self.leads is None else np.full(len(first), self.leads)
        rows = _rounds(byte_addresses) if self.spins else byte_addresses[made]
        return np.where(rows < 0, rows, rows // self.width * self.width)


def _rounds(rows: np.ndarray) -> np.ndarray:
    """The requests of lanes that come until they get through: in each round one of those with the same address does."""
    lower_lane = np.tri(WARP, k=-1, dtype=bool)
    before = ((rows[:, :, None] == rows[:, None, :]) & lower_lane).sum(axis=2)
    left = [np.where(before >= n, rows, -1) for n in range(WARP)]
    return np.concatenate([some[(some >= 0).any(axis=1)] for some in left])


@dataclass(frozen=True)
class Way:
    """How a family may have been cut: chunks of at most `limit` bytes, `joined` of them made one by unrolling; `spare`:
    three words are read as four; `ahead`: so, and across basic blocks."""

    limit: int
    joined: int = 1
    spare: bool = False
    ahead: bool = False


WAYS = (Way(16), Way(8), Way(8, joined=2), Way(16, spare=True), Way(16, spare=True, ahead=True), Way(4),
        Way(4, joined=2), Way(4, joined=4))    # likely ones first


@dataclass(frozen=True)
class Site:
    """One ld.shared or st.shared: its place among the kernel's instructions, and `offset` from its address register."""

    index: int
    block: int
    line: int | None
    offset: int
    bytes: int


@dataclass(frozen=True)
class Part:
    """What the machine does at a site, and the words that this moves."""

    access: MachineAccess
    words: int
    block: int


def machine_accesses(kernel: Kernel, machine_code: dict[int, Counter[str]]) -> dict[int, MachineAccess | None]:
    """Index of an instruction -> the machine's access, for every shared load and store of the PTX, and for the atomic
    updates that the machine makes by loops.

    `kernel` is `emulator.reader.parse` of the PTX, `machine_code` says which accesses the cubin of the same source has
    in each line (`compiler.shared_accesses`).
    Loads of less than a word keep their width. None where the machine code's widths cannot be explained.
    """
    found: dict[int, MachineAccess | None] = {}
    for action, mnemonic in (("ld", "LDS"), ("st", "STS")):
        machine = {line: _words_by_width(counts, mnemonic) for line, counts in machine_code.items()}
        families = _families(kernel, action)
        if action == "ld":    # these are never merged, and ptxas may book them under any line
            small = [family for family in families if family[0].bytes < WORD]
            families = [family for family in families if family[0].bytes >= WORD]
            found |= {site.index: MachineAccess(site.bytes, True) for family in small for site in family}
            machine = {line: Counter({width: n for width, n in words.items() if width >= WORD})
                       for line, words in machine.items()}
        originals, copies = _originals(families, kernel)
        for families in _together(originals):
            lines = {site.line for family in families for site in family}
            found |= _solve(families, sum((machine.get(line, Counter()) for line in lines), Counter()))
        found |= {copy: found[original] for copy, original in copies.items()}
    return found | {n: MachineAccess(SIZES[i.opcode[-1]], True, spins=True)
                    for n, i in enumerate(kernel.instructions) if spins(i)}


def spins(i: Instruction) -> bool:
    """Whether it is an atomic update that becomes a loop where it is one of shared memory."""
    return (i.opcode[0] in ("atom", "red") and "global" not in i.opcode and not {"exch", "cas"} & {*i.opcode}
            and i.opcode[-1] in ("f32", "f64", "u64", "s64", "b64"))


def _originals(families: list[list[Site]], kernel: Kernel) -> tuple[list[list[Site]], dict[int, int]]:
    """(families that the machine code holds, index of another instruction -> that of the same one in them).

    A function that is called several times is there once, and the emulator's reader repeats it for every call.
    """
    seen: dict[tuple, list[Site]] = {}
    copies: dict[int, int] = {}
    for family in families:
        instructions = [kernel.instructions[site.index] for site in family]
        scopes = [int(r.name.partition("@")[2] or 0) for i in instructions for r in registers(i.operands)]
        function = kernel.functions.get(max(scopes, default=0), kernel.name)
        once = () if function == kernel.name else (function, *(i.text for i in instructions))
        original = seen.setdefault(once or (family[0].index,), family)
        if original is not family:
            copies |= {site.index: first.index for site, first in zip(family, original, strict=True)}
    return list(seen.values()), copies


def _families(kernel: Kernel, action: str) -> list[list[Site]]:
    """The shared accesses by address register; where that changes its value, also by basic block."""
    starts, written, places = set(kernel.labels.values()), Counter(), _places(kernel)
    for i in kernel.instructions:
        written.update(operand for operand in i.operands[:1] if isinstance(operand, Register))
    block, families = 0, defaultdict(list)
    for index, i in enumerate(kernel.instructions):
        block += index in starts
        if spins(i) and action == "ld":
            families[index].append(Site(index, block, i.line, 0, SIZES[i.opcode[-1]]))
        elif i.opcode[0] == action and "shared" in i.opcode:
            address = i.operands[1 if action == "ld" else 0]
            vector = next((int(part[1:]) for part in i.opcode if re.fullmatch(r"v\d", part)), 1)
            base, offset = address.base, address.offset
            if isinstance(base, Symbol):    # ptxas places the variables, so it knows which are neighbours
                base, offset = None, offset + base.offset + places.get(base.name, 0)
            site = Site(index, block, i.line, offset, SIZES[i.opcode[-1]] * vector)
            where = block if action == "st" or written[base] > 1 else None
            families[base, where, i.guard, site.bytes >= WORD].append(site)
        block += i.opcode[0] in ("bra", "bar", "barrier", "ret", "exit")
    return list(families.values())


def _places(kernel: Kernel) -> dict[str, int]:
    """Where the kernel's shared variables lie if they follow each other in their order."""
    places, end = {}, 0
    for variable in kernel.variables.values():
        if variable.space == "shared":
            places[variable.name] = -(-end // variable.align) * variable.align
            end = places[variable.name] + variable.size
    return places


def _together(families: list[list[Site]]) -> Iterator[list[list[Site]]]:
    """Families with a line in common, directly or through others."""
    groups: list[tuple[set, list]] = []
    for family in families:
        lines, members = {site.line for site in family}, [family]
        for group in [g for g in groups if g[0] & lines]:
            groups.remove(group)
            lines, members = lines | group[0], group[1] + members
        groups.append((lines, members))
    yield from (members for _, members in groups)


def _words_by_width(counts: Counter[str], mnemonic: str) -> Counter[int]:
    """{16: 32, 4: 32}: the words that 8 LDS.128 and 32 LDS move; less than a word counts as one."""
    words: Counter[int] = Counter()
    for operation, n in counts.items():
        name, *bits = operation.split(".")
        if name == mnemonic:
            width = int(re.sub(r"\D", "", bits[0])) // 8 if bits else WORD
            words[width] += n * max(width // WORD, 1)
    return words


# --- choosing a way for each family

def _solve(families: list[list[Site]], machine: Counter[int]) -> dict[int, MachineAccess | None]:
    """The accesses by the first choice of ways that explains the machine's words of each width."""
    for choice in _by_likelihood([_options(family) for family in families]):
        parts = {index: part for option in choice for index, part in option.items()}
        if _explains(parts.values(), machine):
            return {index: part.access for index, part in parts.items()}
    return {site.index: None for family in families for site in family}


def _options(family: list[Site]) -> list[dict[int, Part]]:
    """The different results of cutting a family, likely ones first."""
    results = [cut for way in WAYS if (cut := _cut(family, way))]
    return [cut for n, cut in enumerate(results) if cut not in results[:n]]


def _by_likelihood(options: list[list]) -> Iterator[tuple]:
    """Combinations of one option each, early options first; where there are too many, the same for all families."""
    if prod(map(len, options)) > MOST_CHOICES:
        ranks = ([min(n, len(some) - 1) for some in options] for n in range(len(WAYS)))
    else:
        ranks = sorted(product(*(range(len(some)) for some in options)), key=sum)
    for rank in ranks:
        yield tuple(some[n] for some, n in zip(options, rank, strict=True))


def _explains(parts: Iterable[Part], machine: Counter[int]) -> bool:
    """Whether the machine's words are those of the parts, each basic block taken once or more."""
    blocks: defaultdict[int, Counter] = defaultdict(Counter)
    for part in parts:
        blocks[part.block][part.access.width] += part.words
    vectors = [tuple(block[width] for width in WIDTHS) for block in blocks.values() if any(block.values())]

    @cache
    def fits(n: int, left: tuple[int, ...]) -> bool:
        if n == len(vectors):
            return not any(left)
        left = tuple(have - want for have, want in zip(left, vectors[n], strict=True))
        return min(left) >= 0 and (fits(n + 1, left) or fits(n, left))
    return fits(0, tuple(machine[width] for width in WIDTHS))


# --- cutting a family into chunks

def _cut(family: list[Site], way: Way) -> dict[int, Part]:
    """Index of an instruction -> its part; {} where this way is impossible."""
    parts: dict[int, Part] = {}
    for sites in _slots(family, way):
        while sites:
            start, width = _first_chunk(sites, way)
            if width * way.joined > WIDEST:
                return {}
            chunk = [site for site in sites if site.offset < start + width]
            sites = sites[len(chunk):]
            parts |= _parts(chunk, width, way)
    return parts


def _slots(family: list[Site], way: Way) -> list[list[Site]]:
    """The sites of each aligned 16 bytes, by offset: no chunk reaches beyond."""
    slots = defaultdict(list)
    for site in sorted(family, key=lambda site: (site.offset, site.index)):
        slots[None if way.ahead else site.block, site.offset // WIDEST].append(site)
    return list(slots.values())


def _first_chunk(sites: list[Site], way: Way) -> tuple[int, int]:
    """(first byte, width) of the widest chunk that begins with these sites."""
    unit = min(sites[0].bytes, WORD)
    for width in (w for w in WIDTHS if sites[0].bytes < w <= (way.limit if unit == WORD else WORD)):
        start = sites[0].offset // width * width
        words = {at for s in sites if s.offset < start + width for at in range(s.offset, s.offset + s.bytes, unit)}
        missing = width // unit - len(words)
        if missing == 0 or way.spare and missing == 1 and width == WIDEST:
            return start, width
    return sites[0].offset, sites[0].bytes


def _parts(chunk: list[Site], width: int, way: Way) -> dict[int, Part]:
    """The first site makes the access and moves all its words; joined chunks each move their own."""
    first = min(chunk, key=lambda site: site.index)
    wide, words = width * way.joined if width >= WORD else width, max(width // WORD, 1)
    return {site.index: Part(MachineAccess(wide, None if way.joined > 1 else site is first),
                             words if site is first else 0, site.block) for site in chunk}
