"""What NVIDIA's compute-sanitizer says of correct and of broken kernels, to hold `gl.check` against.

    python -m benchmarks.sanitizer [OUT]        OUT/sanitizer_h200.json, by default among the records that ship

Its tool memcheck finds accesses out of bounds, its tool racecheck races in shared memory. The kernels: those with a
planted defect, those of the tests' corpus whose defect one of the tools might see, and correct ones.
"""

from __future__ import annotations

import datetime
import os
import pickle
import re
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from benchmarks import counters, kernel_files
from benchmarks.h200 import counted_kernels
from benchmarks.planted import OUT_OF_BOUNDS, RACES, planted
from gemm_lab import gpu
from gemm_lab.compiler.diagnostics import FILE
from gemm_lab.kernels import GemmKernel
from gemm_lab.records import files

HERE = Path(__file__).parent
CORPUS = HERE.parent / "tests" / "corpus" / "broken"

TOOLS = {"out-of-bounds": "memcheck", "misaligned": "memcheck", "race": "racecheck"}    # kind of finding -> tool
FATAL = {"out-of-bounds", "misaligned", "barrier-divergence", "endless-loop"}    # may end or hang racecheck
RAGGED, BETA = (35, 79, 19), 0.5
SPINNING = ("split_k", "naive_unsigned_countdown")    # kernels so called may wait for each other, or loop, forever
AT_ONCE = 16                # processes on the GPU
TOGETHER = 12               # kernels in one process; of memcheck's broken ones each has its own, since it ends there
SECONDS = 100               # for one process
KILLED = "the program was killed"
OPTIONS = {"memcheck": ["--print-limit", "200", "--show-backtrace", "no",
                        "--report-api-errors", "no"],    # CuPy probes what a driver offers
           "racecheck": []}

PROTOCOL = ("compute-sanitizer, --tool memcheck --report-api-errors no, or racecheck; one launch, every array an "
            "allocation of its own; findings: kind and source lines")


@dataclass(frozen=True, eq=False)
class Case:
    """One kernel under one tool."""

    tool: str
    kernel: GemmKernel
    size: tuple[int, int, int]
    broken: bool

    @property
    def row(self) -> dict:
        """How the record names it."""
        return {"tool": self.tool, "kernel": self.kernel.label, "source": files.source_hash(self.kernel.source),
                **dict(zip("MNK", self.size)), "beta": BETA, "broken": self.broken}

    def named(self, name: str) -> GemmKernel:
        """The kernel under a name of its own, by which a report can be told from others; lines stay as they are."""
        own = self.kernel.entry.split("<")[0]
        source = re.sub(rf"\b{own}\b", name, self.kernel.source)
        return self.kernel.with_source(source, self.kernel.label, self.kernel.entry.replace(own, name, 1))


def plan() -> list[Case]:
    """Every case, broken ones first."""
    made = [Case(tool, kernel, RAGGED, True) for tool, changes in (("racecheck", RACES), ("memcheck", OUT_OF_BOUNDS))
            for kernel in planted(changes)]
    correct = counted_kernels() + kernel_files.folder(HERE / "kernels")
    return [*made, *corpus(), *(Case(tool, kernel, RAGGED, False) for tool in OPTIONS for kernel in correct)]


def corpus() -> Iterator[Case]:
    """The corpus's broken kernels, under each tool that finds a kind of their defect."""
    for path in sorted(CORPUS.glob("*.cu")):
        kernel, = kernel_files.read(path, "corpus/")
        head = kernel_files.head(kernel.source)
        kinds = set(head["kinds"].split(", "))
        size = eval(f"[{head.get('shapes', '(35, 37, 19)')}]".replace("default", f"{RAGGED}"))[-1]
        for tool in sorted({TOOLS[kind] for kind in kinds & set(TOOLS)}):
            if not path.stem.startswith(SPINNING) and not (tool == "racecheck" and kinds & FATAL):
                yield Case(tool, kernel, size, True)


# --- on the GPU

def examine(cases: list[Case]) -> list[list | None]:
    """What the cases' tool, one for all, finds in each: see `findings`. None: it did not run. They share a process; if
    one ends it, those behind that one share another."""
    names = [f"case_{number}" for number in range(len(cases))]
    words = sanitize(cases[0].tool, [(case.named(name), case.size, BETA) for name, case in zip(names, cases)])
    found = findings(words)
    over = max((number for number, name in enumerate(names, 1) if name in found), default=1)
    rest = cases[over:]
    return [found.get(name) for name in names[:over]] + (examine(rest) if rest else [])


def sanitize(tool: str, launches: counters.Plan) -> str:
    """Everything that compute-sanitizer and the program under it print."""
    with tempfile.TemporaryDirectory() as folder:
        command = ["compute-sanitizer", "--tool", tool, *OPTIONS[tool], "--target-processes", "application-only",
                   *counters.launch_command(launches, Path(folder), script=__file__)]
        running = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                                   env=counters.environment(), start_new_session=True)
        try:
            return running.communicate(timeout=SECONDS)[0]
        except subprocess.TimeoutExpired:
            os.killpg(running.pid, signal.SIGKILL)    # compute-sanitizer and the program under it
            return running.communicate()[0] + KILLED


def launch(path: str) -> None:
    """The program under compute-sanitizer: launch what is planned, each on arrays of its own."""
    import cupy

    from gemm_lab.gpu import launching
    cupy.cuda.set_allocator(None)
    for job, size, beta in pickle.loads(Path(path).read_bytes()):
        with suppress(cupy.cuda.driver.CUDADriverError, cupy.cuda.runtime.CUDARuntimeError):
            a, b, c = (cupy.asarray(X) for X in counters.inputs(*size))
            launching.launch(launching.load(job), job, launching.arguments(a, b, c, 1.0, beta))
            print("launched", job.entry.split("<")[0], flush=True)
            cupy.cuda.runtime.deviceSynchronize()


def findings(words: str) -> dict[str, list[list] | None]:
    """Kernel -> [kind, line, other line] of everything reported after its launch, each once; a line in a header is left
    out. None: it was killed before anything was reported."""
    found = {}
    for name, reports in zip(*[iter(re.split(r"^launched (\S+)$", words, flags=re.M)[1:])] * 2):
        some = {finding for report in re.split(r"^=+\s*$", reports, flags=re.M) for finding in _findings(report)}
        found[name] = None if KILLED in reports and not some else list(map(list, sorted(some)))
    return found


def _findings(report: str) -> Iterator[tuple]:
    """One report: an access out of bounds or misaligned, or one access that races with several."""
    places = re.findall(r" at .+?\+0x[0-9a-f]+ in (\S+):(\d+)", report)
    lines = [(int(line),) if file == FILE else () for file, line in places]
    if "Race reported" in report:
        yield from (("race", *lines[0], *other) for other in lines[1:])
    elif "Invalid __" in report:
        yield "misaligned" if "is misaligned" in report else "out-of-bounds", *lines[0]


def groups(cases: list[Case]) -> Iterator[list[Case]]:
    """Cases that share a process, those that take longest first."""
    for tool, broken in (("racecheck", True), ("racecheck", False), ("memcheck", False), ("memcheck", True)):
        some = [case for case in cases if (case.tool, case.broken) == (tool, broken)]
        step = 1 if (tool, broken) == ("memcheck", True) else TOGETHER
        yield from (some[first:first + step] for first in range(0, len(some), step))


def measure(cases: list[Case]) -> list[dict]:
    """The record's rows."""
    parts = list(groups(cases))
    with ThreadPoolExecutor(AT_ONCE) as pool:
        results = pool.map(examine, parts)
        found = {case: result for some, results_ in zip(parts, results) for case, result in zip(some, results_)}
    return [case.row | {"findings": found[case]} for case in cases]


def faults(rows: list[dict]) -> list[str]:
    """Where the tools disagree with what the kernels were made for."""
    made = RACES | OUT_OF_BOUNDS
    return [f"{row['tool']} finds {'something' if row['findings'] else 'nothing'} in {row['kernel']}" for row in rows
            if row["findings"] is not None and bool(row["findings"]) != row["broken"]
            and (row["kernel"] in made or not row["broken"])]


def main(out: Path) -> Path:
    """Examine everything and write the record."""
    device = gpu.device()
    if not shutil.which("compute-sanitizer"):
        raise gpu.NoGpu("compute-sanitizer is not on the PATH; it comes with the CUDA Toolkit")
    content = {"device": device.name, "driver": device.driver, "date": datetime.date.today().isoformat(),
               "protocol": PROTOCOL, "rows": measure(plan())}
    return files.write(out / files.record_name("sanitizer", device.name), "sanitizer", content)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--launch"]:
        launch(sys.argv[2])
        sys.exit()
    try:
        print(main(Path(sys.argv[1]) if sys.argv[1:] else files.FOLDER))
    except gpu.NoGpu as error:
        sys.exit(str(error))
