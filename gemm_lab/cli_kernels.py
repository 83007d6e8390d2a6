"""Kernels as the command line names them: a file with its launch geometry, or a course kernel."""

from __future__ import annotations

import argparse
import ast
from math import prod
from pathlib import Path

from gemm_lab import closed_forms, kernels, ladder, launch

COURSE_KERNELS = ("Naive", "SharedTiling", "RegisterTiling1D", "PipelinedTiling1D", "RegisterTiling2D", "WarpTiling",
                  "Pipelining", "Reordering", "SlicedK", "SplitK")
MAX_ELEMENTS = 2**28    # of a matrix: 1 GB, and a check holds several, some of them in double precision


def add_geometry(sub: argparse.ArgumentParser) -> None:
    """The options that say which kernel of a file it is, and how it is launched."""
    sub.add_argument("--entry", help='the kernel in it: "k", or "k<32>" for a template (default: the only one)')
    sub.add_argument("--like", metavar="KERNEL",
                     help='take grid, block and entry from a course kernel, such as "SharedTiling(TILE=16)"')
    sub.add_argument("--block", type=whole_numbers, metavar="X[,Y[,Z]]", help="threads in a block, such as 16,16")
    sub.add_argument("--tile", type=whole_numbers, metavar="ROWS,COLS",
                     help="elements of C that a block computes (default: one for each thread of --block)")
    sub.add_argument("--shared-bytes", type=int, default=0, metavar="N", help="dynamic shared memory of a block")


def check_shape(shape: tuple[int, ...], option: str = "--shape") -> None:
    """ValueError unless a shape is (M, N, K) and its emulation can end."""
    if len(shape) != 3:
        raise ValueError(f"{option} takes three whole numbers, M,N,K; got {','.join(map(str, shape))}")
    M, N, K = shape
    if prod(shape) > launch.EMULATOR_MAX_FMA or max(M * K, K * N, M * N) > MAX_ELEMENTS:
        raise ValueError(f"{option} {M},{N},{K} is too large to check: it has {prod(shape):,} FMAs and up to "
                         f"{max(M * K, K * N, M * N):,} elements in a matrix; the emulator takes at most "
                         f"{launch.EMULATOR_MAX_FMA:,} FMAs and {MAX_ELEMENTS:,} elements")


def kernel_of(options) -> kernels.CudaGemm:
    """The kernel that `file` and the options of `add_geometry` describe."""
    source = source_of(options.file)
    if options.like and (options.block or options.tile):
        raise ValueError("--like already gives the block and the tile; leave out --block and --tile")
    if options.like:
        return course_kernel(options.like).with_source(source, options.file.name, options.entry)
    if not options.block:
        raise ValueError("the launch geometry is missing: --block 16,16, or --like \"SharedTiling(TILE=16)\"")
    grid = grid_of_tiles(options.tile or default_tile(options.block))
    entry = options.entry or only_entry(source, options.file)
    return kernels.CudaGemm(source, entry, grid, options.block, options.shared_bytes, options.file.name)


def named_kernel(options) -> kernels.GemmKernel:
    """A course kernel by its name, or the kernel in a file."""
    options.file = Path(options.kernel)
    if options.file.exists() or options.file.suffix == ".cu":
        return kernel_of(options)
    for option in ("entry", "like", "block", "tile", "shared_bytes"):
        if getattr(options, option):
            raise ValueError(f"{options.kernel} is no file; --{option.replace('_', '-')} is for files")
    return course_kernel(options.kernel)


def source_of(file: Path) -> str:
    """The text of a kernel file; ValueError where it is no text or holds no kernel."""
    try:
        source = kernels.read_source(file)
    except UnicodeDecodeError as error:
        raise ValueError(f"{file} is not UTF-8 text (byte {error.start + 1} is 0x{error.object[error.start]:02x}): "
                         "save it as UTF-8") from None
    if "__global__" not in source:
        raise ValueError(f"{file} has no kernel: no function is marked __global__")
    return source


def default_tile(block: tuple[int, ...]) -> tuple[int, int]:
    """Rows and columns of C for one element per thread: x walks columns, y rows."""
    return (block[1] if len(block) > 1 else 1), block[0]


def grid_of_tiles(tile: tuple[int, ...]):
    """The grid function of blocks that compute `tile` = (rows, columns) each."""
    if len(tile) != 2:
        raise ValueError(f"--tile takes two whole numbers, ROWS,COLS; got {','.join(map(str, tile))}")
    rows, columns = tile
    return lambda M, N: (closed_forms.blocks_along(N, columns), closed_forms.blocks_along(M, rows), 1)


def only_entry(source: str, file: Path) -> str:
    """The name of a file's kernel, if it has one alone."""
    from gemm_lab.compiler import entries
    names = entries(source)
    if not names:
        raise ValueError(f"{file} has no kernel that can be seen; give its name with --entry")
    if len(names) > 1:
        raise ValueError(f"{file} has {len(names)} kernels ({', '.join(names)}): choose one with --entry")
    return names[0]


def course_kernel(text: str) -> kernels.CourseKernel:
    """The kernel written as "SharedTiling(TILE=16)"; names and plain values only, nothing is evaluated."""
    problem = f"{text!r} is not a course kernel; write it as in Python: " + ", ".join(f"{k}()" for k in COURSE_KERNELS)
    try:
        call = ast.parse(text if "(" in text else f"{text}()", mode="eval").body
        name, values = call.func.id, {word.arg: ast.literal_eval(word.value) for word in call.keywords}
        positional = [ast.literal_eval(value) for value in call.args]
    except (SyntaxError, AttributeError, ValueError):
        raise ValueError(problem) from None
    if name not in COURSE_KERNELS:
        raise ValueError(problem)
    try:
        return getattr(kernels if hasattr(kernels, name) else ladder, name)(*positional, **values)
    except TypeError as error:
        raise ValueError(f"{text}: {error}") from None


def whole_numbers(text: str) -> tuple[int, ...]:
    """The argument type "16,16" or "16x16"."""
    try:
        numbers = tuple(int(part) for part in text.replace("x", ",").split(","))
    except ValueError:
        numbers = ()
    if not 1 <= len(numbers) <= 3 or min(numbers) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not one to three whole numbers, such as 16,16")
    return numbers
