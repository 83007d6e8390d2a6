"""Kernels with a planted defect: kernels of `benchmarks/kernels`, changed in one place each.

A change keeps the numbers of the lines.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from benchmarks import kernel_files
from gemm_lab.kernels import CudaGemm

HERE = Path(__file__).parent / "kernels"

RACES = {  # what is wrong -> old, new
    "double_buffer: no barrier": ("] = b;\n        __syncthreads();", "] = b;\n"),
    "a_transposed: no barrier before the sums": ("__syncthreads();\n#pragma unroll 8", "\n#pragma unroll 8"),
    "staged_result: no barrier before the result leaves": ("acc[i];\n    __syncthreads();", "acc[i];\n"),
    "block_7x5x3: no barrier before the parts meet": ("= acc;\n    __syncthreads();", "= acc;\n"),
    "vote_of_the_block: no barrier after the sums": ("* Bs[k][tx];\n        __syncthreads();", "* Bs[k][tx];\n"),
    "early_return: no warp barrier before the sums": ("__syncwarp();\n        const int", "\n        const int"),
    "xor_swizzle: two words in one place": ("At[tx][r ^ tx] =", "At[tx][r & tx] ="),
    "function_call: no barrier after the call": ("16);\n        __syncthreads();", "16);\n"),
    "dynamic_shared: the tiles overlap": ("memory + 16 * 24;", "memory + 16 * 23;"),
    "block_8x4: no barrier in a block of one warp": ("* Bs[k][tx];\n        __syncthreads();", "* Bs[k][tx];\n"),
    "async_words: waits for too few copies": ("__pipeline_wait_prior(1);", "__pipeline_wait_prior(2);"),
    "float4_stores: no barrier before the sums": ("__syncthreads();\n        for (int k", "\n        for (int k"),
}

OUT_OF_BOUNDS = {
    "reg2d_scalar: a row of A too many": ("row0 + r < M && k0 + c < K", "row0 + r <= M && k0 + c < K"),
    "shuffle_broadcast: columns of B beyond N": ("if (col < N) acc +=", "acc +="),
    "warp_reduction: a round too many": ("k < K;", "k <= K;"),
    "local_array: a row of C too many": ("row >= M ||", "row > M ||"),
    "column_walk: a row of the tile too many": ("r < 8; r += 4", "r <= 8; r += 4"),
    "block_8x4: a row of C too many": ("if (row < M && col < N) C", "if (row <= M && col < N) C"),
    "float2_columns: reads B's last column and one more": ("else if (k0 + r < K && col < N)", "else if (k0 + r < K)"),
    "divergent_loop: reads B's next row": ("k * N + col];\n    }\n    C", "(k + 1) * N + col];\n    }\n    C"),
    "dynamic_shared: a tile beyond the memory": ("memory + 16 * 24;", "memory + 16 * 25;"),
    "double_accumulator: reads before the start of A": ("K + k0 + tx] : 0.0f", "K + k0 + tx - 8] : 0.0f"),
}


def planted(changes: Mapping[str, tuple[str, str]]) -> list[CudaGemm]:
    """The kernels of RACES or OUT_OF_BOUNDS. The word before the colon names the file; its last kernel is changed."""
    return [kernel_files.read(HERE / f"{label.split(':')[0]}.cu")[-1].edited(change, label=label)
            for label, change in changes.items()]
