"""The picture of the README, drawn from the recorded measurements: python -m tools.readme_picture"""

from __future__ import annotations

import gemm_lab as gl
from tools.lessons import ROOT

PICTURE = ROOT / "docs" / "h200.png"
KERNELS = (gl.Naive(coalesced=False), gl.Naive(), gl.SharedTiling(TILE=32), gl.RegisterTiling1D(),
           gl.RegisterTiling1D(BM=64, BN=64, BK=32, TM=16))


def draw():
    """TFLOPS over size of the lessons' kernels and cuBLAS on an H200."""
    return gl.plot_tflops(gl.recorded("H200"), [kernel.label for kernel in KERNELS] + ["cuBLAS"])


if __name__ == "__main__":
    PICTURE.parent.mkdir(exist_ok=True)
    PICTURE.write_bytes(draw().png)
