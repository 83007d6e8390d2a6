"""Solution regions: where an instructor's text has the answer and a student's text a stub.

    // ### BEGIN SOLUTION #error "About 1 line: nothing beyond an edge"
    if (row >= M || col >= N) return;
    // ### END SOLUTION

What follows the first marker on its line is the stub; it replaces the region, at the marker's indentation. The markers
are comments, `#` in Python and `//` in CUDA, so that the instructor's text runs as it is. Hidden tests vanish likewise.
"""

from __future__ import annotations

import re

from gemm_lab.compiler import scan

BEGIN, END = "### BEGIN SOLUTION", "### END SOLUTION"
BEGIN_HIDDEN, END_HIDDEN = "### BEGIN HIDDEN TESTS", "### END HIDDEN TESTS"


def stripped(text: str) -> str:
    """The student's text: every region replaced by its stub, hidden tests left out. ValueError for odd markers."""
    return "\n".join(line for _, lines in parts(text) for line in lines)


def fixed(text: str) -> list[str]:
    """The pieces outside the regions, in order: one more than there are regions."""
    pieces = [[]]
    for is_stub, lines in parts(text):
        pieces.append([]) if is_stub else pieces[-1].extend(lines)
    return ["\n".join(piece) for piece in pieces]


def stubs(text: str) -> list[str]:
    """The stubs of the regions."""
    return ["\n".join(lines).strip() for is_stub, lines in parts(text) if is_stub]


def parts(text: str) -> list[tuple[bool, list[str]]]:
    """The student's text in pieces: (True, stub) for each solution region, (False, lines) for what lies between."""
    found, closing = [(False, [])], None
    for line in text.split("\n"):
        opens = next((end for begin, end in ((BEGIN, END), (BEGIN_HIDDEN, END_HIDDEN)) if begin in line), None)
        closes = next((end for end in (END, END_HIDDEN) if end in line), None)
        if opens and closing or closes and closes != closing:
            raise ValueError(f"a region opens or closes in the wrong place: {line.strip()!r}")
        if opens:
            closing = opens
            found += [(True, _stub(line)), (False, [])] if opens == END else []
        elif closes:
            closing = None
        elif not closing:
            found[-1][1].append(line)
    if closing:
        raise ValueError(f"a region is never closed: {closing!r} is missing")
    return found


def _stub(line: str) -> list[str]:
    indent, stub = re.match(r"\s*", line)[0], line.split(BEGIN, 1)[1].strip()
    return [indent + stub] if stub else []


def region(solution: str, stub: str, comment: str = "") -> str:
    """A region with markers, for a text that starts at its indentation; `comment` begins one where # does not."""
    indent = re.match(r"\s*", solution)[0] + comment
    return f"{indent}{BEGIN} {stub.strip()}".rstrip() + f"\n{solution}\n{indent}{END}"


def planted(text: str, right: str, wrong: str) -> str:
    """A CUDA text in which the line that holds `right` is the solution, and the same line with `wrong` the stub."""
    lines = text.split("\n")
    places = [n for n, line in enumerate(lines) if right in line]
    if len(places) != 1:
        raise ValueError(f"{right!r} is in {len(places)} lines; a planted bug takes the place of one")
    line = lines[places[0]]
    lines[places[0]] = region(line, line.replace(right, wrong), "// ")
    return "\n".join(lines)


def same_code(text: str) -> str:
    """CUDA text without comments and spaces: what two versions are compared by."""
    return re.sub(r"\s+", "", without_comments(text))


def without_comments(text: str) -> str:
    """The text as the compiler takes it, without comments."""
    return scan.without_comments(spliced(text))


def spliced(text: str) -> str:
    """The text as the compiler takes it: a backslash at the end of a line joins it with the next one."""
    return re.sub(r"\\[ \t]*\r?\n", "", text)


def first_changed(answer: str, pieces: list[str]) -> str | None:
    """The first line of the fixed `pieces` that an answer lacks; None if all are there, in order and at both ends."""
    rest = same_code(answer)
    for n, piece in enumerate(pieces):
        plain = same_code(piece)
        at = 0 if n == 0 else len(rest) - len(plain) if n == len(pieces) - 1 else rest.find(plain)
        if at < 0 or not rest.startswith(plain, at):
            return _first_missing(piece, rest)
        rest = rest[at + len(plain):]
    return None


def _first_missing(piece: str, rest: str) -> str:
    lines = [line.strip() for line in piece.split("\n") if same_code(line)]
    return next((line for line in lines if same_code(line) not in rest), lines[0])


def changed_lines(answer: str, given: str) -> int:
    """How many lines of CUDA differ, comments and spaces aside: the larger of those taken away and those put in."""
    from difflib import SequenceMatcher
    old, new = ([plain for plain in map(same_code, text.split("\n")) if plain] for text in (given, answer))
    blocks = SequenceMatcher(None, old, new, autojunk=False).get_opcodes()
    return sum(max(i2 - i1, j2 - j1) for tag, i1, i2, j1, j2 in blocks if tag != "equal")
