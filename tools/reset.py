"""Bring a lesson back as it came, and keep the student's copy beside it: `make reset LESSON=01`.

A lesson comes back from git's HEAD or, where the course was unpacked from an archive, from the copies that set-up
kept in .originals (`--keep`).
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Iterator
from itertools import count
from pathlib import Path

from tools.lessons import ROOT, find_lesson, lessons

KEPT = ".originals"


def git(root: Path, *words: str) -> bytes | None:
    """What git prints for this checkout; None without git, outside a checkout or on an error."""
    try:
        top = subprocess.run(["git", "-C", root, "rev-parse", "--show-prefix"], capture_output=True)
        if top.returncode or top.stdout.strip():  # no checkout, or another project's that this folder lies in
            return None
        done = subprocess.run(["git", "-C", root, *words], capture_output=True)
    except OSError:
        return None
    return None if done.returncode else done.stdout


def originals(root: Path) -> dict[str, bytes]:
    """File name -> content of every lesson as it came."""
    listed = git(root, "ls-tree", "--name-only", "HEAD", "notebooks/")
    if listed is None:
        return {path.name: path.read_bytes() for path in lessons(root / KEPT)}
    names = [name for name in listed.decode().split("\n") if name.endswith(".ipynb")]
    return {Path(name).name: git(root, "show", f"HEAD:{name}") or b"" for name in names}


def keep(root: Path) -> None:
    """Where there is no git, keep a copy of each lesson that has none yet."""
    if git(root, "rev-parse", "HEAD") is not None:
        return
    for path in lessons(root):
        copy = root / KEPT / "notebooks" / path.name
        if not copy.exists():
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, copy)


def copies(path: Path) -> Iterator[Path]:
    """Names for a student's copy: my_01_naive.ipynb, my_01_naive_2.ipynb, …"""
    yield path.with_name(f"my_{path.name}")
    for n in count(2):
        yield path.with_name(f"my_{path.stem}_{n}.ipynb")


def reset(root: Path, word: str) -> str:
    """Restore the lesson that `word` means; returns what was done, in a sentence."""
    kept = originals(root)
    name = find_lesson(word, tuple(kept))
    path = root / "notebooks" / name
    if not path.exists():
        path.write_bytes(kept[name])
        return f"{name} is back as it came."
    if path.read_bytes() == kept[name]:
        return f"{name} is as it came: nothing to do."
    copy = next(c for c in copies(path) if not c.exists())
    path.rename(copy)
    path.write_bytes(kept[name])
    return f"{name} is back as it came; your copy is {copy.name}. If it is open in JupyterLab: File, Reload from Disk."


def main(words: list[str]) -> str | None:
    """The command line; a returned text is an error."""
    if words == ["--keep"]:
        return keep(ROOT)
    if len(words) != 1:
        return "Which lesson? For example: make reset LESSON=01"
    try:
        print(reset(ROOT, words[0]))
    except ValueError as error:
        return str(error)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
