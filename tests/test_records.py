"""Records: arithmetic of a row, round trips, bad files, and those that ship."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

import gemm_lab as gl
from gemm_lab import records
from gemm_lab.records import (
    FFMA,
    WAVEFRONTS,
    CounterRow,
    Measurements,
    Row,
    joined,
    load,
    load_counters,
    recorded,
    recorded_counters,
    recorded_law,
    save_counters,
    source_hash,
)
from gemm_lab.records import files as record_files
from gemm_lab.tables import html_table
from tests.helpers import table_cells


def measurements(**more) -> Measurements:
    rows = (Row("Naive(coalesced=True)", 1000, 1000, 1000, 2.0, 0.1, 1.0, 25.0, 7, 1),
            Row("cuBLAS", 1000, 1000, 1000, 0.5, 0.02, 4.0, 100.0, 7, 2),
            Row("Naive(coalesced=True)", 130, 67, 45, 0.01, None, 0.0784, None))
    return Measurements(**{"rows": rows, "device": "NVIDIA H200", "driver": "580.65", "date": "2026-11-29",
                           "compute_capability": "9.0", "versions": {"cuBLAS": "13.1.0"}, "protocol": "as always",
                           "clocks": ({"size": [1000, 1000, 1000], "sm_mhz": 1980.0},),
                           "sources": {"Naive(coalesced=True)": source_hash(gl.Naive().source)}} | more)


# --- a row

def test_a_row_by_hand():
    # Sorted: 1 2 3 4 10. Median 3, quartiles 2 and 4. 2 * 100 * 200 * 300 FLOP in 3 ms are 4 GFLOPS = 0.004 TFLOPS.
    row = Row.of("k", (100, 200, 300), [10, 1, 3, 2, 4], cublas_ms=1.5, launches=8)
    assert (row.median_ms, row.spread_ms, row.samples, row.launches) == (3.0, 2.0, 5, 8)
    assert row.tflops == pytest.approx(0.004) and row.percent_of_cublas == pytest.approx(50.0)


@pytest.mark.parametrize("change", [{"M": 0}, {"K": 2.5}, {"kernel": 3}, {"median_ms": 0.0}, {"median_ms": "fast"},
                                    {"tflops": float("nan")}, {"tflops": float("inf")}])
def test_a_row_that_cannot_be(change):
    with pytest.raises(ValueError):
        replace(Row("k", 1, 1, 1, 1.0, None, 1.0, None), **change)


# --- measurements

def test_selections():
    m = measurements()
    assert m.kernels == ("Naive(coalesced=True)", "cuBLAS") and m.sizes == ((1000, 1000, 1000), (130, 67, 45))
    assert [r.kernel for r in m.select(size=1000).rows] == ["Naive(coalesced=True)", "cuBLAS"]
    assert m.select(gl.Naive()).rows == m.select("Naive(coalesced=True)").rows == (m.rows[0], m.rows[2])
    assert m.select(["cuBLAS"], [1000, (130, 67, 45)]).rows == (m.rows[1],)
    assert m.select(size=(130, 67, 45)).rows == (m.rows[2],)
    assert m.tflops("cuBLAS", 1000) == 4.0 and m.tflops(gl.Naive(), 130, 67, 45) == 0.0784


def test_what_was_not_measured_is_a_value_error():
    with pytest.raises(ValueError, match=r"SharedTiling\(TILE=32\) at 1000 was not measured on NVIDIA H200; .*cuBLAS"):
        measurements().tflops(gl.SharedTiling(), 1000)
    with pytest.raises(ValueError, match="neither a whole number"):
        measurements().select(size=(1, 2))


def test_the_table_computes_percent_of_peak_by_the_catalogue():
    m = measurements()
    assert m.peak_tflops == pytest.approx(66.9, abs=0.05)
    assert m.table()[1] == ("1000", "cuBLAS", "0.5", "0.02", "4.00", "100.0", f"{400 / m.peak_tflops:.1f}")
    assert m.table()[2] == ("130x67x45", "Naive(coalesced=True)", "0.01", "", "0.08", "", "0.1")
    for word in ("NVIDIA H200", "2026-11-29", "580.65", "% of peak", "cuBLAS", "130x67x45"):
        assert word in m._repr_html_() and word in str(m)
    assert repr(m) == "Measurements(NVIDIA H200, 2026-11-29: 2 kernels, 2 sizes)"
    assert measurements(device="Some GPU of tomorrow").table()[0][-1] == ""


def test_a_record_survives_the_file(tmp_path):
    m = measurements()
    again = load(m.save(tmp_path / "deep" / "record.json"))
    assert again == m and again.clocks == m.clocks
    assert json.loads((tmp_path / "deep" / "record.json").read_text())["format"] == records.files.FORMAT


def test_an_edited_kernel_is_stale_but_an_edited_comment_is_not():
    m = measurements()
    source = gl.Naive().source
    label = gl.Naive().label
    assert m.stale([gl.Naive(), gl.SharedTiling()]) == ()
    assert m.stale([gl.Naive().with_source("// a word\n" + source.replace("    ", "  "), label)]) == ()
    assert m.stale([gl.Naive().with_source(source.replace("++k", "k += 1"), label)]) == (label,)


def test_a_hash_keeps_texts_apart_from_comments():
    assert source_hash('f("// no comment") /* one */;') == source_hash('f("// no comment"); // another')
    assert source_hash('f("// a");') != source_hash('f("// b");')


def test_joining():
    m = measurements()
    rows = (replace(m.rows[0], tflops=9.0), Row("new", 8, 8, 8, 1.0, 0.1, 1.0, 50.0))
    other = replace(m, rows=rows, date="2026-12-01")
    both = joined([m, other])
    assert [r.kernel for r in both.rows] == [*(r.kernel for r in m.rows), "new"] and both.rows[0].tflops == 1.0
    assert both.date == "2026-11-29 and 2026-12-01" and len(both.clocks) == 2
    with pytest.raises(ValueError, match="do not join"):
        joined([m, replace(m, device="NVIDIA T4")])


# --- bad files

GOOD = json.dumps({"format": 1, "kind": "bench", "device": "d", "driver": "1", "date": "x", "rows": []})

BAD = [("not JSON {", "cannot be read"), ("[]", "not a record of kind"), ('{"kind": "counters"}', "not a record of"),
       (GOOD.replace('"format": 1', '"format": 2'), "format 2; this version of GEMM Lab reads format 1"),
       (GOOD.replace('"format": 1, ', ""), "format None"), (GOOD.replace('"device": "d", ', ""), "device"),
       (GOOD.replace('"rows": []', '"rows": 3'), "not a record of timings"),
       (GOOD.replace('"rows": []', '"rows": [{"kernel": "k"}]'), "not a record of timings"),
       (GOOD.replace('"rows": []', '"rows": [[1]]'), "not a record of timings"),
       (GOOD.replace('"rows": []', '"surprise": 1, "rows": []'), "surprise"),
       (GOOD.replace(', "rows": []', ""), "rows")]


@pytest.mark.parametrize("text, words", BAD)
def test_an_unreadable_record_is_one_clear_error(tmp_path, text, words):
    path = tmp_path / "record.json"
    path.write_text(text)
    with pytest.raises(ValueError, match=words) as error:
        load(path)
    assert str(path) in str(error.value)


def test_the_good_one_among_the_bad_is_good(tmp_path):
    (tmp_path / "record.json").write_text(GOOD)
    assert load(tmp_path / "record.json").rows == ()


def test_a_missing_record_and_bad_bytes(tmp_path):
    with pytest.raises(ValueError, match="cannot be read"):
        load(tmp_path / "nothing.json")
    (tmp_path / "bytes.json").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(ValueError, match="cannot be read"):
        load(tmp_path / "bytes.json")


# --- counters

def counter_row(**more) -> CounterRow:
    return CounterRow(**{"kernel": "k", "M": 2, "N": 3, "K": 4, "beta": 0.5, "counters": {FFMA: 3200, WAVEFRONTS: 163},
                         "source": source_hash(gl.Naive().source)} | more)


def test_w_by_hand():
    assert counter_row().wavefronts_per_warp_fma == pytest.approx(1.63)    # 3200 FMAs are 100 of a warp
    assert counter_row(counters={FFMA: 3200}).wavefronts_per_warp_fma is None
    assert counter_row(counters={WAVEFRONTS: 1}).wavefronts_per_warp_fma is None
    assert not counter_row().stale(gl.Naive()) and counter_row().stale(gl.SharedTiling())


def test_counters_survive_the_file(tmp_path):
    rows = [counter_row(), counter_row(kernel="other")]
    path = save_counters(tmp_path / "c.json", rows, {"device": "NVIDIA H200", "missing_metrics": ["x"]})
    assert load_counters(path) == rows
    with pytest.raises(ValueError, match="not a record of kind 'bench'"):
        load(path)
    path.write_text(path.read_text().replace('"kernel"', '"colonel"'))
    with pytest.raises(ValueError, match="not a record of counters"):
        load_counters(path)


# --- what ships

@pytest.fixture
def folder(monkeypatch, tmp_path):
    monkeypatch.setattr(record_files, "FOLDER", tmp_path)
    return tmp_path


def test_the_law_of_the_ladder_by_hand():
    """813.5 million wavefronts x 32 lanes / 4096^3 FMAs = 0.379; 16.73 / 0.379 = 44.1 TFLOPS."""
    row = recorded_law("H200", "ladder")[gl.RegisterTiling2D()]
    assert (row.w, row.cap_tflops) == (pytest.approx(0.379, abs=0.001), pytest.approx(44.1, abs=0.1))
    with pytest.raises(ValueError, match="no law of 'bench'; there is one of 'law' and 'ladder'"):
        recorded_law("H200", "bench")


def test_stalls_are_read_from_the_counters():
    stalls = gl.recorded_stalls("H200")
    counters = {row.kernel: row.counters for row in recorded_counters("H200", "laddercounters")}
    assert [row.kernel for row in stalls] == list(counters)
    for row in stalls:
        assert counters[row.kernel]["smsp__average_warps_issue_stalled_barrier_per_issue_active.ratio"] == row.barrier
        assert 1 < row.instructions_per_fma < 2.1 and 12 < row.active_warps < 75
    assert "long scoreboard" in repr(stalls) and stalls.select(gl.WarpTiling()).rows == (stalls[gl.WarpTiling()],)


def test_goals_by_hand():
    """cuBLAS 2683.46 us over 2627.55 us in run 2; 2 * 4096^3 FLOP in 2627.55 us are 52.31 TFLOPS."""
    goals = gl.recorded_goals("H200")
    row = goals[4096]
    assert row.ratio == min(row.ratios) == pytest.approx(2683.46 / 2627.55, abs=0.001)
    assert row.tflops == pytest.approx(52.31, abs=0.01)
    assert len(goals.rows) == 20 and all(len(r.ratios) == 2 for r in goals) and "4096x256x4096" in repr(goals)
    ours, theirs = (goals.measurements.row(label, 4096) for label in ("gl.best", "cuBLAS"))
    assert theirs.median_ms / ours.median_ms == pytest.approx(2.68346 / 2.62755, abs=1e-5)
    assert ours.percent_of_cublas == 100 * row.ratio    # the median of the ratios
    with pytest.raises(ValueError, match="777 was not measured; sizes: 512, 1024"):
        goals[777]


def test_shipped_records_are_found_by_any_spelling(folder):
    with pytest.raises(ValueError, match="no record 'bench' of 'H200' ships; there are records of no device"):
        recorded("H200")
    measurements().save(folder / record_files.record_name("bench", "NVIDIA H200"))
    assert recorded() == recorded("h200") == recorded("NVIDIA H200") == measurements()
    with pytest.raises(ValueError, match="'T4' ships; there are records of H200"):
        recorded("T4")
    for device in (None, 3):
        with pytest.raises(ValueError, match="named by texts"):
            recorded(device)
    with pytest.raises(ValueError, match="no record 'counters'"):
        recorded_counters("H200")


def test_the_law_pairs_times_with_counters(folder):
    measurements(rows=(Row("k", 2, 3, 4, 1.0, 0.1, 5.0, 10.0),)).save(folder / "law_h200.json")
    save_counters(folder / "wavefronts_h200.json", [counter_row(), counter_row(counters={})], {})
    row, = recorded_law("H200")
    assert (row.kernel, row.M, row.N, row.K, row.tflops) == ("k", 2, 3, 4, 5.0)
    assert row.w == pytest.approx(1.63) and row.cap_tflops == pytest.approx(16.73 / 1.63, rel=1e-3)


def test_the_law_is_a_table_to_choose_from():
    law = recorded_law("H200")
    tiled, naive = gl.SharedTiling(32), gl.Naive(False)
    assert law[tiled].kernel == tiled.label and law[tiled].share == law[tiled].tflops / law[tiled].cap_tflops
    assert [row.kernel for row in law.select([tiled, naive], size=4096)] == [tiled.label, naive.label]
    assert [row.K for row in law.select(naive)] == [4096, 4104, 2004]
    shown = law.select(tiled)
    assert all(f"{law[tiled].w:.2f}" in text and law.date in text for text in (repr(shown), shown._repr_html_()))
    with pytest.raises(ValueError, match="nobody is not in this table; it has Naive"):
        law["nobody"]


@pytest.mark.parametrize("experiment", ["bench", "law"])
def test_shipped_timings_are_consistent(experiment):
    for device in records.shipped_devices(experiment):
        shipped = recorded(device, experiment)
        assert shipped.rows and shipped.peak_tflops and shipped.protocol and shipped.driver
        for row in shipped.rows:
            assert row.tflops == pytest.approx(2 * row.M * row.N * row.K / row.median_ms / 1e9)
            assert row.tflops < shipped.peak_tflops and row.samples >= 5
            cublas = shipped.row("cuBLAS", *row.size)
            assert row.percent_of_cublas == pytest.approx(100 * cublas.median_ms / row.median_ms)


@pytest.mark.parametrize("experiment", ["counters", "wavefronts"])
def test_shipped_counters_are_consistent(experiment):
    for device in records.shipped_devices(experiment):
        for row in recorded_counters(device, experiment):
            assert all(value >= 0 for value in row.counters.values())
            assert row.counters[FFMA] >= row.M * row.N * row.K    # zero-filled tile elements and the epilogue add some


def test_the_h200_ships_with_todays_kernels():
    from benchmarks.h200 import counted_kernels, law_kernels
    from gemm_lab.benchmark import course_kernels
    shipped = recorded("H200")
    assert {k.label for k in course_kernels()} | {"cuBLAS"} == set(shipped.kernels)
    assert shipped.stale(course_kernels()) == (), "measure again: benchmarks/h200.py"
    assert recorded("H200", "law").stale(law_kernels()) == (), "measure again: benchmarks/h200.py"
    kernels = {k.label: k for k in law_kernels() + counted_kernels()}
    for row in recorded_counters("H200") + recorded_counters("H200", "wavefronts"):
        assert not row.stale(kernels[row.kernel]), "measure again: benchmarks/h200.py"


def test_no_kernel_passes_its_cap():
    for device in records.shipped_devices("law"):
        for row in recorded_law(device):
            assert row.tflops < row.cap_tflops


def test_words_are_set_left_and_numbers_right():
    table = html_table(("kernel", "TFLOPS"), [("naive", "1,024.5"), ("tiled", "8")])
    assert '<td style="text-align: left">naive</td><td>1,024.5</td>' in table
    assert table_cells(table) == [["kernel", "TFLOPS"], ["naive", "1,024.5"], ["tiled", "8"]]


# --- what a record must not hold

NOT_NUMBERS = ["fast", [1], {}, True, float("nan"), float("inf")]


@pytest.mark.parametrize("name", ["spread_ms", "percent_of_cublas", "samples", "launches"])
@pytest.mark.parametrize("bad", [*NOT_NUMBERS, -1])
def test_every_number_of_a_timing_is_one(name, bad, tmp_path):
    record = json.loads(measurements().save(tmp_path / "r.json").read_text())
    record["rows"][0][name] = bad
    (tmp_path / "r.json").write_text(json.dumps(record))
    with pytest.raises(ValueError, match=f"r.json is not a record of timings: {name} of Naive.* a finite number"):
        load(tmp_path / "r.json")


@pytest.mark.parametrize("name", ["device", "driver", "date", "compute_capability", "protocol"])
def test_every_text_of_a_record_is_one(name):
    with pytest.raises(ValueError, match=f"{name} is 3; it must be a text"):
        measurements(**{name: 3})


@pytest.mark.parametrize("change", [{"M": "8"}, {"K": 0}, {"kernel": None}, {"source": 3}, {"counters": [1]},
                                    *({"beta": bad} for bad in NOT_NUMBERS),
                                    *({"counters": {FFMA: bad}} for bad in [*NOT_NUMBERS, None, -1])])
def test_a_counter_row_that_cannot_be(change, tmp_path):
    row = CounterRow("k", 1, 1, 1, 0.0, {FFMA: 1})
    with pytest.raises(ValueError):
        replace(row, **change)
    path = save_counters(tmp_path / "c.json", [row], {})
    record = json.loads(path.read_text())
    path.write_text(json.dumps(record | {"rows": [record["rows"][0] | change]}))
    with pytest.raises(ValueError, match="c.json is not a record of counters"):
        load_counters(path)


@pytest.mark.parametrize("read", [load, load_counters])
@pytest.mark.parametrize("opening", ["[", '{"a":'])
def test_json_nested_deeply_is_no_record(read, opening, tmp_path):
    (tmp_path / "deep.json").write_text(opening * 200_000)
    with pytest.raises(ValueError, match="deep.json is not a record: its JSON is nested too deeply"):
        read(tmp_path / "deep.json")


def test_a_record_is_not_saved_over_a_folder_nor_below_a_file(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(ValueError, match=r"is a folder; a record is a file, such as .*bench.json"):
        measurements().save(tmp_path)
    with pytest.raises(ValueError, match="r.json cannot be written: "):
        measurements().save(tmp_path / "file" / "r.json")


@pytest.mark.parametrize("ask", [lambda m: m.row(None, 1000), lambda m: m.tflops(3, 1000),
                                 lambda m: m.select(gl.Naive), lambda m: recorded_law()[None]])
def test_rows_are_asked_for_by_kernels_or_labels(ask):
    with pytest.raises(ValueError, match="it must be a kernel such as"):
        ask(measurements())
