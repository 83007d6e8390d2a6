"""The course's colours, all in one place: one for each memory, one for arithmetic, grey for cuBLAS.

They are those of M. Okabe and K. Ito, "Color Universal Design" (2008), which stay apart for colour-blind readers. No
figure relies on colour alone: every curve also has a marker and a line style of its own, every column a heading.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

GLOBAL = "#0072B2"       # blue: global memory, and the kernel that uses nothing else
SHARED = "#E69F00"       # orange: shared memory
REGISTERS = "#009E73"    # green: registers
ARITHMETIC = "#CC79A7"   # purple: FMAs, and the peak they set
CUBLAS = "#7F7F7F"
PIPELINED = "#56B4E9"    # sky blue: kernels that multiply while they copy, from 06 on
LOCAL = "#D55E00"        # vermilion: local memory, where registers spill to; a warning

# What a kernel's label begins with -> the colour of its family and the markers of its members.
FAMILIES = {"Naive": (GLOBAL, "osp8Hh"), "SharedTiling": (SHARED, "^v<>PX"),
            **dict.fromkeys(("RegisterTiling", "PipelinedTiling1D", "WarpTiling"), (REGISTERS, "DdXPhH")),
            **dict.fromkeys(("Pipelining", "Reordering", "SlicedK", "SplitK", "gl.best"), (PIPELINED, "os^v<>8p")),
            "cuBLAS": (CUBLAS, "*"), "": (LOCAL, "PX*<>8")}
LINES = ("-", "--", "-.", ":")


@dataclass(frozen=True)
class Style:
    """How a kernel looks in every curve and point of one figure."""

    color: str
    marker: str
    line: str

    @property
    def size(self) -> float:
        """Of the marker, in points; a star needs more."""
        return 11 if self.marker == "*" else 7


def styles(labels: Iterable[str]) -> dict[str, Style]:
    """A style for each label. Kernels of one family share the colour of the memory they are about; cuBLAS is grey.

    Members of a family have markers and line styles of their own, in the order of the labels.
    """
    found: dict[str, Style] = {}
    members = Counter()
    for label in dict.fromkeys(labels):
        color, markers = next(look for family, look in FAMILIES.items() if label.startswith(family))
        found[label] = Style(color, markers[members[color] % len(markers)], LINES[members[color] % len(LINES)])
        members[color] += 1
    return found
