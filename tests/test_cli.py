"""The command line: what it prints, and its exit status."""

from __future__ import annotations

import re
import subprocess
import sys
from importlib.util import find_spec

import pytest

from gemm_lab import __version__, cli, cli_kernels, kernels
from gemm_lab.compiler import NoCompiler
from gemm_lab.gpu import NoGpu

SHAPE = ["--shape", "5,6,7"]
GOOD = """
__global__ void mine(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C)
{
    const int row = blockIdx.y * blockDim.y + threadIdx.y, col = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= M || col >= N) return;
    float sum = 0.0f;
    for (int k = 0; k < K; ++k) sum += A[row * K + k] * B[k * N + col];
    C[row * N + col] = alpha * sum + (beta == 0.0f ? 0.0f : beta * C[row * N + col]);
}
"""
OTHER = "__global__ void other(float *a) { a[0] = 1.0f; }\n"


@pytest.fixture(autouse=True)
def own_environment(monkeypatch):
    """A command may choose the back end for its process."""
    monkeypatch.setenv("GEMM_LAB_EMULATOR", "")


@pytest.fixture
def source(tmp_path):
    """A function that writes a .cu file and gives its path."""
    def write(text):
        path = tmp_path / "mine.cu"
        path.write_text(text)
        return str(path)
    return write


def test_the_module_runs_as_a_program():
    words = [sys.executable, "-m", "gemm_lab.cli", "--version"]
    assert subprocess.run(words, capture_output=True, text=True, check=True).stdout == f"gemm-lab {__version__}\n"


def test_status_names_compiler_and_gpu(capsys):
    assert cli.main(["status"]) == 0
    text = capsys.readouterr().out
    assert "NVRTC" in text and "GPU" in text


def test_a_right_kernel_passes(source, capsys):
    assert cli.main(["check", source(GOOD), "--block", "4,4", *SHAPE]) == 0
    assert capsys.readouterr().out.startswith("mine.cu: passed")


def test_a_wrong_kernel_fails_with_its_report(source, capsys):
    assert cli.main(["check", source(GOOD.replace("A[row * K + k]", "A[row * K]")), "--block", "4,4", *SHAPE]) == 1
    assert "wrong-values" in capsys.readouterr().out


def test_a_source_that_does_not_compile_fails_with_its_line(source, capsys):
    assert cli.main(["check", source(GOOD.replace("float sum", "float sun")), "--block", "4,4", *SHAPE]) == 1
    text = capsys.readouterr().out
    assert "compile-error" in text and "sum" in text


def test_like_takes_geometry_and_entry_from_a_course_kernel(capsys):
    path = kernels.kernel_file("02_shared_tiling.cu")
    assert cli.main(["check", str(path), "--like", "SharedTiling(TILE=8)", *SHAPE]) == 0


def test_a_run_shows_its_throughput(source, capsys):
    """A course kernel, and a file: how many FMAs, and of instructions no fewer."""
    for words in (["SharedTiling(TILE=8)"], [source(GOOD), "--block", "4,4", "--back-end", "numpy"]):
        assert cli.main(["emulate", *words, "--size", "20,30,40"]) == 0
        first, fma, instructions = capsys.readouterr().out.splitlines()
        assert "20 x 30 x 40, mode count" in first and "completed" in first
        done, speed = (float(n.replace(",", "")) for n in re.search(r"([\d,]+) multiply-adds +([\d.,]+)", fma).groups())
        assert done == 20 * 30 * 40 and speed > 0
        assert int(re.search(r"([\d,]+) instructions", instructions)[1].replace(",", "")) > done


def test_a_run_names_its_back_end_and_its_mode(monkeypatch, capsys):
    monkeypatch.setenv("GEMM_LAB_EMULATOR", "numpy")
    assert cli.main(["emulate", "Naive", "--size", "4,4,4", "--mode", "values", "--beta", "2"]) == 0
    text = capsys.readouterr().out
    assert "mode values, numpy back end" in text and "instructions" not in text


def test_a_run_that_is_stopped_says_why(source, capsys):
    path = source(GOOD.replace("B[k * N + col]", "B[k * N + col + 9999999]"))
    assert cli.main(["emulate", path, "--block", "4,4", "--size", "4,4,4"]) == 1
    assert "stopped" in (text := capsys.readouterr().out) and "out-of-bounds" in text and "multiply-adds" not in text


@pytest.mark.parametrize("words, message", [
    (["Nonsense"], "not a course kernel"), (["missing.cu"], "missing.cu"),
    (["Naive", "--block", "4"], "--block is for files"),
    (["Naive", "--size", "4"], "--size takes three"), (["Naive", "--size", "99999,99999,99999"], "--size 99999")])
def test_a_run_that_cannot_start_is_one_clear_line(words, message, capsys):
    assert cli.main(["emulate", *words]) == 2
    text = capsys.readouterr().err
    assert text.startswith("gemm-lab: ") and message in text and text.count("\n") == 1


@pytest.mark.parametrize("text, kernel", [
    ("Naive", kernels.Naive()), ("Naive(coalesced=False)", kernels.Naive(coalesced=False)),
    ("SharedTiling(16)", kernels.SharedTiling(TILE=16)), ("Naive(block=(8, 32))", kernels.Naive(block=(8, 32)))])
def test_course_kernels_are_written_as_in_python(text, kernel):
    assert cli_kernels.course_kernel(text) == kernel


@pytest.mark.parametrize("tile, grid", [((4, 8), (3, 5, 1)), ((20, 20), (1, 1, 1))])
def test_a_tile_is_rows_by_columns(tile, grid):
    assert cli_kernels.grid_of_tiles(tile)(20, 20) == grid


def test_a_budget_that_is_exceeded_fails(source, capsys):
    words = ["check", source(GOOD), "--block", "4,4", *SHAPE, "--budget", "global_load_words=10"]
    assert cli.main(words) == 1
    assert "over-budget" in capsys.readouterr().out


@pytest.mark.parametrize("words, message", [
    (["missing.cu", "--block", "4"], "missing.cu"),
    (["FILE"], "--block 16,16"),
    (["FILE", "--block", "2000"], "2000 threads"),
    (["FILE", "--block", "4,4", "--entry", "none"], "mine"),
    (["FILE", "--block", "4,4", "--tile", "4"], "ROWS,COLS"),
    (["FILE", "--block", "4,4", "--like", "Naive()"], "--like already"),
    (["FILE", "--like", "__import__('os')"], "write it as in Python"),
    (["FILE", "--like", "SharedTiling(TILES=3)"], "TILES"),
    (["FILE", "--like", "SharedTiling(TILE=33)"], "1089 threads"),
    (["FILE", "--block", "4,4", "--shape", "5,6"], "M,N,K"),
    (["FILE", "--block", "4,4", "--budget", "nonsense=1", *SHAPE], "nonsense"),
])
def test_a_wrong_argument_is_one_clear_line(words, message, source, capsys):
    path = source(GOOD)
    assert cli.main(["check", *(path if word == "FILE" else word for word in words)]) == 2
    text = capsys.readouterr().err
    assert text.startswith("gemm-lab: ") and message in text


def test_two_kernels_need_an_entry(source, capsys):
    assert cli.main(["check", source(GOOD + OTHER), "--block", "4,4"]) == 2
    assert "mine, other" in capsys.readouterr().err
    assert cli.main(["check", source(GOOD + OTHER), "--block", "4,4", "--entry", "mine", *SHAPE]) == 0


@pytest.mark.parametrize("words", [
    ["check", "f", "--block", "0"], ["check", "f", "--block", "a,b"], ["check", "f", "--budget", "registers"],
    ["bench", "--sizes", "0"], [], ["dance"]])
def test_an_unreadable_argument_ends_with_the_usage(words, capsys):
    with pytest.raises(SystemExit) as ended:
        cli.main(words)
    assert ended.value.code == 2
    assert "usage: gemm-lab" in capsys.readouterr().err


@pytest.mark.parametrize("error", [NoGpu("no GPU here: install one"), NoCompiler("no NVRTC: pip install it")])
def test_what_is_missing_is_one_line_and_status_1(error, monkeypatch, capsys):
    def fail(options):
        raise error
    monkeypatch.setattr(cli, "status", fail)
    assert cli.main(["status"]) == 1
    assert capsys.readouterr().err == f"gemm-lab: {error}\n"


def test_a_file_that_is_no_text_is_named(tmp_path, capsys):
    path = tmp_path / "latin.cu"
    path.write_bytes(b"// \xe9t\xe9\n" + GOOD.encode())
    assert cli.main(["check", str(path), "--block", "4,4", *SHAPE]) == 2
    assert capsys.readouterr().err == f"gemm-lab: {path} is not UTF-8 text (byte 4 is 0xe9): save it as UTF-8\n"


@pytest.mark.parametrize("text", ["", "\n", "int f() { return 1; }", "// nothing"])
@pytest.mark.parametrize("how", [["--block", "4,4"], ["--block", "4,4", "--entry", "k"], ["--like", "Naive"]])
def test_a_file_without_a_kernel_says_so(text, how, source, capsys):
    path = source(text)
    assert cli.main(["check", path, *how, *SHAPE]) == 2
    assert capsys.readouterr().err == f"gemm-lab: {path} has no kernel: no function is marked __global__\n"


@pytest.mark.parametrize("name, says", [("bogus", "GEMM_LAB_EMULATOR is 'bogus'"),
                                        ("", "llvm back end" if find_spec("llvmlite") else "numpy back end"),
                                        ("numpy", "numpy back end")])
def test_status_knows_the_back_ends(name, says, monkeypatch, capsys):
    monkeypatch.setenv("GEMM_LAB_EMULATOR", name)
    assert cli.main(["status"]) == 0
    line = next(line for line in capsys.readouterr().out.splitlines() if "Emulator" in line)
    assert says in line and "bogus back end" not in line


@pytest.mark.parametrize("shape", ["99999,99999,99999", "300000,300000,1", "1,300000,300000", "300000,1,300000"])
def test_a_shape_that_is_too_large_is_refused_before_its_matrices_are_made(shape, source, capsys):
    assert cli.main(["check", source(GOOD), "--block", "4,4", "--shape", shape]) == 2
    text = capsys.readouterr().err
    assert text.startswith(f"gemm-lab: --shape {shape} is too large to check") and text.count("\n") == 1


def test_too_little_memory_is_one_line(monkeypatch, capsys):
    def fail(options):
        raise MemoryError
    monkeypatch.setattr(cli, "status", fail)
    assert cli.main(["status"]) == 2
    assert capsys.readouterr().err == "gemm-lab: there is not enough memory for this: choose smaller sizes\n"


@pytest.mark.parametrize("limit", ["nan", "inf", "-inf", "NaN", "", "many"])
def test_a_budget_is_a_finite_number(limit, capsys):
    with pytest.raises(SystemExit):
        cli.main(["check", "f", "--block", "4", "--budget", f"registers={limit}"])
    assert "is not NAME=LIMIT with a finite number" in capsys.readouterr().err
