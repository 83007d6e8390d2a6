"""Notebooks as plain dicts: read, cells by id, written as Jupyter writes them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

MOST_BYTES = 20_000_000     # of a notebook file


def read(path: Path) -> dict:
    """The notebook in a file; ValueError where there is none."""
    if path.stat().st_size > MOST_BYTES:
        raise ValueError(f"{path.name} has {path.stat().st_size:,} bytes; a notebook of exercises has at most "
                         f"{MOST_BYTES:,}")
    try:
        notebook = json.loads(path.read_text(encoding="utf-8"))
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{path.name} is no notebook: {str(error)[:200]}") from None
    if not isinstance(notebook, dict) or not isinstance(notebook.get("cells"), list):
        raise ValueError(f"{path.name} is no notebook: it has no cells")
    return notebook


def source(cell) -> str:
    """The text of a cell, which a file may hold in one piece or by lines."""
    text = cell.get("source", "") if isinstance(cell, dict) else ""
    parts = text if isinstance(text, list) else [text]
    return "".join(part for part in parts if isinstance(part, str))


def name_of(cell) -> str:
    """The id of a cell: that of nbgrader, which other programs keep, or the notebook's own."""
    metadata = cell.get("metadata") if isinstance(cell, dict) else None
    nbgrader = metadata.get("nbgrader") if isinstance(metadata, dict) else None
    name = nbgrader.get("grade_id") if isinstance(nbgrader, dict) else None
    name = name or (cell.get("id") if isinstance(cell, dict) else None)
    return name if isinstance(name, str) else ""


def by_name(notebook: dict) -> Iterator[tuple[str, dict]]:
    """(id, cell), in order."""
    for cell in notebook["cells"]:
        yield name_of(cell), cell


def text(notebook: dict) -> str:
    """The text of a notebook's file, byte for byte as nbformat writes it."""
    def lines(cell: dict) -> dict:
        return cell | {"source": source(cell).splitlines(keepends=True)}
    whole = notebook | {"cells": [lines(cell) for cell in notebook["cells"]]}
    return json.dumps(whole, ensure_ascii=False, indent=1, sort_keys=True) + "\n"
