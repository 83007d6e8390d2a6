"""What several tests need to read what a reader sees."""

from __future__ import annotations

import builtins
import re
import sys
from html import unescape


def table_cells(html: str) -> list[list[str]]:
    """The rows of an HTML table, each as the texts of its cells."""
    rows = re.findall(r"<tr>(.*?)</tr>", html, re.DOTALL)
    return [[unescape(cell) for cell in re.findall(r"<t[dh][^>]*>(.*?)</t[dh]>", row, re.DOTALL)] for row in rows]


def hide_package(monkeypatch, package: str, *modules: str) -> None:
    """As if `package` were not installed. `modules` import it, so they are forgotten if they were loaded."""
    real = builtins.__import__

    def without(name, *args, **kwargs):
        if name.startswith(package):
            raise ModuleNotFoundError(f"No module named {package!r}", name=package)
        return real(name, *args, **kwargs)
    for module in modules:
        monkeypatch.delitem(sys.modules, module, raising=False)
    monkeypatch.setattr(builtins, "__import__", without)
