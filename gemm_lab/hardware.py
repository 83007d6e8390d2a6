"""The GPU catalogue, each value with its public source.

    gpus["H200"].peak_fp32_tflops           66.9
    gpus["nvidia geforce rtx 4090"]         case, spaces, "NVIDIA", "GeForce" and "Tesla" do not matter

A GPU's key is the shortest product name that tells it apart: "T4", "RTX 4090"; form factor and memory size are added
only where one name has several products ("H100 SXM", "A100 PCIe 80 GB"). The facts are in `data/gpus.json`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import fields
from difflib import get_close_matches
from pathlib import Path

from gemm_lab.gpu_facts import LABELS, ComputeCapability, Gpu
from gemm_lab.tables import html_table


class UnknownGpu(ValueError, KeyError):
    """No GPU of that name; the message suggests names. Also a KeyError, as for any mapping."""

    __str__ = ValueError.__str__


class Catalogue(Mapping[str, Gpu]):
    """GPUs by name, in the order of their architectures; `catalogue[name]` accepts other spellings (see the module)."""

    def __init__(self, known: Mapping[str, Gpu], aliases: Mapping[str, str]):
        self._gpus = dict(known)
        self._names = {_plain(alias): name for alias, name in aliases.items()} | {_plain(name): name for name in known}

    def __getitem__(self, name: str) -> Gpu:
        if not isinstance(name, str) or _plain(name) not in self._names:
            raise UnknownGpu(self._unknown(str(name)))
        return self._gpus[self._names[_plain(name)]]

    def _unknown(self, name: str) -> str:
        plain = _plain(name)
        near = [p for p in self._names if plain and p.startswith(plain)] or get_close_matches(plain, self._names, n=4)
        meant = " or ".join(list(dict.fromkeys(self._names[p] for p in near))[:5])
        hint = f"did you mean {meant}? " if meant else ""
        return f"no GPU named {name!r}; {hint}list(gl.gpus) gives the {len(self)} names"

    def __iter__(self) -> Iterator[str]:
        return iter(self._gpus)

    def __len__(self) -> int:
        return len(self._gpus)

    def __repr__(self) -> str:
        return f"{len(self)} GPUs: {', '.join(self)}"

    def _repr_html_(self) -> str:
        def mark(gpu, name, text):
            return f"{text}*" if name in gpu.unverified else text
        head = ("GPU", "compute capability", "SMs", "boost MHz", "FP32 TFLOPS", "DRAM GB/s", "L2 MiB", "ridge FLOP/B")
        rows = [(g.name, g.compute_capability, mark(g, "sms", g.sms), mark(g, "boost_mhz", g.boost_mhz),
                 f"{g.peak_fp32_tflops:.1f}", mark(g, "dram_gbs", f"{g.dram_gbs:g}"),
                 mark(g, "l2_bytes", f"{g.l2_bytes / 2**20:g}"), f"{g.ridge:.1f}") for g in self.values()]
        return html_table(head, rows, "* has no public source")


def find_gpu(gpu: str | Gpu) -> Gpu:
    """The GPU itself, or the one of that name (ValueError with suggestions)."""
    return gpu if isinstance(gpu, Gpu) else gpus[gpu]


def _plain(name: str) -> str:
    """What is left of a product name without case, punctuation and words that tell nothing apart."""
    words = re.findall(r"[a-z0-9]+", re.sub(r"sxm\d", "sxm", name.lower()))
    return "".join(word for word in words if word not in {"nvidia", "geforce", "tesla", "gpu", "generation"})


def _load(path: Path) -> tuple[dict[str, ComputeCapability], Catalogue]:
    """The facts of `gpus.json`, each field with its citation."""
    data = json.loads(path.read_text(encoding="utf-8"))
    capabilities = {name: ComputeCapability(**_facts({"compute_capability": name} | row, data["sources"]))
                    for name, row in data["compute_capabilities"].items()}
    known = {name: _gpu({"name": name} | row, capabilities[row["compute_capability"]], data["sources"])
             for name, row in data["gpus"].items()}
    aliases = {alias: name for name, row in data["gpus"].items() for alias in (row["product"], *row.get("aliases", ()))}
    return capabilities, Catalogue(known, aliases)


def _gpu(row: dict, capability: ComputeCapability, table: dict) -> Gpu:
    own, shared = _facts(row, table), {f.name: getattr(capability, f.name) for f in fields(capability)}
    return Gpu(**(shared | own | {
        "sources": own["sources"] | shared["sources"],
        "unverified": shared["unverified"] + own.get("unverified", ()),
        "note": " ".join(filter(None, (own.get("note"), shared["note"])))}))


def _facts(row: dict, table: dict) -> dict:
    """The fields of a row for its dataclass: lists become tuples, `sources` maps every sourced field to a citation."""
    values = {name: tuple(v) if isinstance(v, list) else v for name, v in row.items()
              if name not in ("aliases", "page")}
    unsourced = {"sources", "unverified", *LABELS, *values.get("unverified", ())}
    keys = {name: row["sources"].get(name, row["sources"].get("*")) for name, v in values.items()
            if v is not None and name not in unsourced}
    return values | {"sources": {name: _citation(table[key], row.get("page", "")) for name, key in keys.items() if key}}


def _citation(source: dict, page: str) -> str:
    """Title and address; for a database the address of its entry for this very GPU, the row's `page`."""
    return f"{source['title']}, {page if page.startswith(source['url']) else source['url']}"


compute_capabilities, gpus = _load(Path(__file__).parent / "data" / "gpus.json")
