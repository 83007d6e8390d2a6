"""What several tests need to read what a reader sees."""

from __future__ import annotations

import re
from html import unescape


def table_cells(html: str) -> list[list[str]]:
    """The rows of an HTML table, each as the texts of its cells."""
    rows = re.findall(r"<tr>(.*?)</tr>", html, re.DOTALL)
    return [[unescape(cell) for cell in re.findall(r"<t[dh][^>]*>(.*?)</t[dh]>", row, re.DOTALL)] for row in rows]
