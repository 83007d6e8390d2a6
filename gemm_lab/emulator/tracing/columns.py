"""The columns of a trace while they grow."""

from __future__ import annotations

import numpy as np

from gemm_lab.emulator.tracing.trace import MAX_VALUES

COLUMNS = ("line", "instruction", "kind", "mask", "width", "array", "at_index", "at_value", "epoch", "opens", "words",
           "requests", "sectors", "wavefronts", "bank_conflicts", "machine", "asynchronous", "launch_global",
           "launch_shared", "launch_fma")
NOTHING = np.zeros(0, np.int64)


class TooLong(ValueError):
    """The trace would be too large."""


class Columns:
    """Steps, one after the other; `array()` makes arrays of them at the end."""

    def __init__(self, threads: int):
        self.threads = threads
        self.steps: dict[str, list[int]] = {name: [] for name in COLUMNS}
        self.sources: list[tuple] = []
        self.constants: list[tuple] = []
        self.flat: dict[str, list[np.ndarray]] = {"index": [], "value": [], "mixed": []}
        self.sizes = dict.fromkeys(self.flat, 0)
        self.masks: dict[bytes, int] = {}

    def __len__(self) -> int:
        return len(self.sources)

    def last(self, name: str, default: int = -1) -> int:
        return self.steps[name][-1] if self.steps[name] else default

    def add(self, members: np.ndarray, reached=NOTHING, values=(), operands=(), **entry: int) -> int:
        """Append a step of these threads; returns its number. What `entry` leaves out is 0."""
        entry = dict.fromkeys(COLUMNS, 0) | entry
        entry |= {"mask": self.mask(members), "width": len(values), "at_index": self.sizes["index"],
                  "at_value": self.sizes["value"]}
        for name, column in self.steps.items():
            column.append(int(entry[name]))
        sources, constants = zip(*operands) if operands else ((), ())
        self.sources.append((*sources, -1, -1, -1, -1)[:4])
        self.constants.append((*constants, *[np.nan] * 4)[:4])
        self.put("index", reached)
        if values:
            self.put("value", np.stack(values, axis=1).astype(np.float32).reshape(-1))
        return len(self) - 1

    def put(self, name: str, values: np.ndarray) -> int:
        """Append to a flat array; returns where the values begin."""
        at = self.sizes[name]
        self.flat[name].append(values)
        self.sizes[name] += len(values)
        if self.sizes[name] > MAX_VALUES:
            raise TooLong(f"choose a smaller problem: the trace of one block has more than {MAX_VALUES:,} values after "
                          f"{len(self):,} steps of {self.threads:,} threads")
        return at

    def mask(self, members: np.ndarray) -> int:
        return self.masks.setdefault(members.astype(np.int32).tobytes(), len(self.masks))

    def arrays(self) -> dict:
        """All columns as arrays, by the names that they have in `Trace`."""
        masks = np.zeros((len(self.masks), self.threads), bool)
        for members, row in self.masks.items():
            masks[row, np.frombuffer(members, np.int32)] = True
        flat = {name: np.concatenate([NOTHING, *parts]) for name, parts in self.flat.items()}
        wide = np.uint16 if flat["index"].max(initial=0) < 2**16 else np.uint32
        return {"steps": {name: np.array(column, np.int32) for name, column in self.steps.items()}, "masks": masks,
                "index": flat["index"].astype(wide), "value": flat["value"].astype(np.float32),
                "mixed": flat["mixed"].astype(np.int32),
                "sources": np.array(self.sources, np.int32).reshape(-1, 4),
                "constants": np.array(self.constants, np.float32).reshape(-1, 4)}
