"""Threads that return while others of their block go on: what they should have stored in shared memory is then missing.

That is no defect by itself. But where values are wrong, unwritten, or raced for, the line of the return explains it, if
the others have met since: nobody could rely on a store that comes after the last meeting.
"""

from __future__ import annotations

import numpy as np

from gemm_lab.emulator.flow import Barrier

STAYS = -1


class Departures:
    """Who has left, in one batch, and in which line."""

    def __init__(self, batch):
        self.batch = batch
        self.line = np.full(batch.threads.n, STAYS, np.int64)    # 0: a line that is not known
        self.missed = np.zeros(batch.threads.n, bool)            # others of the block have met since

    def follow(self, code) -> None:
        """The group comes to the end of a basic block; some may go from here to the end of the kernel."""
        if not code.leads_out or isinstance(code.end, Barrier):
            return
        group, endings = self.batch.group, list(self.batch.program.endings)
        if code.condition is None:
            gone = np.full(group.n, code.end.target in endings)
        else:
            gone = np.isin(np.where(code.condition(self.batch), code.end.taken, code.end.otherwise), endings)
        leaving = group.members[gone & (group.of(self.line) == STAYS)]
        self.line[leaving] = code.end.line or 0

    def barrier(self, blocks: np.ndarray) -> None:
        """All that are left of these blocks have met."""
        if self.met(blocks) and not self.batch.execution.notes:
            for block in blocks:
                if sentence := self.sentence(int(block)):
                    self.batch.execution.notes.append(sentence)
                    return

    def met(self, blocks: np.ndarray) -> bool:
        """Threads of these blocks have met. Whether any other has left before."""
        new = (self.line != STAYS) & ~self.missed
        if new.any():
            self.missed |= new & np.isin(self.batch.threads.block, blocks)
        return bool(self.missed.any())

    def of_block(self, block: int) -> tuple[int, int | None]:
        """(threads of a block that left before others met, the line in which most of them did)"""
        gone = self.line[(self.batch.threads.block == block) & self.missed]
        if len(gone) in (0, self.batch.threads.launch.threads):
            return 0, None
        lines, counts = np.unique(gone, return_counts=True)
        return int(counts.max()), int(lines[counts.argmax()]) or None

    def sentence(self, block: int) -> str:
        """Who of a block left before others met, or nothing if nobody did."""
        count, line = self.of_block(block)
        if not count:
            return ""
        threads = self.batch.threads
        name = threads.block_of(block * threads.launch.threads)
        where = f" in line {line}" if line else ""
        return (f"{count} of the {threads.launch.threads} threads of block {name} had returned{where} while the others "
                "went on: anything that they should have stored in shared memory after that is missing")
