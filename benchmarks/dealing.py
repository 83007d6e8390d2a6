"""How a GPU deals the blocks of kernel 09 to its SMs. Some seconds on a GPU.

    python benchmarks/dealing.py OUT.json

Each block of the kernel notes on which SM it runs (the special register %smid), besides what it does otherwise. A row
of the record says of one problem how many whole tiles and how many pieces of shared tiles there were, and how many SMs
got how many of each. `fastest` rests on it: whole tiles beside more pieces than there are SMs are dealt unevenly.
"""

from __future__ import annotations

import datetime
import sys
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import gemm_lab as gl  # noqa: E402  (run as a script, this file finds the checkout beside it)
from gemm_lab import gpu  # noqa: E402
from gemm_lab.compiler import compile_kernel  # noqa: E402
from gemm_lab.records import files, source_hash  # noqa: E402

SIZES = ((1023, 1025, 2047), (1536, 1536, 1536), (1200, 1100, 1300), (776, 1556, 3112), (256, 8192, 1024))
ENTRY = "template <int BM, int BN, int BK, int TM, int TN, int STAGES, int BLOCKS"
TILES = "tiles[STAGES];\n"
LOG = "__device__ unsigned sm_of[1 << 12];\n\n"
NOTE = '    if (threadIdx.x == 0) asm volatile("mov.u32 %0, %%smid;" : "=r"(sm_of[blockIdx.x]));\n'


def noting(source: str) -> str:
    """Kernel 09, with each block noting its SM."""
    before, entry, after = source.rpartition(ENTRY)
    head, tiles, rest = after.rpartition(TILES)
    assert entry and tiles, "kernel 09 looks different now"
    return before + LOG + entry + head + tiles + NOTE + rest


def main(out: Path) -> None:
    device = gpu.device()
    kernel = gl.SplitK(share=gl.gpus[device.name if device.name in gl.gpus else "H200"].sms)
    rows = [measured(kernel, size, device.arch) for size in SIZES]
    files.write(out, "dealing", {"device": device.name, "driver": device.driver, "protocol": __doc__,
                                 "date": datetime.date.today().isoformat(), "rows": rows})


def measured(kernel, size: tuple[int, int, int], arch: str) -> dict:
    """One row; `sms` are (whole tiles, pieces, SMs that got so many)."""
    import cupy

    from gemm_lab.gpu import launching
    M, N, K = size
    compiled = compile_kernel(noting(kernel.source), kernel.entry, arch)
    module = cupy.cuda.function.Module()
    module.load(compiled.cubin)
    a, b, c = (cupy.ones(shape, cupy.float32) for shape in ((M, K), (K, N), (M, N)))
    grid, shared = kernel.launch_grid(M, N), kernel.shared_tiles(M, N)
    for _ in range(3):    # the first may still be loading
        module.get_function(compiled.entry)(grid, kernel.block, launching.arguments(a, b, c, 1.0, 0.0))
    cupy.cuda.runtime.deviceSynchronize()
    memory = cupy.cuda.UnownedMemory(int(module.get_global_var("sm_of")), 4 * grid[0], module)
    sm_of = cupy.ndarray(grid[0], cupy.uint32, cupy.cuda.MemoryPointer(memory, 0)).get().tolist()
    whole = grid[0] - shared * kernel.SPLITS
    wholes, pieces = Counter(sm_of[:whole]), Counter(sm_of[whole:])
    sms = range(cupy.cuda.runtime.getDeviceProperties(0)["multiProcessorCount"])
    found = sorted(Counter((wholes[sm], pieces[sm]) for sm in sms).items())
    row = {"kernel": kernel.label, "source": source_hash(kernel.source), "size": size, "whole": whole,
           "pieces": grid[0] - whole, "sms": [[*pair, n] for pair, n in found]}
    print(row, flush=True)
    return row


if __name__ == "__main__":
    main(Path(sys.argv[1])) if len(sys.argv) == 2 else sys.exit(__doc__)
