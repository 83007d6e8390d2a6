"""Run the lessons from top to bottom in fresh kernels and write their outputs: `make notebooks`.

A lesson is written only if all of it ran, and written so that a second run gives the same bytes: what changes from run
to run and teaches nothing (times of execution, random identifiers, addresses, the state of widgets) is left out.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import re
import sys
import tempfile
import time
from pathlib import Path

import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError, CellTimeoutError, DeadKernelError

from tools.lessons import ROOT, find_lesson, lessons

WIDGET = "application/vnd.jupyter.widget-view+json"
METADATA = {"kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
            "language_info": {"name": "python"}}
CELL_METADATA = ("tags", "nbgrader")  # all else in a cell's metadata belongs to one run or one editor

FOLDER = re.compile(r"(?:~|/)[^\s:'\"]*/(?=(?:gemm_lab|site-packages|python3\.\d+)/)")


def execute(notebook, folder: Path, gpu: bool = False) -> None:
    """Run every cell in a fresh kernel, with `folder` as its working directory. Raises CellExecutionError."""
    with tempfile.TemporaryDirectory() as profile:  # nobody's IPython start-up files
        env = {k: v for k, v in os.environ.items() if k != "MPLBACKEND"} | {"IPYTHONDIR": profile}
        if not gpu:
            env["CUDA_VISIBLE_DEVICES"] = ""
        client = NotebookClient(notebook, timeout=300, kernel_name="python3", record_timing=False,
                                resources={"metadata": {"path": str(folder)}})
        client.execute(env=env)


def normalise(notebook, before=None) -> None:
    """Leave out what differs from run to run; `before` is the notebook as it was written last time."""
    for name in set(notebook.metadata):
        del notebook.metadata[name]
    notebook.metadata.update(nbformat.from_dict(METADATA))
    notebook.nbformat, notebook.nbformat_minor = 4, 5
    earlier = {cell.source: cell.get("outputs", []) for cell in before.cells} if before else {}
    seen = {}
    for cell in notebook.cells:
        cell.id = cell_id(cell, seen)
        cell.metadata = nbformat.from_dict({k: cell.metadata[k] for k in CELL_METADATA if k in cell.metadata})
        if cell.cell_type == "code":
            cell.outputs = merge_streams(cell.outputs)
            for output in cell.outputs:
                anonymise(output)
            if "nbval-ignore-output" in cell.metadata.get("tags", []):
                cell.outputs = settle(earlier.get(cell.source), cell.outputs)


def cell_id(cell, seen: dict[str, int]) -> str:
    """A name made of what the cell says, so that a new cell leaves the others' names alone; nbgrader's, if any."""
    if "nbgrader" in cell.metadata:
        return cell.metadata.nbgrader.grade_id
    digest = hashlib.sha256(f"{cell.cell_type}\n{cell.source}".encode()).hexdigest()[:8]
    seen[digest] = seen.get(digest, 0) + 1
    return digest if seen[digest] == 1 else f"{digest}-{seen[digest]}"


def merge_streams(outputs: list) -> list:
    """Join neighbouring pieces of one stream: where they were cut is chance."""
    merged = []
    for output in outputs:
        last = merged[-1] if merged else {}
        if output.output_type == "stream" and last.get("name") == output.name:
            last.text += output.text
        else:
            merged.append(output)
    return merged


def anonymise(output) -> None:
    """Leave out addresses of objects, the folders of this machine, and the reference to a widget.

    A stored widget has no model until its cell is run, and JupyterLab shows an error in its place; without the
    reference it shows the widget's text.
    """
    data = output.get("data", {})
    data.pop(WIDGET, None)
    if "text/plain" in data:
        data["text/plain"] = re.sub(r"(?<= at )0x[0-9a-f]{6,}", "0x…", data["text/plain"])
    if output.output_type == "stream":
        output.text = FOLDER.sub("", output.text)
    if output.output_type == "error":
        output.traceback = [FOLDER.sub("", line) for line in output.traceback]


def settle(old: list | None, new: list) -> list:
    """Of two outputs of a cell that times something, the old one if they differ in digits only."""
    def shape(outputs):
        return re.sub(r"[\d.]+", "0", json.dumps(outputs, sort_keys=True))
    return old if old is not None and shape(old) == shape(new) else new


def build(path: Path, output: Path | None = None, gpu: bool = False) -> float:
    """Run one lesson and write it to `output` (default: in place). Returns seconds."""
    before, notebook = (nbformat.read(path, as_version=4) for _ in range(2))
    start = time.perf_counter()
    execute(notebook, path.parent, gpu)
    seconds = time.perf_counter() - start
    normalise(notebook, before)
    nbformat.validate(notebook)
    write(notebook, output or path)
    return seconds


def write(notebook, path: Path) -> None:
    """Write all of the file or nothing."""
    partial = path.with_suffix(".partial")
    partial.write_text(text(notebook), encoding="utf-8")
    partial.replace(path)


def text(notebook) -> str:
    """A notebook as the text of its file."""
    return nbformat.writes(notebook) + "\n"


def main(words: list[str] | None = None) -> int:
    """The command line: returns the exit status."""
    parser = argparse.ArgumentParser(prog="make notebooks", description=__doc__.split("\n")[0])
    parser.add_argument("lesson", nargs="*", help="number or name of a lesson (default: all)")
    parser.add_argument("--gpu", action="store_true", help="let the lessons see a GPU")
    parser.add_argument("--out", type=Path, help="folder to write to (default: in place)")
    options = parser.parse_args(words)
    known = {path.name: path for path in lessons(ROOT)}
    try:
        chosen = [known[find_lesson(word, tuple(known))] for word in options.lesson] or list(known.values())
    except ValueError as error:
        parser.error(str(error))
    failed, total = [], 0.0
    for path in chosen:
        try:
            seconds = build(path, options.out and options.out / path.name, options.gpu)
        except (CellExecutionError, CellTimeoutError, DeadKernelError) as error:
            failed.append(path.name)
            print(f"{path.name}: failed and left as it was\n{error}", file=sys.stderr)
        else:
            total += seconds
            print(f"{seconds:6.1f} s  {path.name}", flush=True)
    print(f"{total:6.1f} s  {len(chosen) - len(failed)} of {len(chosen)} lessons written")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
