"""Registers: a dictionary from a register's name to an array with one entry for each thread.

A register that is the same in all threads is a NumPy scalar. Arrays are never changed in place: writing a register puts
a new array into the dictionary, so "the same array object" means "the same contents", which `memory` relies on.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np


class Registers(dict):
    """The registers of all threads. One that was never written reads as 0."""

    def __init__(self, threads: int, types: Mapping[str, type]):
        self.threads, self.types = threads, types

    def __missing__(self, name: str):
        return self.types[name](0)


class Window(dict):
    """The registers of some of those threads, while they execute on their own.

    Reading takes the members' entries out of the whole array, at first use; writing stays in the window until `flush`
    puts the results back. `copies` remembers what was taken out and of which array, over many windows of a group.
    """

    def __init__(self, whole: Registers | Window, index: np.ndarray, copies: dict):
        self.whole, self.index, self.copies = whole, index, copies
        self.threads = len(index)

    def __missing__(self, name: str):
        whole = self.whole[name]
        if whole.ndim == 0:
            return whole
        source, copy = self.copies.get(name, (None, None))
        if source is not whole:
            copy = whole[self.index]
            self.copies[name] = (whole, copy)
        self[name] = copy
        return copy

    def flush(self, live=None) -> None:
        """Write back what changed; of `live` registers only, if given."""
        for name, value in self.items():
            if self.copies.get(name, (None, None))[1] is value or (live is not None and name not in live):
                continue
            old = self.whole[name]
            if old is value:
                continue
            new = np.full(self.whole.threads, old) if old.ndim == 0 else old.copy()
            new[self.index] = value
            self.whole[name] = new
