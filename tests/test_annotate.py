"""The annotated source, the source itself, comparisons of two sources, and machine code by line."""

from __future__ import annotations

from dataclasses import dataclass, replace
from xml.etree import ElementTree

import pytest

import gemm_lab as gl
from gemm_lab.annotate import Annotation
from gemm_lab.compiler.sass import opcode
from gemm_lab.counts import Counts
from gemm_lab.kernels import GemmKernel
from gemm_lab.run import Finding, Run

ZERO = Counts.zero()
SOURCE = """// two lines do something
__global__ void k(const float *A) {
    s[i] = A[i] < 3 ? A[i] : 0;  // <- a bracket & an ampersand
    acc += s[i] * s[j];
}"""
LOAD = replace(ZERO, global_load_words=1024, global_load_requests=32, global_load_sectors=128,
               global_load_wavefronts=32, shared_store_words=1024, shared_store_requests=32, shared_store_wavefronts=32)
MULTIPLY = replace(ZERO, fma=2048, shared_load_words=4096, shared_load_requests=128, shared_load_wavefronts=128)


def run(by_line, **more):
    return Run(None, sum(by_line.values(), ZERO), by_line, **more)


@dataclass
class StandIn(GemmKernel):
    """A kernel that does what it is told."""

    source: str = SOURCE
    label: str = "StandIn"
    entry: str = "k"
    block: tuple = (32, 1, 1)
    shared_bytes: int = 0

    def run(self, A, B, C=None, **options):
        self.received = (A, B, C, options)
        return run({3: LOAD, 4: MULTIPLY})


def parsed(view):
    """The HTML as a tree: it must be well-formed."""
    return ElementTree.fromstring(view._repr_html_().replace("<br>", "<br/>"))


def cells_of(row):
    return ["".join(cell.itertext()) for cell in row]


def body(view):
    return [cells_of(row) for row in parsed(view).find(".//tbody")]


def test_each_line_has_its_own_counts_and_the_total_all():
    rows = body(gl.annotate(StandIn(), 8, 8, 32))
    assert [row[0] for row in rows] == ["1", "2", "3", "4", "5"]
    assert rows[2][2:] == ["1,024", "32", "128", "32", "", "1,024", "32", "32", ""]
    assert rows[3][2:] == ["", "", "", "", "4,096", "", "128", "128", "2,048"]
    assert set(rows[0][2:]) == {""}
    foot = cells_of(parsed(gl.annotate(StandIn(), 8, 8, 32)).find(".//tfoot/tr"))
    assert foot == ["total", "1,024", "32", "128", "32", "4,096", "1,024", "160", "160", "2,048"]


def test_source_lines_keep_their_indentation_and_are_escaped():
    assert body(gl.annotate(StandIn(), 8, 8, 32))[2][1] == SOURCE.splitlines()[2]


def test_lines_that_did_nothing_are_there_but_quiet():
    quiet = [row.get("class") for row in parsed(gl.annotate(StandIn(), 8, 8, 32)).find(".//tbody")]
    assert quiet == ["gl-quiet", "gl-quiet", None, None, "gl-quiet"]


def test_headings_say_in_words_what_colours_say():
    tree = parsed(gl.annotate(StandIn(), 8, 8, 32))
    groups = tree.findall(".//th[@scope='colgroup']")
    assert [("".join(g.itertext()), int(g.get("colspan"))) for g in groups] == \
        [("global memory", 4), ("shared memory", 4), ("arithmetic", 1)]
    names = ["".join(th.itertext()) for th in tree.findall(".//thead/tr/th[@scope='col']")]
    assert names == ["line", "source", "wordsread", "requests", "sectors", "wavefronts", "wordsread", "wordswritten",
                     "requests", "wavefronts", "FMAs"]
    assert all(row[0].get("scope") == "row" for row in tree.find(".//tbody"))


def test_columns_of_a_memory_that_is_not_used_are_left_out():
    rows = body(Annotation("k", SOURCE, (1, 1, 1), run({4: replace(ZERO, fma=7)})))
    assert rows[3][2:] == ["7"]


def test_ratios_are_words_per_fma_and_the_rest_per_warp_fma():
    rows = body(gl.annotate(StandIn(), 8, 8, 32, per_fma=True))
    assert rows[2][2:6] == ["0.5", "0.5", "2", "0.5"]        # 1024/2048 words; 32, 128, 32 for 64 FMAs of a warp
    assert rows[3][-1] == "1"
    assert "per FMA of a warp" in gl.annotate(StandIn(), 8, 8, 32, per_fma=True).caption


def test_ratios_need_an_fma():
    with pytest.raises(ValueError, match="executed no FMA"):
        Annotation("k", SOURCE, (1, 1, 1), run({3: LOAD}), per_fma=True)


def test_the_caption_computes_its_sentence():
    assert gl.annotate(StandIn(), 8, 9, 32).caption == (
        "StandIn at M = 8, N = 9, K = 32: 2,048 FMAs; line 3 reads all 1,024 words that are read from global memory; "
        "line 4 reads all 4,096 words that are read from shared memory.")
    shared = Annotation("k", SOURCE, (1, 1, 1), run({3: LOAD, 4: LOAD})).caption
    assert "lines 3, 4 each read 1,024 of the 2,048 words" in shared
    unknown = Annotation("k", SOURCE, (1, 1, 1), run({3: LOAD, 4: LOAD}, ptx_lines=(4,))).caption
    assert "in line 4 requests and wavefronts of shared memory are those of the PTX" in unknown


def test_text_says_the_same_as_html():
    view = gl.annotate(StandIn(), 8, 8, 32)
    lines = repr(view).splitlines()
    assert lines[0] == view.caption
    assert next(line for line in lines if line.startswith("   4")).split()[-4:] == ["4,096", "128", "128", "2,048"]
    assert lines[-1].split() == ["total", "1,024", "32", "128", "32", "4,096", "1,024", "160", "160", "2,048"]


def test_two_runs_give_the_same_output():
    first, second = (gl.annotate(StandIn(), 8, 8, 32) for _ in range(2))
    assert (repr(first), first._repr_html_()) == (repr(second), second._repr_html_())


def test_a_part_of_the_source_with_the_totals_of_all():
    view = gl.annotate(StandIn(), 8, 8, 32, lines=(4, 5))
    assert [row[0] for row in body(view)] == ["4", "5"] and "1,024" in repr(view).splitlines()[-1]
    for bad in ((3, 2), (0, 2)):
        with pytest.raises(ValueError, match="lines is"):
            gl.annotate(StandIn(), 8, 8, 32, lines=bad)


def test_what_belongs_to_no_line_is_shown_too():
    rows = body(Annotation("k", SOURCE, (1, 1, 1), run({3: LOAD, 0: MULTIPLY, 99: MULTIPLY})))
    assert rows[-1][:2] == ["", "(not in this source)"] and rows[-1][-1] == "4,096"


def test_matrices_have_the_right_shapes_and_options_pass():
    kernel = StandIn()
    gl.annotate(kernel, 5, 7, 3)
    A, B, C, options = kernel.received
    assert (A.shape, B.shape, C) == ((5, 3), (3, 7), None) and options == {"backend": "emulator"}
    gl.annotate(kernel, 5, 7, 3, beta=0.5, schedule="warps")
    assert kernel.received[2].shape == (5, 7) and kernel.received[3]["schedule"] == "warps"


def test_findings_and_a_stopped_run_are_said():
    stopped = run({3: LOAD}, findings=(Finding("out-of-bounds", 3, "A[4] is outside"),), completed=False)
    view = Annotation("k", SOURCE, (1, 1, 1), stopped)
    assert "partial" in view.caption and "A[4] is outside" in repr(view) and "A[4] is outside" in view._repr_html_()


def test_a_run_without_counts_is_refused():
    with pytest.raises(ValueError, match="no counts"):
        Annotation("k", SOURCE, (1, 1, 1), Run(None))


# ---- the real emulator


def test_the_naive_kernel_reads_everything_in_one_line():
    kernel = gl.Naive()
    view = gl.annotate(kernel, 32, 64, 16)
    line = next(n for n, text in enumerate(kernel.source.splitlines(), 1) if "acc +=" in text)
    assert view.by_line[line].global_load_words == 2 * 32 * 64 * 16 == view.run.counts.global_load_words
    assert view.by_line[line].fma == 32 * 64 * 16
    assert f"line {line} reads all 65,536 words that are read from global memory" in view.caption
    assert "shared memory" not in repr(view)


def test_lines_add_up_to_the_totals():
    for kernel in (gl.SharedTiling(TILE=8), gl.RegisterTiling1D(BM=16, BN=16, BK=4, TM=4)):
        view = gl.annotate(kernel, 20, 19, 18, beta=0.5)
        assert sum(view.by_line.values(), ZERO) == view.run.counts


# ---- sources


def test_show_source_is_the_file_with_numbers():
    kernel = gl.Naive()
    rows = body(gl.show_source(kernel))
    assert [row[1].rstrip() for row in rows] == [line.rstrip() for line in kernel.source.splitlines()]
    assert [int(row[0]) for row in rows] == list(range(1, len(rows) + 1))
    assert repr(gl.show_source(kernel, (3, 4))).startswith("   3  //   C (M x N)")
    with pytest.raises(ValueError, match="lines is"):
        gl.show_source(kernel, (9, 2))


def test_a_difference_shows_only_what_changed():
    before = StandIn(source="\n".join("abcdefghij"))
    after = StandIn(source="\n".join("abcdEfghij"), label="Other")
    diff = gl.show_diff(before, after, context=1)
    assert [(d.sign, d.before, d.after, d.line) for d in diff.lines] == [
        ("@", None, None, "3 lines unchanged"), (" ", 4, 4, "d"), ("-", 5, None, "e"), ("+", None, 5, "E"),
        (" ", 6, 6, "f"), ("@", None, None, "4 lines unchanged")]
    assert diff.caption == "From StandIn to Other: 1 line removed, 1 added."
    marked = parsed(diff)
    assert [("".join(tag.itertext())) for tag in (*marked.iter("del"), *marked.iter("ins"))] == ["e", "E"]


def test_words_that_differ_are_marked():
    before, after = StandIn(source="acc += As[ty][k] * b;"), StandIn(source="acc += As[k][ty] * b;")
    marks = ["".join(mark.itertext()) for mark in parsed(gl.show_diff(before, after)).iter("mark")]
    assert marks and not {"acc", "b"} & set(marks)
    assert body(gl.show_diff(before, after))[0][2:] == ["−", "acc += As[ty][k] * b;"]


@pytest.mark.parametrize("context", [0, 1, 2, 50])
def test_a_difference_holds_both_sources(context):
    before, after = StandIn(source="\n".join("axbcdyef")), StandIn(source="\n".join("abcdefz"))
    lines = gl.show_diff(before, after, context).lines
    shown = sum(d.sign != "@" for d in lines if d.sign != "+")
    hidden = sum(int(d.line.split()[0]) for d in lines if d.sign == "@")
    assert shown + hidden == 8
    for d in lines:
        if d.sign in "- ":
            assert d.line == "axbcdyef"[d.before - 1]
        if d.sign in "+ ":
            assert d.line == "abcdefz"[d.after - 1]


def test_kernels_of_one_file_differ_in_their_settings():
    text = repr(gl.show_diff(gl.SharedTiling(TILE=32), gl.SharedTiling(TILE=16)))
    assert "the same source" in text and "shared_tiling<32, 0> → shared_tiling<16, 0>" in text and "16 x 16" in text


# ---- machine code


@pytest.mark.parametrize(("text", "name"), [("@!P0 LDS.128 R4, [R2+0x10]", "LDS.128"), ("FFMA R1, R2, R3, R1", "FFMA"),
                                            ("@P0 BRA `(.L_x_1)", "BRA")])
def test_opcodes(text, name):
    assert opcode(text) == name


def test_machine_code_of_the_tiled_kernel_by_line():
    kernel = gl.SharedTiling(TILE=32)
    line = next(n for n, text in enumerate(kernel.source.splitlines(), 1) if "acc +=" in text)
    view = gl.show_sass(kernel)
    row = next(row for row in body(view) if row[0] == str(line))
    assert "32 × LDS, 8 × LDS.128" in row and "32 × FFMA" in row        # ptxas merges four reads of A into one
    assert f"{line}  acc += As[ty][k] * Bs[k][tx];" in repr(view)
    assert view.totals["LDS.128"] == 8


def test_machine_code_of_one_line_is_listed():
    kernel = gl.SharedTiling(TILE=32)
    line = next(n for n, text in enumerate(kernel.source.splitlines(), 1) if "acc +=" in text)
    view = gl.show_sass(kernel, line=line, grep=r"LDS\.128")
    assert repr(view).count("LDS.128 R") == 8 and set(view.by_line) == {line}
    assert view._repr_html_().count("LDS.128 R") == 8
    with pytest.raises(ValueError, match="became no machine code"):
        gl.show_sass(kernel, line=1)


# ---- options


@pytest.mark.parametrize("backend", ["gpu", "emulator", None])
def test_annotate_chooses_the_backend_itself(backend):
    with pytest.raises(ValueError, match=f"^backend is {backend!r}; .*leave backend out"):
        gl.annotate(StandIn(), 8, 8, 32, backend=backend)


@pytest.mark.parametrize("name", ["A", "C", "lines_", "seed"])
def test_an_option_that_the_run_has_not_is_named(name):
    with pytest.raises(ValueError, match=f"no option '{name}'; it passes on alpha, beta, mode, schedule, step_limit"):
        gl.annotate(StandIn(), 8, 8, 32, **{name: 1})
