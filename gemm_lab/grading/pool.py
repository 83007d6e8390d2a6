"""Scores submissions side by side, each in a process of its own, and goes on where such a process was ended."""

from __future__ import annotations

import json
import os
import select
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, field
from pathlib import Path

from gemm_lab.exercises import sheets
from gemm_lab.exercises.assignment import PUBLIC
from gemm_lab.exercises.feedback import Feedback, wrong
from gemm_lab.grading import sandbox
from gemm_lab.grading.limits import Limits, limited
from gemm_lab.grading.submissions import Submission

MOST_LINE = 2_000_000       # characters of one event
PACKAGE = Path(__file__).resolve().parents[2]


@dataclass
class Result:
    """What was found in one submission: feedback and cell text by task, essays by cell id."""

    submission: Submission
    feedback: dict[str, Feedback] = field(default_factory=dict)
    sources: dict[str, str] = field(default_factory=dict)
    essays: dict[str, str] = field(default_factory=dict)
    note: str = ""
    seconds: float = 0.0

    @property
    def score(self) -> int:
        """Points for the tasks that are scored here."""
        tasks = sheets.assignment(self.submission.lesson).tasks
        return sum(task.points for task in tasks if task.name in self.feedback and self.feedback[task.name].passed)

    @property
    def most(self) -> int:
        """Points that could be had."""
        return sum(task.points for task in sheets.assignment(self.submission.lesson).tasks)


def score_all(submissions: Sequence[Submission], seed: str | None, jobs: int, limits: Limits,
              done: Callable[[Result], None] = lambda result: None) -> list[Result]:
    """The results in the order of the submissions; `done` is called for each as it is there."""
    def one(submission: Submission) -> Result:
        result = score(submission, seed, limits)
        done(result)
        return result
    with ThreadPoolExecutor(jobs) as pool:
        return list(pool.map(one, submissions))


def score(submission: Submission, seed: str | None, limits: Limits) -> Result:
    """Score one submission. A task whose process was ended gets no points, and the tasks after it a new process."""
    start, result = time.monotonic(), Result(submission)
    left = [task.name for task in sheets.assignment(submission.lesson).tasks]
    while left and not result.note:
        with Scorer(submission, seed, left, limits) as scorer:
            at_work = follow(scorer, result, limits)
        if at_work:
            result.feedback[at_work] = wrong(at_work, "stopped", "The check of this answer was stopped: it took more "
                                                                 "time "
                                             f"than {limits.task_seconds} s or more memory than {limits.memory_gb:g} "
                                             f"GB.")
        elif len(result.feedback) == 0 and not result.note:
            result.note = "the notebook could not be read within the limits of time and memory"
        left = [name for name in left if name not in result.feedback]
    result.seconds = time.monotonic() - start
    return result


def follow(scorer: Scorer, result: Result, limits: Limits) -> str | None:
    """Take in the events of a scoring process; returns the task at which it was ended, if it was."""
    at_work = None
    for event in scorer.events():
        match event["event"]:
            case "unreadable":
                result.note = event["message"]
            case "read":
                result.essays = event["essays"]
            case "begin":
                at_work = event["task"]
            case "run":
                scorer.answer(asdict(sandbox.run_function(event["source"], event["name"], event["inputs"], limits)))
            case "scored":
                feedback = {name: tuple(value) if isinstance(value, list) else value
                            for name, value in event["feedback"].items()}
                result.feedback[at_work] = Feedback(**feedback)
                result.sources[at_work] = event["source"]
                at_work = None
    return at_work


class Scorer:
    """A scoring process, with a folder of its own that is gone afterwards."""

    def __init__(self, submission: Submission, seed: str | None, tasks: Sequence[str], limits: Limits):
        self.job = {"path": str(submission.path.resolve()), "lesson": submission.lesson, "seed": seed,
                    "secret": seed or PUBLIC, "tasks": list(tasks), "seconds": limits.task_seconds}
        self.limits = limits

    def __enter__(self) -> Scorer:
        self.folder = tempfile.TemporaryDirectory(prefix="gemm-lab-grade-")
        env = {"PATH": os.environ.get("PATH", ""), "PYTHONPATH": str(PACKAGE), "HOME": self.folder.name,
               "LANG": "C.UTF-8",
               "OPENBLAS_NUM_THREADS": "1", "PYTHONDONTWRITEBYTECODE": "1", "CUDA_VISIBLE_DEVICES": ""}
        env |= {name: value for name, value in os.environ.items() if name == "GEMM_LAB_EMULATOR"}
        command = [sys.executable, "-P", "-s", "-m", "gemm_lab.grading.scoring"]
        self.process = subprocess.Popen(
            sandbox.shut_in(command, Path(self.folder.name)), cwd=self.folder.name, env=env,
            preexec_fn=limited(self.limits),
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, start_new_session=True)
        self.answer(self.job)
        return self

    def __exit__(self, *_) -> None:
        self.process.kill()
        self.process.communicate()
        self.folder.cleanup()

    def answer(self, message: dict) -> None:
        """One line to the process, which may be gone already."""
        try:
            self.process.stdin.write(json.dumps(message).encode() + b"\n")
            self.process.stdin.flush()
        except OSError:
            pass

    def events(self) -> Iterator[dict]:
        """The lines of the process, until it ends or says nothing for too long."""
        buffer = b""
        while chunk := self._more():
            buffer += chunk
            *lines, buffer = buffer.split(b"\n")
            yield from map(json.loads, lines)
            if len(buffer) > MOST_LINE:
                return

    def _more(self) -> bytes:
        ready, _, _ = select.select([self.process.stdout], [], [], self.limits.silent_seconds)
        return os.read(self.process.stdout.fileno(), 65536) if ready else b""
