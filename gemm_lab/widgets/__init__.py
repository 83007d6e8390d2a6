"""What moves when you move something. Nothing but this package imports ipywidgets.

Without ipywidgets `explore_tiles` says so and shows its numbers for the default choice as a table.
"""

from __future__ import annotations

from gemm_lab.arguments import checked_kernel_class, checked_sizes
from gemm_lab.widgets.tile_facts import TileTable
from gemm_lab.widgets.watch import visualize, visualize_compare

__all__ = ["explore_tiles", "visualize", "visualize_compare"]

MISSING = ("The sliders need ipywidgets (pip install ipywidgets). Without it this table, kernel.counts(M, N, K), "
           "kernel.compile() and gl.occupancy(kernel, gpu) still work.")


def explore_tiles(kernel_class, M: int, N: int, K: int, gpu="H200"):
    """Controls for the tile parameters of a course kernel, and what each choice means at M x N x K on a GPU.

    kernel_class   gl.Naive, gl.SharedTiling, gl.RegisterTiling1D, or another class of kernels: a frozen dataclass whose
                   fields are the parameters, with defaults
    gpu            a name in gl.gpus; occupancy is for this GPU

    Words, intensity, shared memory, threads and validity change at once; registers and occupancy follow when the
    compiler is done. `.text` says the same as plain text, `.controls` holds the widgets by parameter name.
    """
    checked_kernel_class(kernel_class)
    M, N, K = checked_sizes(M, N, K)
    try:
        from gemm_lab.widgets.explorer import TileExplorer
    except ImportError as error:
        if error.name not in ("ipywidgets", "traitlets"):
            raise
        return TileTable.of(kernel_class(), M, N, K, gpu, note=MISSING)
    return TileExplorer(kernel_class, M, N, K, gpu)
