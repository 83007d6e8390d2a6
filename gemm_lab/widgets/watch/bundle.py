"""The browser's part as one ES module and one style sheet: the files of `static/`, one after the other.

Each file is a plain ES module that imports from its neighbours and nothing else, so that a test or another page can use
it as it is. Joined, they see each other anyway, and the imports go. There is nothing else to it: no bundler.
"""

from __future__ import annotations

import re
from functools import lru_cache
from pathlib import Path

from gemm_lab.views import INKS

STATIC = Path(__file__).with_name("static")
IMPORT = re.compile(r'^import \{[^}]*\} from "\./(\w+)\.js";\n', re.M)


@lru_cache(maxsize=1)
def module() -> str:
    """The ES module whose default export anywidget wants."""
    return "\n".join(joined("main"))


def joined(name: str, seen: set[str] | None = None) -> list[str]:
    """A file of `static/` without its imports and exports, after those that it imports."""
    seen = set() if seen is None else seen
    if name in seen:
        return []
    seen.add(name)
    text = (STATIC / f"{name}.js").read_text(encoding="utf-8")
    before = [part for other in IMPORT.findall(text) for part in joined(other, seen)]
    body = IMPORT.sub("", text)
    return [*before, re.sub(r"^export (?!default)", "", body, flags=re.M)]


@lru_cache(maxsize=1)
def style() -> str:
    """The style sheet; the colours of memories are the palette's."""
    inks = " ".join(f"--gw-{name}: {ink};" for name, ink in INKS.items())
    return f".gw {{ {inks} }}\n" + (STATIC / "style.css").read_text(encoding="utf-8")
