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
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path

from gemm_lab.exercises import sheets
from gemm_lab.exercises.assignment import PUBLIC
from gemm_lab.exercises.feedback import Feedback, wrong
from gemm_lab.exercises.function_tasks import Outputs
from gemm_lab.grading import sandbox
from gemm_lab.grading.limits import Limits, limited
from gemm_lab.grading.submissions import Submission

MOST_LINE = 2_000_000       # characters of one event
PACKAGE = Path(__file__).resolve().parents[2]
OTHER_SHEET = "its sheet has other numbers than this seed gives: another release, or changed by hand"


@dataclass
class Result:
    """What was found in one submission: feedback and cell text by task, essays by cell id."""

    submission: Submission
    feedback: dict[str, Feedback] = field(default_factory=dict)
    sources: dict[str, str] = field(default_factory=dict)
    essays: dict[str, str] = field(default_factory=dict)
    note: str = ""          # why it could not be scored to the end
    remark: str = ""        # what the instructor should know
    seconds: float = 0.0
    used: float = 0.0       # of them, processor time for tasks

    @property
    def said(self) -> str:
        """Note and remark."""
        return "; ".join(filter(None, (self.note, self.remark)))

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
        with Scorer(submission, seed, limits) as scorer:
            if not follow(scorer, result, left, limits) and not result.note:
                result.note = "the notebook could not be read within the limits of time and memory"
    result.seconds = time.monotonic() - start
    return result


def follow(scorer: Scorer, result: Result, left: list[str], limits: Limits) -> bool:
    """Hand the tasks that are left to a scoring process, one by one, and take in its events. False: it took none."""
    at_work, seconds, tasks = "", 0, len(sheets.assignment(result.submission.lesson).tasks)
    for event in scorer.events():
        match event["event"]:
            case "unreadable":
                result.note = event["message"]
                return False
            case "read":
                result.essays = event["essays"]
                result.remark = "" if event["ours"] else OTHER_SHEET
            case "run":
                scorer.say(asdict(outputs(event, result, replace(limits, task_seconds=seconds))))
                continue
            case "scored":
                scored(event, at_work, result)
        if not left:
            return True
        at_work = left.pop(0)
        seconds = limits.share(result.used, len(left), tasks)
        scorer.say({"task": at_work, "seconds": seconds})
    if at_work:
        stopped(at_work, seconds, result, limits)
    return bool(at_work)


def outputs(event: dict, result: Result, limits: Limits) -> Outputs:
    """What a student's function returns; its time counts."""
    start = time.monotonic()
    found = sandbox.run_function(event["source"], event["name"], event["inputs"], limits)
    result.used += time.monotonic() - start
    return found


def scored(event: dict, task: str, result: Result) -> None:
    """Note down the feedback for a task."""
    result.feedback[task] = Feedback(**{name: tuple(value) if isinstance(value, list) else value
                                        for name, value in event["feedback"].items()})
    result.sources[task] = event["source"]
    result.used += event["seconds"]


def stopped(task: str, seconds: int, result: Result, limits: Limits) -> None:
    """Note down that a task's process was ended."""
    result.feedback[task] = wrong(task, "stopped", "The check of this answer was stopped: it took more time than "
                                  f"{seconds} s or more memory than {limits.memory_gb:g} GB.")
    result.used += seconds


class Scorer:
    """A scoring process, with a folder of its own that is gone afterwards."""

    def __init__(self, submission: Submission, seed: str | None, limits: Limits):
        self.job = {"path": str(submission.path.resolve()), "lesson": submission.lesson, "seed": seed,
                    "secret": seed or PUBLIC, "seconds": limits.task_seconds}
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
        self.say(self.job)
        return self

    def __exit__(self, *_) -> None:
        self.process.kill()
        self.process.communicate()
        self.folder.cleanup()

    def say(self, message: dict) -> None:
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
