"""The files: reading, writing and finding records, and telling whether a source has changed since it was measured."""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Mapping
from pathlib import Path

FORMAT = 1
FOLDER = Path(__file__).parents[1] / "measurements"    # what ships


def source_hash(source: str) -> str:
    """SHA-256 of CUDA source without comments and white space: editing a comment does not make a measurement stale."""
    from gemm_lab.compiler import scan
    return hashlib.sha256("".join(scan.without_comments(source).split()).encode()).hexdigest()


def record_name(experiment: str, device: str) -> str:
    """The file name of a device's record: record_name("bench", "NVIDIA H200") is "bench_h200.json"."""
    return f"{experiment}_{re.sub(r'[^a-z0-9]+', '_', device.lower().replace('nvidia', '').strip())}.json"


def shipped(experiment: str, device: str) -> Path:
    """The file of a record that ships; ValueError for one that does not, naming those that do."""
    if not isinstance(device, str) or not isinstance(experiment, str):
        raise ValueError(f"a record is named by texts, such as 'H200' and 'bench', not {device!r} and {experiment!r}")
    path = FOLDER / record_name(experiment, device)
    if not path.is_file():
        raise ValueError(f"no record {experiment!r} of {device!r} ships; there are records of "
                         f"{', '.join(shipped_devices(experiment)) or 'no device'}")
    return path


def shipped_devices(experiment: str = "bench") -> list[str]:
    """Devices of which a record ships."""
    return sorted(path.stem.removeprefix(f"{experiment}_").upper() for path in FOLDER.glob(f"{experiment}_*.json"))


def write(path: str | Path, kind: str, content: Mapping) -> Path:
    """Write a record as JSON, each of `content["rows"]` on a line of its own, so that differences can be read.

    ValueError where the file cannot be written.
    """
    path = Path(path)
    if path.is_dir():
        raise ValueError(f"{path} is a folder; a record is a file, such as {path / f'{kind}.json'}")
    rows = ",\n".join("  " + json.dumps(row) for row in content["rows"])
    head = {"format": FORMAT, "kind": kind} | {name: value for name, value in content.items() if name != "rows"}
    text = json.dumps(head, indent=1)[:-2] + f',\n "rows": [\n{rows}\n ]\n}}\n'
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise ValueError(f"{path} cannot be written: {error.strerror}; choose a file in a folder of yours") from None
    return path


def read(path: str | Path, kind: str) -> dict:
    """Read a record; ValueError where the file is missing, no JSON, of another kind or of another format."""
    try:
        record = json.loads(Path(path).read_text(encoding="utf-8"))
    except RecursionError:
        raise ValueError(f"{path} is not a record: its JSON is nested too deeply") from None
    except (OSError, ValueError) as error:
        raise ValueError(f"{path} cannot be read as a record: {error}") from None
    if not isinstance(record, dict) or record.pop("kind", None) != kind:
        raise ValueError(f"{path} is not a record of kind {kind!r}")
    if (found := record.pop("format", None)) != FORMAT:
        raise ValueError(f"{path} has format {found!r}; this version of GEMM Lab reads format {FORMAT}")
    return record


def check_number(name: str, value, least: float = -math.inf) -> None:
    """ValueError unless `value` is a finite number, `least` or more."""
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if not is_number or not least <= value < math.inf:
        allowed = "a finite number" if least == -math.inf else f"a finite number, {least:g} or more"
        raise ValueError(f"{name} is {value!r}; it must be {allowed}")


def check_texts(**values) -> None:
    """ValueError unless each of the named values is a text."""
    for name, value in values.items():
        if not isinstance(value, str):
            raise ValueError(f"{name} is {value!r}; it must be a text")


def check_row(kernel, sizes: tuple) -> None:
    """ValueError unless a row has a kernel's label and whole sizes."""
    whole = all(isinstance(n, int) and not isinstance(n, bool) and n >= 1 for n in sizes)
    if not isinstance(kernel, str) or not whole:
        raise ValueError(f"a row needs a kernel's label and whole sizes, not {kernel!r} at {sizes}")
