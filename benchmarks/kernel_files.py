"""Kernels in files of their own: a head of `// field: value` lines says how to launch what follows.

    entry         the kernel, with template arguments; several are parted by "; "
    grid          blocks, a Python expression of M and N
    block         threads in a block
    shared_bytes  dynamic shared memory, where there is any

`tests/corpus/README.md` lists further fields, which mean nothing here.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from gemm_lab.kernels import CudaGemm


def head(source: str) -> dict[str, str]:
    """The fields of a source's head."""
    lines = re.match(r"(// .*\n)*", source)[0]
    return dict(re.findall(r"^// (\w+): (.*)$", lines, flags=re.M))


def read(path: Path, prefix: str = "") -> list[CudaGemm]:
    """The kernels of a file, one for each entry. Their label is the file's name, of several ones with the variant."""
    source = path.read_text(encoding="utf-8")
    fields = head(source)
    several = "; " in fields["entry"]
    return [kernel(source, fields, entry, prefix + path.stem + "".join(re.findall("<.*>", entry) if several else ""))
            for entry in fields["entry"].split("; ")]


def folder(path: Path, prefix: str = "") -> list[CudaGemm]:
    """The kernels of all files of a folder."""
    return [kernel for file in sorted(path.glob("*.cu")) for kernel in read(file, prefix)]


def kernel(source: str, fields: Mapping[str, str], entry: str, label: str) -> CudaGemm:
    """The kernel `entry` of a source, launched as its head says."""
    grid = eval(f"lambda M, N: {fields['grid']}")
    return CudaGemm(source, entry, grid, eval(fields["block"]), eval(fields.get("shared_bytes", "0")), label)
