"""Where the lessons are, and which one a student means by "01", "1" or "naive"."""

from __future__ import annotations

from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def lessons(root: Path = ROOT) -> tuple[Path, ...]:
    """The notebooks of the course in order; a student's own copies (`my_…`) are not among them."""
    return tuple(sorted((root / "notebooks").glob("[0-9]*.ipynb")))


def find_lesson(word: str, known: tuple[str, ...]) -> str:
    """The one file name among `known` that `word` means: its number, its name or a part of it."""
    word = Path(word).name.removesuffix(".ipynb")
    exact = [name for name in known if word in (name.removesuffix(".ipynb"), name.split("_")[0])]
    number = [name for name in known if word.isdigit() and name.split("_")[0] == word.zfill(2)]
    part = [name for name in known if word and not word.isdigit() and word in name]
    for found in (exact, number, part):
        if len(found) == 1:
            return found[0]
    raise ValueError(f"LESSON={word} is not one lesson; the lessons are {', '.join(known) or 'none yet'}")
