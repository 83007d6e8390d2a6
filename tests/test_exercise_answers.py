"""What a student wrote is read as data: arithmetic, literals, regions of a text. Nothing of it is ever executed."""

from __future__ import annotations

import math
import time

import pytest

import gemm_lab as gl
from gemm_lab.exercises import regions
from gemm_lab.exercises.answers import has_function, read_answer
from gemm_lab.exercises.expressions import Unreadable, evaluate, names_in

# --- arithmetic

SIZES = {"M": 7, "N": 5, "K": 3}


@pytest.mark.parametrize("text, value", [
    ("2*M*N*K", 210), ("M·N × K − 1", 104), ("-(-N // 2)", 3), ("ceil(N/2)*M", 21), ("math.ceil(7/2)", 4),
    ("N % 2 + N**2", 26),
    ("max(M, N) - min(M, N)", 2), ("gcd(12, 8)", 4), ("1e-3 * 6.5", 0.0065), ("(M + N) / (M*N)", 12 / 35),
    ("sqrt(16)", 4)])
def test_arithmetic(text, value):
    assert math.isclose(evaluate(text, SIZES), value)


@pytest.mark.parametrize("text, says", [
    ("2MNK", "no arithmetic"), ("2*MNK", r"write M\*N\*K"), ("2*L", "'L' is unknown"), ("M^2", r"\*\*"),
    ("", "no arithmetic"),
    ("M if N else K", "cannot be read"), ("[M]", "cannot be read"), ("'7'", "no number"), ("True", "no number"),
    ("1/0", "zero"),
    ("1j", "no number"), ("ceil(M, N)", "no number"), ("ceil(x=M)", "cannot be read"), ("open('x')", "no function"),
    ("__import__('os')", "no function"), ("M.__class__", "cannot be read"), ("np.load(M)", "no function"),
    ("(lambda: 1)()", "no function"), ("sqrt(-1)", "no number"), ("1e999", "too large"),
    ("1+" * 300 + "1", "characters")])
def test_anything_else_is_refused_with_a_reason(text, says):
    with pytest.raises(Unreadable, match=says):
        evaluate(text, SIZES)


@pytest.mark.parametrize("text", ["9**9**9**9", "2**65", "(((9**60)**60)**60)", "10**64 * 10**64",
                                  "(" * 200 + "1" + ")" * 200,
                                  "-" * 490 + "1", "max(" * 120 + "1"])
def test_a_formula_can_neither_take_time_nor_memory(text):
    start = time.perf_counter()
    try:
        evaluate(text)
    except Unreadable:
        pass
    assert time.perf_counter() - start < 1


def test_the_names_of_a_formula():
    assert names_in("ceil(M/2) + max(N, 3)") == {"M", "N"}


# --- cells

@pytest.mark.parametrize("source, answer", [
    ("a = 32 / 8 + 1", 5), ("a = 'M*N'", "M*N"), ("a = None", None), ("b = 3", None), ("a = 1\na = 2", 2), ("", None),
    ("lines = 4\na = 2 * lines", 8), ("a: int = 3", 3), ("%%time\na = 3", 3), ("!ls\na = -3", -3),
    ("a = {3, 5}", [3, 5]),
    ("a = ([0, 1], [1, 0])", [[0, 1], [1, 0]]), ('a = """\nint x;\n"""', "\nint x;\n"), ("a = ('M', 'N')", ["M", "N"]),
    ("import math\na = math.ceil(3.2)", 4), ("print('right')\na = 3", 3),
    ("a = gl.SharedTiling(TILE=16)", gl.SharedTiling(16)), ("a = SharedTiling(16)", gl.SharedTiling(16))])
def test_an_answer_is_read_from_its_cell(source, answer):
    assert read_answer(source, "a") == answer


@pytest.mark.parametrize("source", [
    "a = open('/etc/passwd').read()", "a = __import__('os').system('true')", "a = f'{3}'", "a = [x for x in (1, 2)]",
    "a = b",
    "a = (lambda: 3)()", "a = 'x' * 10**9", "a = 3 if True else 4", "a = gl.SharedTiling(TILE=99)", "a = Exploit()",
    "a = gl.SharedTiling(TILE=print(3))", "a =", "a = " + "[" * 250 + "]" * 250, "a = [" + "1," * 2000 + "]",
    "a = 1" + " " * 200_000,
    "a = {'x': 3}", "a = b'text'", "a = '\\ud800'.encode()", "a = \0"])
def test_what_is_no_literal_is_refused_and_never_run(source, capsys):
    with pytest.raises(Unreadable):
        read_answer(source, "a")
    assert capsys.readouterr().out == ""


def test_a_function_is_seen_and_not_run(capsys):
    assert has_function("def f(x):\n    return x", "f")
    assert not has_function("f = 3", "f") and not has_function("def g(): pass\nprint('run')", "f")
    assert capsys.readouterr().out == ""


# --- regions

TEXT = """a
    // ### BEGIN SOLUTION #error "About 1 line"
    b
    // ### END SOLUTION
c
### BEGIN SOLUTION x = None
x = 3
### END SOLUTION
### BEGIN HIDDEN TESTS
secret
### END HIDDEN TESTS
d"""


def test_solutions_become_stubs_and_hidden_tests_vanish():
    assert regions.stripped(TEXT) == 'a\n    #error "About 1 line"\nc\nx = None\nd'
    assert regions.fixed(TEXT) == ["a", "c", "d"]
    assert regions.stubs(TEXT) == ['#error "About 1 line"', "x = None"]


@pytest.mark.parametrize("text", [
    "### BEGIN SOLUTION", "### END SOLUTION", "### BEGIN SOLUTION\n### BEGIN SOLUTION\n### END SOLUTION",
    "### BEGIN SOLUTION\n### END HIDDEN TESTS", "### BEGIN HIDDEN TESTS\n### END SOLUTION"])
def test_odd_markers_are_an_error(text):
    with pytest.raises(ValueError, match="region"):
        regions.stripped(text)


def test_a_bug_is_planted_in_one_line():
    text = regions.planted("a;\n  if (x < 3) b;\nc;", "x < 3", "x > 3")
    assert regions.stripped(text) == "a;\n  if (x > 3) b;\nc;"
    assert [line for line in text.split("\n") if "###" not in line] == ["a;", "  if (x < 3) b;", "c;"]
    with pytest.raises(ValueError, match="2 lines"):
        regions.planted("x\nx", "x", "y")


@pytest.mark.parametrize("answer, changed", [
    ("int a;  // mine\n\n  NEW\n int   b;\nint c;", None), ("int a; NEW int b; int c;", None),
    ("int a;\nint d;\nint c;", "int b;"), ("int a; // \\\nint b;\nint c;", "int b;"),
    ("int b;\nNEW\nint a;\nint c;", "int a;"), ("int a;\nint b;", "int c;")])
def test_a_changed_skeleton_is_found(answer, changed):
    assert regions.first_changed(answer, ["int a;", "int b;\nint c;"]) == changed


@pytest.mark.parametrize("answer, count", [
    ("a;\nb;\nc;", 0), ("a;  // same\n\n b ;\nc;", 0), ("a;\nX;\nc;", 1), ("a;\nc;", 1), ("a;\nb;\nX;\nY;\nc;", 2),
    ("X;\nY;\nZ;", 3)])
def test_changed_lines_are_counted(answer, count):
    assert regions.changed_lines(answer, "a;\nb;\nc;") == count
