"""The command `gemm-lab`: what this machine can do, a check of a kernel file, and the benchmark.

Exit status: 0 all is well; 1 a kernel failed, or something that the command needs is missing; 2 a wrong argument.
"""

from __future__ import annotations

import argparse
import ast
import sys
from math import isfinite, prod
from pathlib import Path

from gemm_lab import __version__, closed_forms, kernels, launch

COURSE_KERNELS = ("Naive", "SharedTiling", "RegisterTiling1D")
MAX_ELEMENTS = 2**28    # of a matrix to check: 1 GB, and a check holds several, some of them in double precision


def main(words: list[str] | None = None) -> int:
    """Run the command line `words` (default: the program's own) and return the exit status."""
    from gemm_lab.compiler import CompileError
    options = build_parser().parse_args(words)
    try:
        return options.run(options)
    except (ValueError, OSError) as error:
        print(f"gemm-lab: {error}", file=sys.stderr)
        return 2
    except MemoryError:
        print("gemm-lab: there is not enough memory for this: choose smaller sizes", file=sys.stderr)
        return 2
    except (RuntimeError, CompileError) as error:  # NoGpu and NoCompiler say what to install
        print(f"gemm-lab: {error}", file=sys.stderr)
        return 1


def build_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="gemm-lab", description="Fast GPU matrix multiplication, explained.")
    parser.add_argument("--version", action="version", version=f"gemm-lab {__version__}")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    add_status(commands)
    add_check(commands)
    add_bench(commands)
    add_instructor(commands)
    return parser


def add_status(commands) -> None:
    sub = commands.add_parser("status", help="what runs here: compiler, emulator, GPU, recorded measurements")
    sub.set_defaults(run=status)


def status(options) -> int:
    import gemm_lab as gl
    print(gl.status())
    return 0


# --- check

def add_check(commands) -> None:
    sub = commands.add_parser(
        "check", help="check a CUDA kernel against float64 and for races, bounds and uninitialised values",
        description="Runs a kernel with the course's signature in the emulator on several shapes and says what is "
                    "wrong, with source lines. Give its launch geometry with --like or with --block and --tile.")
    sub.add_argument("file", type=Path, help="a .cu file")
    sub.add_argument("--entry", help='the kernel in it: "k", or "k<32>" for a template (default: the only one)')
    sub.add_argument("--like", metavar="KERNEL",
                     help='take grid, block and entry from a course kernel, such as "SharedTiling(TILE=16)"')
    sub.add_argument("--block", type=whole_numbers, metavar="X[,Y[,Z]]", help="threads in a block, such as 16,16")
    sub.add_argument("--tile", type=whole_numbers, metavar="ROWS,COLS",
                     help="elements of C that a block computes (default: one for each thread of --block)")
    sub.add_argument("--shared-bytes", type=int, default=0, metavar="N", help="dynamic shared memory of a block")
    sub.add_argument("--shape", type=whole_numbers, action="append", metavar="M,N,K", help="a size to try (repeatable)")
    sub.add_argument("--budget", type=budget, action="append", metavar="NAME=LIMIT",
                     help="a limit, such as shared_loads_per_fma=1.125 or registers=64 (repeatable)")
    sub.set_defaults(run=check)


def check(options) -> int:
    import gemm_lab as gl
    for shape in options.shape or ():
        check_shape(shape)
    verdict = gl.check(kernel_of(options), options.shape, dict(options.budget or ()))
    print(verdict.report())
    return 0 if verdict.passed else 1


def check_shape(shape: tuple[int, ...]) -> None:
    """ValueError unless a shape is (M, N, K) and a check of it can end."""
    if len(shape) != 3:
        raise ValueError(f"--shape takes three whole numbers, M,N,K; got {','.join(map(str, shape))}")
    M, N, K = shape
    if prod(shape) > launch.EMULATOR_MAX_FMA or max(M * K, K * N, M * N) > MAX_ELEMENTS:
        raise ValueError(f"--shape {M},{N},{K} is too large to check: it has {prod(shape):,} FMAs and up to "
                         f"{max(M * K, K * N, M * N):,} elements in a matrix; the emulator takes at most "
                         f"{launch.EMULATOR_MAX_FMA:,} FMAs and {MAX_ELEMENTS:,} elements")


def kernel_of(options) -> kernels.CudaGemm:
    """The kernel that the options of `check` describe."""
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
        return getattr(kernels, name)(*positional, **values)
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


def budget(text: str) -> tuple[str, float]:
    """The argument type "registers=64"."""
    name, _, limit = text.partition("=")
    try:
        number = float(limit)
    except ValueError:
        number = float("nan")
    if not isfinite(number):
        raise argparse.ArgumentTypeError(f"{text!r} is not NAME=LIMIT with a finite number, such as registers=64")
    return name, number


# --- bench

def add_bench(commands) -> None:
    from gemm_lab.benchmark import add_arguments, bench_command
    sub = commands.add_parser("bench", help="time every kernel and cuBLAS on this machine's GPU, and write a record")
    add_arguments(sub)
    sub.set_defaults(run=bench_command)


# --- release, grade

def add_instructor(commands) -> None:
    from gemm_lab.grading.command import add_grade, add_release
    add_release(commands)
    add_grade(commands)


if __name__ == "__main__":
    sys.exit(main())
