"""Plain HTML tables for results that show themselves in a notebook."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape


def html_table(head: Sequence[str], rows: Iterable[Sequence], caption: str = "") -> str:
    """An HTML table; every cell is shown as `str(cell)`, escaped. An empty `head` gives no heading row."""
    def row(cells, tag):
        return "<tr>" + "".join(f"<{tag}>{escape(str(cell))}</{tag}>" for cell in cells) + "</tr>"
    title = f"<caption>{escape(caption)}</caption>" if caption else ""
    heading = f"<thead>{row(head, 'th')}</thead>" if head else ""
    return f"<table>{title}{heading}<tbody>{''.join(row(cells, 'td') for cells in rows)}</tbody></table>"
