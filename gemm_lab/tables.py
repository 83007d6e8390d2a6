"""Plain HTML tables for results that show themselves in a notebook."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape


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
