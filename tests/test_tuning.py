"""The tuner: what it tries and leaves out, that it goes on where it ended, and that it replays without a GPU."""

from __future__ import annotations

import pytest

import gemm_lab as gl
from gemm_lab import gpu, tuning
from gemm_lab.gpu.detect import Device
from gemm_lab.records import CUBLAS, Measurements, Row, load, source_hash

H200 = Device("NVIDIA H200", "9.0", 132, 2**37, 60 * 2**20, "580.1", "13.0", "13.0", "14.0")
TILES = {"TILE": (8, 16, 33)}    # 33 x 33 threads are too many


@pytest.fixture
def bench(monkeypatch):
    """A machine whose GPU needs a millisecond for each kernel, and the list of what was timed there."""
    timed = []

    def benchmark(kernels, sizes, *, seconds, progress):
        timed.extend((kernel.label, size) for kernel in kernels for size in sizes)
        rows = [Row(label, *size, 1.0 + len(label), 0.0, 1.0, 100.0)
                for size in sizes for label in (*(k.label for k in kernels), CUBLAS)]
        return Measurements(tuple(rows), H200.name, H200.driver, "2026-01-01",
                            sources={k.label: source_hash(k.source) for k in kernels})
    monkeypatch.setattr(tuning, "benchmark", benchmark)
    monkeypatch.setattr(gpu, "available", lambda: True)
    monkeypatch.setattr(gpu, "device", lambda: H200)
    monkeypatch.setattr(tuning, "SPACES", {gl.SharedTiling: TILES})
    return timed


def test_every_tile_that_its_class_accepts_is_measured_at_every_size(bench):
    done = gl.tune(gl.SharedTiling, [64, (32, 16, 8)], progress=False)
    assert {(label, size) for label, size in bench} == {
        (gl.SharedTiling(tile).label, size) for tile in (8, 16) for size in [(64, 64, 64), (32, 16, 8)]}
    assert done.ranking(64).kernels == ("SharedTiling(TILE=8)", "SharedTiling(TILE=16)")


def test_it_shows_the_fastest_tiles_of_every_size(bench):
    shown = repr(gl.tune(gl.SharedTiling, [64, (32, 16, 8)], progress=False))
    assert shown.count("SharedTiling(TILE=8)") == 2 and "32x16x8" in shown


def test_a_run_goes_on_where_the_last_one_ended(bench, tmp_path):
    path = tmp_path / "tuning.json"
    gl.tune(gl.SharedTiling, 64, path=path, progress=False)
    bench.clear()
    gl.tune(gl.SharedTiling, [64, 32], path=path, progress=False)
    assert {size for _, size in bench} == {(32, 32, 32)} and len(bench) == 2
    assert set(load(path).sizes) == {(64, 64, 64), (32, 32, 32)}


def test_what_was_interrupted_is_kept(bench, tmp_path, monkeypatch):
    path, whole = tmp_path / "tuning.json", tuning.benchmark
    monkeypatch.setattr(tuning, "GROUP", 1)

    def stopping(kernels, sizes, **options):
        if bench:
            raise KeyboardInterrupt
        return whole(kernels, sizes, **options)
    monkeypatch.setattr(tuning, "benchmark", stopping)
    with pytest.raises(KeyboardInterrupt):
        gl.tune(gl.SharedTiling, 64, path=path, progress=False)
    assert len([row for row in load(path).rows if row.kernel != CUBLAS]) == 1


def test_a_changed_source_is_measured_again(bench, tmp_path, monkeypatch):
    path = tmp_path / "tuning.json"
    gl.tune(gl.SharedTiling, 64, path=path, progress=False)
    bench.clear()
    text = gl.SharedTiling().source.replace("acc = 0.0f", "acc = 0.00f")
    monkeypatch.setattr(gl.SharedTiling, "source", property(lambda self: text))
    gl.tune(gl.SharedTiling, 64, path=path, progress=False)
    assert len(bench) == 2
    bench.clear()
    gl.tune(gl.SharedTiling, 64, path=path, progress=False)
    assert bench == [] and not load(path).stale([gl.SharedTiling(8), gl.SharedTiling(16)])


def test_what_spills_or_does_not_fit_is_left_out_with_the_reason():
    roomy, tight = gl.Reordering(), gl.Reordering(64, 128, 8, 16, 8, STAGES=3, BLOCKS=8)    # 128 registers for 128 sums
    greedy = gl.Pipelining(64, 128, 16, 8, 8, STAGES=3, BLOCKS=8)                           # 8 x 37 KB of shared memory
    chosen, left_out = tuning.pruned([roomy, tight, greedy], H200)
    assert chosen == [roomy] and "spill" in left_out[tight.label]
    assert "spill" in left_out[greedy.label] or "fit on an SM" in left_out[greedy.label]


def test_every_space_has_tiles_and_every_default_is_a_kernel_of_its_class():
    for kind, values in tuning.SPACES.items():
        if kind not in (gl.Reordering, gl.SlicedK, gl.SplitK):    # thousands
            assert tuning.space(kind)
        assert set(values) <= set(kind.__dataclass_fields__)


def test_without_a_gpu_the_record_is_replayed(bench, tmp_path, monkeypatch):
    path = tmp_path / "tuning.json"
    before = gl.tune(gl.SharedTiling, 64, path=path, progress=False)
    monkeypatch.setattr(gpu, "available", lambda: False)
    monkeypatch.setattr(gpu, "reason", lambda: "There is no GPU.")
    assert gl.tune(gl.SharedTiling, 64, path=path).ranking(64).rows == before.ranking(64).rows
    with pytest.raises(gl.NoGpu, match="There is no GPU. No tuning of SharedTiling at 128 was recorded; there are "
                                            "records of SharedTiling at 64"):
        gl.tune(gl.SharedTiling, 128, path=path)


@pytest.mark.parametrize("kind, words", [(gl.Naive, "no space of tiles for Naive; there are spaces for SharedTiling"),
                                         (gl.SharedTiling(), "without parentheses"), (None, "kernel_class is None")])
def test_tune_says_what_is_wrong(kind, words):
    with pytest.raises(ValueError, match=words):
        tuning.space(kind)
