"""GEMM Lab: real CUDA kernels for matrix multiplication, run, counted, checked and drawn on any laptop.

    import gemm_lab as gl

Importing this needs NumPy alone; each name loads its module when it is first used.
"""

from __future__ import annotations

import importlib
import sys
import types

__version__ = "0.1.0"

_NAMES = {
    "kernels": "CudaGemm Naive SharedTiling RegisterTiling1D",
    "ladder": "PipelinedTiling1D RegisterTiling2D WarpTiling Pipelining Reordering SlicedK SplitK",
    "fastest": "best",
    "tuning": "tune Tuning",
    "counts": "Counts",
    "run": "Run Finding",
    "emulator": "emulate",
    "compiler": "CompileError NoCompiler",
    "checking": "check Verdict",
    "gpu": "NoGpu",
    "status": "status",
    "benchmark": "benchmark",
    "records": "Measurements recorded recorded_counters recorded_goals recorded_law recorded_stalls",
    "side_by_side": "compare_counters",
    "hardware": "gpus Gpu",
    "occupancy": "occupancy Occupancy",
    "roofline": "roofline Roofline gemm_flops matrix_bytes ridge_size",
    "hierarchy": "hierarchy",
    "annotate": "annotate",
    "source_views": "show_source show_diff",
    "machine_code": "show_sass",
    "guesses": "guess plot_guesses Guess",
    "plots": "plot_reads plot_roofline plot_tflops plot_law plot_stalls plot_hierarchy",
    "widgets": "explore_tiles visualize visualize_compare",
    "exercises": "Sheet",
}
_HOME = {name: module for module, names in _NAMES.items() for name in names.split()}
__all__ = sorted(_HOME)


def __getattr__(name: str):
    if name not in _HOME:
        raise AttributeError(f"gemm_lab has no {name!r}; it has {', '.join(__all__)}")
    globals()[name] = getattr(importlib.import_module(f"gemm_lab.{_HOME[name]}"), name)
    return globals()[name]


def __dir__() -> list[str]:
    return __all__


class _Package(types.ModuleType):
    """Keeps gl.roofline the function: importing gemm_lab.roofline would otherwise put the module in its place."""

    def __setattr__(self, name, value):
        if not (name in _HOME and isinstance(value, types.ModuleType)):
            super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Package
