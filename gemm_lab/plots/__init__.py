"""The course's figures. Nothing but this package imports matplotlib.

Each function returns a `Picture`: `.figure` is the Matplotlib figure, `.alt_text` the sentence that says what it shows.
"""

from __future__ import annotations

try:
    import matplotlib  # noqa: F401
except ImportError as error:
    raise ImportError("The figures need matplotlib (pip install matplotlib). Without it kernel.counts(M, N, K), "
                      "gl.annotate, gl.check, gl.roofline, gl.occupancy and the recorded tables still work.",
                      name=error.name) from error

from gemm_lab.plots.guesses import plot_guesses
from gemm_lab.plots.hierarchy import plot_hierarchy
from gemm_lab.plots.law import plot_law
from gemm_lab.plots.picture import Picture
from gemm_lab.plots.reads import plot_reads
from gemm_lab.plots.roofline import plot_roofline
from gemm_lab.plots.stalls import plot_stalls
from gemm_lab.plots.tflops import plot_tflops

__all__ = ["Picture", "plot_guesses", "plot_hierarchy", "plot_law", "plot_reads", "plot_roofline", "plot_stalls",
           "plot_tflops"]
