"""The command `gemm-lab`: what this machine can do, a check or a run of a kernel, and the benchmark.

Exit status: 0 all is well; 1 a kernel failed, or something that the command needs is missing; 2 a wrong argument.
"""

from __future__ import annotations

import argparse
import os
import sys
from math import isfinite
from pathlib import Path

from gemm_lab import __version__
from gemm_lab.cli_kernels import add_geometry, check_shape, kernel_of, named_kernel, whole_numbers


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
    add_emulate(commands)
    add_bench(commands)
    add_tune(commands)
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
    add_geometry(sub)
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


# --- emulate

def add_emulate(commands) -> None:
    from gemm_lab.emulator.emulate import MODES
    sub = commands.add_parser(
        "emulate", help="run a kernel in the emulator once, and say what it counted and how fast that was",
        description="Runs a kernel with the course's signature on random matrices. Give the launch geometry of a file "
                    "with --like or with --block and --tile.")
    sub.add_argument("kernel", help='a .cu file, or a course kernel such as "SharedTiling(TILE=16)"')
    add_geometry(sub)
    sub.add_argument("--size", type=whole_numbers, default=(512, 512, 512), metavar="M,N,K",
                     help="default: 512,512,512")
    sub.add_argument("--beta", type=float, default=0.0, help="factor of the old C (default: 0)")
    sub.add_argument("--mode", choices=MODES[:3], default="count", help="default: count")
    sub.add_argument("--back-end", choices=("numpy", "llvm"), help="default: llvm where llvmlite is installed")
    sub.set_defaults(run=emulate)


def emulate(options) -> int:
    from gemm_lab.throughput import emulate_once
    check_shape(options.size, "--size")
    if options.back_end:    # for this process, which ends with the command
        os.environ["GEMM_LAB_EMULATOR"] = options.back_end
    done = emulate_once(named_kernel(options), options.size, options.beta, options.mode)
    print(done)
    return 0 if done.run.completed and not done.run.findings else 1


# --- bench

def add_bench(commands) -> None:
    from gemm_lab.benchmark import add_arguments, bench_command
    sub = commands.add_parser("bench", help="time every kernel and cuBLAS on this machine's GPU, and write a record")
    add_arguments(sub)
    sub.set_defaults(run=bench_command)


# --- tune

def add_tune(commands) -> None:
    from gemm_lab.tuning import add_arguments, tune_command
    sub = commands.add_parser("tune", help="find the fastest tile of a kernel on this machine's GPU, and keep a record")
    add_arguments(sub)
    sub.set_defaults(run=tune_command)


# --- release, grade

def add_instructor(commands) -> None:
    from gemm_lab.grading.command import add_grade, add_release
    add_release(commands)
    add_grade(commands)


if __name__ == "__main__":
    sys.exit(main())
