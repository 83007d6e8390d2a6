"""Bubblewrap: processes that see a read-only system, a folder of their own, and no network.

`shut_in` wraps the grader's own process, which reads hostile data. `run_function` runs a student's Python function;
there the course is not to be seen at all, nor any other file of this machine than Python, NumPy and the system's
libraries, and no further process or thread can be started.
"""

from __future__ import annotations

import json
import os
import platform
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

from gemm_lab.exercises.function_tasks import Outputs
from gemm_lab.grading import seccomp
from gemm_lab.grading.limits import Limits, limited

MOST_OUTPUT = 100_000       # characters of a function's results
SYSTEM = ("/usr", "/lib", "/lib64", "/bin", "/etc/ld.so.cache", "/etc/alternatives")

# Runs inside. Results leave by a descriptor of their own: what the function prints goes nowhere.
RUNNER = """
import json, os, sys
job, results = json.loads(sys.stdin.read()), os.fdopen(os.dup(1), "w")
nowhere = os.open(os.devnull, os.O_WRONLY)
os.dup2(nowhere, 1), os.dup2(nowhere, 2)
def plain(value):
    item = getattr(value, "item", None)
    value = item() if callable(item) and getattr(value, "size", 0) == 1 else value
    return value if type(value) in (int, float, bool) else str(value)[:200]
try:
    names = {"__name__": "answer"}
    exec(compile(job["source"], "answer", "exec"), names)
    answer = {"values": [plain(names[job["name"]](n)) for n in job["inputs"]]}
except BaseException as error:
    answer = {"fault": f"{type(error).__name__}: {error}"[:500]}
results.write(json.dumps(answer))
results.flush()
os._exit(0)
"""


def program() -> str | None:
    """The path of bubblewrap; None without it."""
    return shutil.which("bwrap")


def shut_in(command: Sequence[str], folder: Path) -> list[str]:
    """The command with a read-only system, `folder` to write to, and no network; as it is without bubblewrap."""
    if program() is None:
        return list(command)
    return [program(), "--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", "--bind", str(folder), str(folder),
            "--chdir", str(folder), *_APART, *command]


_APART = ("--unshare-all", "--die-with-parent", "--new-session")


def run_function(source: str, name: str, inputs: Sequence[int], limits: Limits) -> Outputs:
    """What the function `name` of a student's cell returns for each input, or why it does not."""
    if program() is None:
        return Outputs(fault="it was not run: bubblewrap (bwrap) is not installed on the grading machine")
    if platform.machine() not in seccomp.MACHINES:
        return Outputs(fault=f"it was not run: that is done on {' and '.join(seccomp.MACHINES)} only")
    job = json.dumps({"source": source, "name": name, "inputs": list(inputs)})
    with tempfile.TemporaryFile() as file:
        file.write(seccomp.no_new_processes(platform.machine()))
        file.seek(0)
        try:
            done = subprocess.run(_alone(file.fileno()), input=job, capture_output=True, text=True, env={},
                                  timeout=limits.function_seconds, preexec_fn=limited(limits), pass_fds=[file.fileno()])
        except subprocess.TimeoutExpired:
            return Outputs(fault="it took too long")
    return _outputs(done.stdout[:MOST_OUTPUT])


def _outputs(text: str) -> Outputs:
    try:
        answer = json.loads(text)
        return Outputs(tuple(answer.get("values", ())), str(answer.get("fault", "")))
    except (ValueError, AttributeError, TypeError):
        return Outputs(fault="it ended without a result: too much time, too much memory, or a crash")


def _alone(filter_file: int) -> list[str]:
    """Bubblewrap's command line for the runner: only what Python and NumPy need can be seen."""
    python = os.path.realpath(sys.executable)
    seen = dict.fromkeys([*SYSTEM, sys.base_prefix])
    binds = [word for path in seen for word in ("--ro-bind-try", path, path)]
    for name in ("numpy", "numpy.libs"):
        folder = Path(find_spec("numpy").origin).parents[1] / name
        binds += ["--ro-bind-try", str(folder), f"/packages/{name}"]
    return [program(), *binds, *_hidden(seen), "--dev", "/dev", "--proc", "/proc", "--tmpfs", "/answer", "--chdir",
            "/answer", "--setenv", "PYTHONPATH", "/packages", "--setenv", "OPENBLAS_NUM_THREADS", "1", *_APART,
            "--seccomp", str(filter_file), python, "-P", "-s", "-S", "-c", RUNNER]


def _hidden(seen: dict[str, None]) -> list[str]:
    """The course, where it lies in a folder that is to be seen, is covered by an empty one."""
    package = Path(__file__).resolve().parents[1]
    folders = [package, package.parent] if (package.parent / "notebooks").is_dir() else [package]
    return [word for folder in folders if any(folder.is_relative_to(path) for path in seen)
            for word in ("--tmpfs", str(folder))]
