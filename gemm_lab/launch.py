"""From matrices to a launch: check the arguments of `kernel.run`, choose a backend, run there."""

from __future__ import annotations

import numpy as np

from gemm_lab.kernels import MAX_SIZE, GemmKernel
from gemm_lab.run import Finding, Run

BACKENDS = ("emulator", "gpu")
EMULATOR_MAX_FMA = 2**36    # 4096^3: on two cores nearly half an hour, which nobody should start by mistake


def run(kernel: GemmKernel, A, B, C, alpha, beta, backend, mode, schedule, step_limit, trace_block,
        unoptimized=None, machine_code=True, variables=None) -> Run:
    """See `GemmKernel.run`."""
    A, B, C = matrices(A, B, C, beta)
    if choose_backend(backend, mode) == "gpu":
        from gemm_lab import gpu
        kernel.launch_grid(*C.shape)
        try:
            return gpu.run_gemm(kernel, A, B, C, float(alpha), float(beta))
        except gpu.GpuError:
            if backend == "gpu":
                raise
            # Nobody asked for the GPU, and the emulator can say in which line the kernel goes wrong.
    return _emulate(kernel, A, B, C, float(alpha), float(beta), mode=mode, schedule=schedule, step_limit=step_limit,
                    trace_block=trace_block, unoptimized=unoptimized, machine_code=machine_code, variables=variables)


def _emulate(kernel, A, B, C, alpha, beta, **options) -> Run:
    from dataclasses import replace

    from gemm_lab.emulator import ReadOnly, emulate
    (M, K), N = A.shape, B.shape[1]
    if M * N * K > EMULATOR_MAX_FMA:
        raise ValueError(f"{M}x{N}x{K} is {M * N * K / 1e9:.0f} billion FMAs; the emulator takes at most "
                         f"{EMULATOR_MAX_FMA / 1e9:.0f} billion: choose smaller sizes, counts per FMA hardly change")
    grid = kernel.launch_grid(M, N)
    try:
        done = emulate(kernel.source, kernel.entry, grid, kernel.block, (M, N, K, alpha, A, B, beta, C),
                       shared_bytes=kernel.shared_bytes, **options)
    except ReadOnly as fault:
        finding = Finding("out-of-bounds", fault.line, f"line {fault.line}: the kernel writes to {fault.array}, "
                          "which is an input; it may write to C alone")
        done = Run(C, findings=(finding,), completed=False)
    return replace(done, C=C)


def choose_backend(backend: str | None, mode: str) -> str:
    """Where to run: only "values" may use the GPU, because a GPU does not count and does not check."""
    if backend not in (None, *BACKENDS):
        raise ValueError(f"backend is {backend!r}; it must be None, {' or '.join(map(repr, BACKENDS))}")
    if backend == "gpu" and mode != "values":
        raise ValueError(f"backend 'gpu' cannot {mode}; it runs mode 'values' only, and the emulator does the rest")
    if backend is None and mode == "values":
        from gemm_lab import gpu
        return "gpu" if gpu.available() else "emulator"
    return backend or "emulator"


def matrices(A, B, C, beta) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """A and B, which nobody may write to, and a fresh copy of C (NaN if there is none).

    ValueError where they do not fit together.
    """
    check_matrix("A", A)
    check_matrix("B", B)
    (M, K), (rows_of_B, N) = A.shape, B.shape
    if rows_of_B != K:
        raise ValueError(f"A is {M}x{K} and B is {rows_of_B}x{N}; A must have as many columns as B has rows")
    if C is None:
        if beta != 0:
            raise ValueError(f"beta is {beta} and C is missing; C may be left out only if beta is 0")
        # Never read at beta = 0, and an element that the kernel forgets to write stays visible.
        return read_only(A), read_only(B), np.full((M, N), np.nan, np.float32)
    check_matrix("C", C)
    if C.shape != (M, N):
        raise ValueError(f"C is {C.shape[0]}x{C.shape[1]}; for A {M}x{K} and B {K}x{N} it must be {M}x{N}")
    return read_only(A), read_only(B), C.copy()


def read_only(X: np.ndarray) -> np.ndarray:
    """The same elements, protected: a kernel that casts `const` away is found out, and the caller's array stays."""
    view = X.view()
    view.flags.writeable = False
    return view


def check_matrix(name: str, X) -> None:
    """ValueError unless X is a non-empty, C-contiguous, two-dimensional float32 array of sizes a kernel can take."""
    if not isinstance(X, np.ndarray):
        raise ValueError(f"{name} is a {type(X).__name__}; it must be a NumPy array of float32")
    if X.dtype != np.float32 or not X.dtype.isnative:
        raise ValueError(f"{name} has dtype {X.dtype}; it must be float32 ({name}.astype(np.float32))")
    if X.ndim != 2:
        raise ValueError(f"{name} has shape {X.shape}; it must have two dimensions")
    if 0 in X.shape:
        raise ValueError(f"{name} has shape {X.shape}; each size must be at least 1")
    if max(X.shape) > MAX_SIZE:
        raise ValueError(f"{name} has shape {X.shape}; a size is at most {MAX_SIZE}")
    if not X.flags.c_contiguous:
        raise ValueError(f"{name} is not row-major without gaps; use np.ascontiguousarray({name})")
