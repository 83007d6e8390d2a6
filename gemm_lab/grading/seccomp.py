"""A filter of system calls in which starting a process or a thread fails: a fork bomb ends at its first fork.

A limit on the number of processes (RLIMIT_NPROC) would not hold for root, and root is who grades in a container. The
filter is a classic BPF program over `struct seccomp_data` (linux/seccomp.h), which bubblewrap installs.
"""

from __future__ import annotations

import errno
import struct

# machine -> its number in linux/audit.h, and those of its system calls clone, fork, vfork, as far as it has them
MACHINES = {"x86_64": (0xC000003E, (56, 57, 58)), "aarch64": (0xC00000B7, (220,))}
CLONE3, FOREIGN = 435, 0x40000000                           # from FOREIGN on x86_64 has the calls of another ABI
LOAD, EQUAL, AT_LEAST, ANSWER = 0x20, 0x15, 0x35, 0x06      # instructions: (code, skip if so, skip if not, operand)
NUMBER, ARCHITECTURE = 0, 4                                 # where they are in seccomp_data
ALLOW, FAIL, KILL = 0x7FFF0000, 0x00050000, 0x80000000      # answers; FAIL comes with an error number


def no_new_processes(machine: str) -> bytes:
    """The filter for one of MACHINES."""
    architecture, forks = MACHINES[machine]
    steps = [(LOAD, 0, 0, ARCHITECTURE), (EQUAL, 1, 0, architecture), (ANSWER, 0, 0, KILL),
             (LOAD, 0, 0, NUMBER), (AT_LEAST, 0, 1, FOREIGN), (ANSWER, 0, 0, KILL),
             *_fails(CLONE3, errno.ENOSYS)]     # the C library then tries clone
    for number in forks:
        steps += _fails(number, errno.EPERM)
    return b"".join(struct.pack("HBBI", *step) for step in [*steps, (ANSWER, 0, 0, ALLOW)])


def _fails(number: int, error: int) -> list[tuple[int, int, int, int]]:
    return [(EQUAL, 0, 1, number), (ANSWER, 0, 0, FAIL | error)]
