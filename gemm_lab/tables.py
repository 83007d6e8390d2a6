"""Tables for results that show themselves: aligned text, and HTML in a notebook."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from typing import ClassVar


def is_number(text: str) -> bool:
    """Whether a cell holds a number, with or without thousands separators, or nothing."""
    try:
        float(text.replace(",", "") or 0)
    except ValueError:
        return False
    return True


def html_table(head: Sequence[str], rows: Iterable[Sequence], caption: str = "") -> str:
    """An HTML table; every cell is shown as `str(cell)`, escaped. An empty `head` gives no heading row.

    Columns that hold words are set flush left; numbers stay on the right, where notebooks put everything.
    """
    rows = [tuple(map(str, cells)) for cells in rows]
    left = [not all(is_number(cell) for cell in column) for column in zip(*rows, strict=True)]

    def row(cells, tag):
        styles = (' style="text-align: left"' if words else "" for words in left or [False] * len(cells))
        return "<tr>" + "".join(f"<{tag}{style}>{escape(str(cell))}</{tag}>"
                                for cell, style in zip(cells, styles, strict=True)) + "</tr>"
    title = f"<caption>{escape(caption)}</caption>" if caption else ""
    heading = f"<thead>{row(head, 'th')}</thead>" if head else ""
    return f"<table>{title}{heading}<tbody>{''.join(row(cells, 'td') for cells in rows)}</tbody></table>"


class Table:
    """Shows an object as a table. It has a HEAD, a `caption`, and rows of texts from `table()`; words come first."""

    HEAD: ClassVar[tuple[str, ...]]

    def table(self) -> list[tuple[str, ...]]:
        """The rows as texts, in the order of HEAD."""
        raise NotImplementedError

    def __repr__(self) -> str:
        rows = [self.HEAD, *self.table()]
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        lines = ["  ".join([row[0].ljust(widths[0]), *map(str.rjust, row[1:], widths[1:])]) for row in rows]
        return "\n".join([self.caption, *lines])

    def _repr_html_(self) -> str:
        return html_table(self.HEAD, self.table(), self.caption)
