"""A process of its own holds the GPU, so that no kernel can take the notebook down.

An illegal memory access makes a process's GPU context unusable for good, and nothing stops an endless kernel but the
end of its process. So the notebook never launches anything itself: it sends each task to a child process through a pipe
and gets the result back. A child that failed is thrown away and the next call starts a new one (about two seconds).

The first half of this module runs in the notebook, the second half in the child (`python -m gemm_lab.gpu.worker`).
"""

from __future__ import annotations

import atexit
import ctypes
import os
import pickle
import queue
import subprocess
import sys
import tempfile
import threading
from contextlib import suppress
from pathlib import Path

from gemm_lab.gpu.job import GpuError

START_SECONDS = 120     # Python, CuPy and the GPU's context: two seconds, more when everything comes from a cold disk
TASKS = {"run": "launching", "measure": "timing"}    # what the child can do, and the module that does it


# --- in the notebook

class Worker:
    """The child process: started when first needed, replaced after a failure."""

    def __init__(self):
        self._process = None
        self._lock = threading.Lock()

    def call(self, task: str, *arguments, limit: float, progress=None):
        """Let the child do a task; return its result and what it printed.

        `limit` is the longest silence in seconds. `progress` is called with the fractions that the child reports.
        Raises the child's own ValueError or GpuError; GpuError if the child dies or keeps silent.
        """
        with self._lock:
            try:
                self._start()
                self._send((task, arguments))
                while (message := self._receive(limit))[0] == "progress":
                    if progress:
                        progress(message[1])
            except BaseException:    # also KeyboardInterrupt: the child is in the middle of something
                self.stop()
                raise
            return self._finish(message)

    def _finish(self, message: tuple):
        kind, value = message
        if kind == "error":
            if isinstance(value, GpuError):
                self.stop()
            raise value
        return value, self._printed()

    def _start(self) -> None:
        if self._process and self._process.poll() is None:
            return
        self._log = tempfile.TemporaryFile("a+b")    # "a": the child appends, wherever we read
        self._read = 0
        self._inbox = queue.SimpleQueue()
        self._process = subprocess.Popen([sys.executable, "-m", "gemm_lab.gpu.worker"], stdin=subprocess.PIPE,
                                         stdout=subprocess.PIPE, stderr=self._log, env=environment(),
                                         start_new_session=True)    # Ctrl-C is for the notebook alone
        threading.Thread(target=_read_messages, args=(self._process.stdout, self._inbox), daemon=True).start()
        self._receive(START_SECONDS)
        self._printed()

    def _send(self, message) -> None:
        try:
            pickle.dump(message, self._process.stdin, protocol=5)
            self._process.stdin.flush()
        except OSError:
            raise self._death() from None

    def _receive(self, limit: float) -> tuple:
        try:
            message = self._inbox.get(timeout=limit)
        except queue.Empty:
            raise GpuError(f"the GPU did not answer within {limit:.0f} s; its process was ended, "
                           "the next call starts a new one") from None
        if message[0] == "died":
            raise self._death()
        return message

    def _death(self) -> GpuError:
        last_words = (self._printed().strip().splitlines() or ["it left no message"])[-1]
        return GpuError(f"the process that holds the GPU ended unexpectedly: {last_words}")

    def _printed(self) -> str:
        """What the child has printed since the last look."""
        self._log.seek(self._read)
        text = self._log.read()
        self._read += len(text)
        return text.decode(errors="replace")

    def stop(self) -> None:
        """End the child, whatever it is doing; the next call starts a new one."""
        process, self._process = self._process, None
        if process:
            process.kill()
            with suppress(subprocess.TimeoutExpired):
                process.wait(timeout=10)
            for pipe in (process.stdin, process.stdout):
                with suppress(OSError):
                    pipe.close()


def environment() -> dict[str, str]:
    """The child's variables: it finds this package, and no library may replace float32 by a shorter format."""
    paths = [str(Path(__file__).parents[2]), os.environ.get("PYTHONPATH", "")]
    return os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, paths)), "PYTHONWARNINGS": "ignore",
                         "CUPY_TF32": "0", "NVIDIA_TF32_OVERRIDE": "0", "CUBLAS_EMULATE_SINGLE_PRECISION": "0"}


def _read_messages(pipe, inbox) -> None:
    with suppress(EOFError, OSError, ValueError, pickle.UnpicklingError):
        while True:
            inbox.put(pickle.load(pipe))
    inbox.put(("died", None))


_worker = Worker()
call = _worker.call
stop = _worker.stop
atexit.register(stop)


# --- in the child

def main() -> None:
    """Do one task after the other until the notebook closes the pipe."""
    replies = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)    # from here on a kernel's printf goes to the log, not between the replies

    def reply(*message) -> None:
        pickle.dump(message, replies, protocol=5)
        replies.flush()

    from gemm_lab.gpu import launching  # imports CuPy

    launching.start()
    reply("ready", None)
    with suppress(EOFError):
        while True:
            task, arguments = pickle.load(sys.stdin.buffer)
            _do(task, arguments, reply)


def _do(task: str, arguments: tuple, reply) -> None:
    from importlib import import_module

    from gemm_lab.gpu.launching import explained
    try:
        result = None
        for kind, result in getattr(import_module(f"gemm_lab.gpu.{TASKS[task]}"), task)(*arguments):
            if kind == "progress":
                reply(kind, result)
        _flush_output()
        reply("result", result)
    except ValueError as error:
        reply("error", ValueError(str(error)))
    except Exception as error:
        _flush_output()
        reply("error", explained(error))
        os._exit(1)    # at once: an orderly exit would wait for a kernel that never ends


def _flush_output() -> None:
    """Write out what kernels have printed: the CUDA driver leaves it in the buffers of C."""
    with suppress(Exception):
        ctypes.CDLL(None).fflush(None)


if __name__ == "__main__":
    main()
