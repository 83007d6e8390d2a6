"""What shows itself in a notebook: text everywhere, HTML where a browser is, both saying the same.

The HTML is legible in light and dark themes. A notebook that came from elsewhere is not trusted until it is run:
JupyterLab then drops <style>, so what the reading depends on is in the elements themselves.
"""

from __future__ import annotations

import re
from functools import lru_cache
from html import escape
from pathlib import Path

from gemm_lab import palette

INKS = {"global": palette.GLOBAL, "shared": palette.SHARED, "registers": palette.REGISTERS, "local": palette.LOCAL,
        "arithmetic": palette.ARITHMETIC}
LEFT = "text-align: left"
WRAP = "margin: 0; word-break: normal; overflow-wrap: break-word; background: transparent"


class View:
    """Something to look at. Subclasses give `text` and `html()`; two equal views print the same."""

    @property
    def text(self) -> str:
        """The whole content as plain text."""
        raise NotImplementedError

    def html(self) -> str:
        """The content as HTML, without the style."""
        raise NotImplementedError

    def __repr__(self) -> str:
        return self.text

    def _repr_html_(self) -> str:
        return styled(self.html())


def styled(html: str) -> str:
    """`html` in the course's style."""
    return f'<div class="gl-view"><style>{stylesheet()}</style>{html}</div>'


@lru_cache(maxsize=1)
def stylesheet() -> str:
    """The style of every view, on one line; its inks are the palette's."""
    inks = " ".join(f"--gl-{name}: {ink};" for name, ink in INKS.items())
    css = Path(__file__).with_name("views.css").read_text(encoding="utf-8")
    return f".gl-view {{ {inks} }}" + re.sub(r"/\*.*?\*/|\s+", " ", css, flags=re.S)


def element(tag: str, content: str, **attributes: str | int | None) -> str:
    """An element around content that is HTML already; `cls` stands for class, None leaves an attribute out."""
    given = ((name.replace("cls", "class"), value) for name, value in attributes.items() if value is not None)
    opening = " ".join([tag, *(f'{name}="{escape(str(value))}"' for name, value in given)])
    return f"<{opening}>{content}</{tag}>"


def code_cell(line: str, inner: str | None = None) -> str:
    """A cell with a line of source. `inner`: its HTML, if not simply the escaped line."""
    shown = with_quiet_comment(line) if inner is None else inner
    return element("td", element("pre", shown or " ", style=WRAP), cls="gl-code", style=LEFT)


def with_quiet_comment(line: str) -> str:
    """A line of C++ as HTML, its // comment set back."""
    code, slashes, comment = line.partition("//")
    return escape(code) + (element("span", escape(slashes + comment), cls="gl-comment") if slashes else "")


def table(head: str, body: list[str], caption: str = "", foot: str = "") -> str:
    """A table of rows that are HTML already, with its sentence below it."""
    foot = f"<tfoot>{foot}</tfoot>" if foot else ""
    title = element("caption", escape(caption), style=f"caption-side: bottom; {LEFT}") if caption else ""
    content = f"{title}<thead>{head}</thead><tbody>{''.join(body)}</tbody>{foot}"
    return element("table", content, cls="gl-table", style="font-size: 12px")


def shorten(text: str, width: int) -> str:
    """`text`, cut to `width` characters."""
    return text if len(text) <= width else text[: width - 1] + "…"
