"""Read hardware counters of kernels with NVIDIA's Nsight Compute (ncu): one profiled process for many launches.

    rows = collect([(gl.Naive(), (512, 512, 512), 0.0), ...], METRICS)

The profiled process (`python benchmarks/counters.py --launch PLAN`) uploads inputs by copies and launches nothing but
the planned kernels, one after the other, so ncu's n-th kernel is the plan's n-th. A metric that this ncu does not know
is dropped and listed as missing; nothing is computed in its place.
"""

from __future__ import annotations

import csv
import datetime
import os
import pickle
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from gemm_lab import gpu  # noqa: E402  (run as a script, this file finds the checkout beside it)
from gemm_lab.kernels import GemmKernel, Naive  # noqa: E402
from gemm_lab.records import FFMA, WAVEFRONTS, CounterRow, source_hash  # noqa: E402

LAW_METRICS = (  # few, since each group of metrics means another run of kernels that take up to 0.3 s
    FFMA, WAVEFRONTS, "l1tex__data_pipe_lsu_wavefronts_mem_shared.sum", "lts__t_sectors_srcunit_tex_op_read.sum",
    "dram__bytes_read.sum", "sm__warps_active.avg.pct_of_peak_sustained_active")

METRICS = LAW_METRICS + (
    "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum", "l1tex__t_requests_pipe_lsu_mem_global_op_st.sum",
    "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum", "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum",
    "l1tex__t_output_wavefronts_pipe_lsu_mem_global_op_ld.sum",
    "l1tex__t_output_wavefronts_pipe_lsu_mem_global_op_st.sum",
    "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum", "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum",
    "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum",
    "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum",
    "smsp__inst_executed.sum", "smsp__inst_executed_pipe_fma.sum", "smsp__inst_executed_pipe_lsu.sum",
    "smsp__inst_executed_op_shared_ld.sum", "smsp__inst_executed_op_shared_st.sum",
    "smsp__sass_inst_executed_op_shared_ld.sum", "smsp__sass_inst_executed_op_shared_st.sum",
    "smsp__sass_inst_executed_op_global_ld.sum", "smsp__sass_inst_executed_op_global_st.sum",
    "smsp__sass_thread_inst_executed_op_fadd_pred_on.sum", "smsp__sass_thread_inst_executed_op_fmul_pred_on.sum",
    "gpu__time_duration.sum", "dram__bytes_write.sum")

NCU = ("ncu", "--csv", "--page", "raw", "--print-units", "base", "--clock-control", "none",
       "--target-processes", "application-only")

Plan = Sequence[tuple[GemmKernel, tuple[int, int, int], float]]    # (kernel, (M, N, K), beta), ...


class NoCounters(RuntimeError):
    """ncu cannot read counters here; the message holds its own words."""


def collect(plan: Plan, metrics: Iterable[str], timeout: float = 300) -> list[CounterRow]:
    """Counters of every launch of the plan. NoCounters where ncu fails or profiles other kernels than planned."""
    metrics = list(metrics)
    launches = parsed(_profile(plan, metrics, timeout), metrics, len(plan))
    rows = []
    for (kernel, size, beta), (name, values) in zip(plan, launches, strict=True):
        if kernel.entry.split("<")[0] not in name:
            raise NoCounters(f"ncu profiled {name!r} where {kernel.label} was planned")
        rows.append(CounterRow(kernel.label, *size, beta, values, source_hash(kernel.source)))
    return rows


def usable_metrics(metrics: Iterable[str] = METRICS) -> tuple[list[str], list[str]]:
    """(metrics that this ncu reads, metrics it does not know), tried on a small kernel; NoCounters if it reads none."""
    usable, missing = list(metrics), []
    while usable:
        try:
            row, = collect([(Naive(), (64, 64, 64), 0.0)], usable, timeout=120)
            missing += [name for name in usable if name not in row.counters]
            return [name for name in usable if name in row.counters], missing
        except NoCounters as error:
            unknown = unknown_metrics(str(error), usable)
            if not unknown:
                raise
            usable = [name for name in usable if name not in unknown]
            missing += unknown
    raise NoCounters("ncu knows none of the metrics")


def unknown_metrics(words: str, metrics: Iterable[str]) -> list[str]:
    """The metrics that ncu complains about: "==ERROR== Failed to find metric regex:^NAME(...)"."""
    named = re.findall(r"[Ff]ailed to find metric[s:]*\s*(?:regex:\^?)?([a-z0-9_]+)", words)
    return [name for name in metrics if name.split(".")[0] in named]


def parsed(text: str, metrics: Iterable[str], planned: int) -> list[tuple[str, dict[str, int | float]]]:
    """What `parse` finds; NoCounters unless it is of as many launches as were planned."""
    launches = parse(text, metrics)
    if len(launches) != planned:
        raise NoCounters(f"ncu profiled {len(launches)} launches; {planned} were planned")
    return launches


def parse(text: str, metrics: Iterable[str]) -> list[tuple[str, dict[str, int | float]]]:
    """(kernel's name, {metric: value}) of each launch, in order, from ncu's CSV (a launch or a metric a line)."""
    start = text.find('"ID"')
    if start < 0:
        raise NoCounters(f"ncu wrote no table. Its words: {_shortened(text)}")
    wanted, launches = set(metrics), {}
    for line in csv.DictReader(text[start:].splitlines()):
        if not (line["ID"] or "").isdigit():
            continue    # the line of units, or ncu's closing words
        values = launches.setdefault(int(line["ID"]), (line["Kernel Name"], {}))[1]
        pairs = [(line["Metric Name"], line["Metric Value"])] if "Metric Name" in line else line.items()
        numbers = {name: _number(word) for name, word in pairs if name in wanted}
        values.update({name: number for name, number in numbers.items() if number is not None})
    return [launches[number] for number in sorted(launches)]


def _number(word: str | None) -> int | float | None:
    """"1,024" is 1024, "12.5" is 12.5, "n/a" is None."""
    plain = (word or "").replace(",", "").strip()
    try:
        value = float(plain)
    except ValueError:
        return None
    return int(value) if value.is_integer() and "e" not in plain.lower() else value


def _profile(plan: Plan, metrics: list[str], timeout: float) -> str:
    with tempfile.TemporaryDirectory() as folder:
        return profile(launch_command(plan, Path(folder)), metrics, Path(folder), timeout)


def profile(program: Sequence[str], metrics: Iterable[str], folder: Path, timeout: float, *options: str) -> str:
    """ncu's table of all that a program launches, for `parsed`. NoCounters where ncu fails.

    folder   where ncu may write
    options  of ncu, besides those that every measurement here has
    """
    log = folder / "ncu.csv"
    command = [*NCU, *options, "--log-file", str(log), "--metrics", ",".join(metrics), *program]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=timeout, env=environment())
    except (OSError, subprocess.TimeoutExpired) as error:
        raise NoCounters(f"ncu did not run: {error}") from None
    text = log.read_text(errors="replace") if log.is_file() else done.stdout
    if done.returncode or "==ERROR==" in text:
        raise NoCounters(f"ncu ended with status {done.returncode}: {_shortened(text + done.stdout + done.stderr)}")
    return text


def _shortened(text: str) -> str:
    errors = [line for line in text.splitlines() if "ERROR" in line or "Error" in line]
    return "\n".join(errors or text.splitlines()[-8:])[:2000] or "none"


# --- the profiled process

def launch_command(plan: Plan, folder: Path, script: str = __file__) -> list[str]:
    """The command by which `script` launches the plan's kernels alone; what they need is written into `folder`."""
    arch = gpu.device().arch
    jobs = [(gpu.Job.of(kernel, *size[:2], arch), size, beta) for kernel, size, beta in plan]
    (folder / "plan").write_bytes(pickle.dumps(jobs))
    return [sys.executable, str(Path(script).resolve()), "--launch", str(folder / "plan")]


def launch(path: str) -> None:
    """Launch the planned kernels once each, in order."""
    import cupy

    from gemm_lab.gpu import launching
    with open(path, "rb") as file:
        plan = pickle.load(file)
    size_before = None
    for job, size, beta in plan:
        if size != size_before:
            a, b, c = (cupy.asarray(X) for X in inputs(*size))
            size_before = size
        launching.launch(launching.load(job), job, launching.arguments(a, b, c, 1.0, beta))
        cupy.cuda.runtime.deviceSynchronize()


def inputs(M: int, N: int, K: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Standard normal random A, B, C."""
    from gemm_lab import checking
    return checking.inputs(checking.Problem(M, N, K, 1.0, 0.0))


def environment() -> dict[str, str]:
    """Variables for a child process: it finds this checkout."""
    return os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH", "")]))}


def about(metrics: Sequence[str], missing: Sequence[str]) -> dict:
    """What a record of counters says besides its rows."""
    device = gpu.device()
    return {"device": device.name, "compute_capability": device.compute_capability, "driver": device.driver,
            "date": datetime.date.today().isoformat(), "versions": {"ncu": ncu_version(), "CuPy": device.cupy},
            "metrics": list(metrics), "missing_metrics": list(missing),
            "protocol": "ncu --clock-control none, one launch each, caches flushed before it; alpha = 1"}


def ncu_version() -> str:
    """The version in ncu's own words, such as "2025.3.1.0"."""
    words = subprocess.run(["ncu", "--version"], capture_output=True, text=True, timeout=60).stdout
    return next(iter(re.findall(r"Version\s+(\S+)", words)), "unknown")


if __name__ == "__main__":
    if sys.argv[1:2] != ["--launch"]:
        sys.exit("ncu runs this file: counters.py --launch PLAN; start benchmarks/h200.py instead")
    launch(sys.argv[2])
