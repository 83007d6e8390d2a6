"""The picture of the README, drawn from the recorded measurements: python -m tools.readme_picture"""

from __future__ import annotations

import gemm_lab as gl
from gemm_lab.records import joined
from tools.lessons import ROOT

PICTURE = ROOT / "docs" / "h200.png"
KERNELS = (gl.Naive(coalesced=False), gl.Naive(), gl.SharedTiling(TILE=32), gl.RegisterTiling1D(),
           gl.RegisterTiling2D(), gl.Pipelining())
SIZES = [256, 512, 1024, 2048, 4096, 8192]


def draw():
    """TFLOPS over size of the lessons' kernels, of the fastest for each size, and of cuBLAS on an H200."""
    measured = joined([gl.recorded_goals("H200").measurements, gl.recorded("H200", "ladder"), gl.recorded("H200")])
    return gl.plot_tflops(measured.select(size=SIZES), [*KERNELS, "gl.best"])


if __name__ == "__main__":
    PICTURE.parent.mkdir(exist_ok=True)
    PICTURE.write_bytes(draw().png)
