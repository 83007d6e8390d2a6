"""What each step is for, derived from the flow of data alone; names and comments play no part.

A global load whose value a thread then stores into shared memory belongs to the cooperative load, one whose value is
multiplied at once fetches an operand. A multiplication that adds to a running sum belongs to the accumulator which it
continues. What only leads to a store of results belongs to the write-back.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from gemm_lab.emulator.tracing import tiles
from gemm_lab.emulator.tracing.trace import (
    ARITHMETIC,
    BARRIER,
    END,
    FMA,
    GLOBAL_LOAD,
    GLOBAL_STORE,
    LOADS,
    LOCAL_LOAD,
    LOCAL_STORE,
    SHARED_LOAD,
    SHARED_STORE,
    Trace,
)

PHASES = ("fill", "barrier", "operand", "multiply", "write back", "local memory", "other", "end")
FILL, AT_BARRIER, OPERAND, MULTIPLY, WRITE_BACK, IN_LOCAL, OTHER, AT_END = range(len(PHASES))


def annotate(trace: Trace) -> Trace:
    """The trace with the columns phase, chain, uses and last, and with the origins of shared arrays."""
    return Flow(trace).annotated()


class Flow:
    """Which step uses what which step made. `made_from[s]` and `used_by[s]` are lists of (step, operand)."""

    def __init__(self, trace: Trace):
        self.trace, self.kind = trace, trace.steps["kind"].tolist()
        self.made_from = [self.origins(s) for s in range(len(trace))]
        self.carry_through_local_memory()
        self.used_by: list[list[tuple[int, int]]] = [[] for _ in self.kind]
        for s, origins in enumerate(self.made_from):
            for origin, operand in origins:
                self.used_by[origin].append((s, operand))

    def origins(self, step: int) -> list[tuple[int, int]]:
        found = []
        for operand in np.flatnonzero(self.trace.sources[step] != -1).tolist():
            tags = np.unique(self.trace.origins(step, operand))
            found += [(int(tag) // 4, operand) for tag in tags if tag >= 0]
        return found

    def carry_through_local_memory(self) -> None:
        """A load from local memory gives back what the thread stored there: its origins are the store's."""
        stored: dict[tuple[int, int], list] = {}
        for step, kind in enumerate(self.kind):
            if kind in (LOCAL_LOAD, LOCAL_STORE) and len(reached := self.trace.reached(step)):
                place = int(self.trace.steps["array"][step]), int(reached[0])
                if kind == LOCAL_STORE:
                    stored[place] = self.made_from[step]
                else:
                    self.made_from[step] = stored.get(place, [])

    def annotated(self) -> Trace:
        self.products = [self.is_product(s) for s in range(len(self.kind))]
        self.chain = self.chains()
        self.phase = [self.phase_of(s) for s in range(len(self.kind))]
        uses = [[u for u, _ in self.used_by[s] if self.multiplies(u)] if self.kind[s] in LOADS else []
                for s in range(len(self.kind))]
        columns = {"phase": self.phase, "chain": self.in_order_of_results(), "uses": [len(set(u)) for u in uses],
                   "last": [max(u, default=-1) for u in uses]}
        steps = dict(self.trace.steps) | {name: np.array(column, np.int32) for name, column in columns.items()}
        return tiles.explained(replace(self.trace, steps=steps), self.made_from)

    # ---- accumulators

    def is_product(self, step: int) -> bool:
        """It multiplies two values that were loaded."""
        loaded = {operand for origin, operand in self.made_from[step] if self.kind[origin] in LOADS}
        return self.kind[step] in (FMA, ARITHMETIC) and {0, 1} <= loaded

    def chains(self) -> list[int]:
        """For each step the accumulator to which it adds, or -1."""
        chain = [-1] * len(self.kind)
        owners: list[tuple[int, set[int]]] = []    # of each accumulator: its first instruction, and its threads
        for step, kind in enumerate(self.kind):
            if kind == FMA and self.products[step] or kind == ARITHMETIC and self.adds_product(step):
                before = [chain[origin] for origin in self.behind(step) if chain[origin] >= 0]
                chain[step] = before[0] if before else self.start(step, owners)
        return chain

    def start(self, step: int, owners: list[tuple[int, set[int]]]) -> int:
        """A sum begins: of threads that have none from this instruction yet, or it is another accumulator."""
        instruction, members = int(self.trace.steps["instruction"][step]), set(self.trace.members(step).tolist())
        for number, (first, threads) in enumerate(owners):
            if first == instruction and not threads & members:
                threads |= members
                return number
        owners.append((instruction, members))
        return len(owners) - 1

    def behind(self, step: int) -> list[int]:
        """The steps whose values this one uses, those that came through local memory included."""
        direct = [origin for origin, _ in self.made_from[step]]
        return direct + [origin for load in direct if self.kind[load] == LOCAL_LOAD
                         for origin, _ in self.made_from[load]]

    def adds_product(self, step: int) -> bool:
        """A sum of a running sum and a product, where the two were not fused."""
        return any(self.kind[origin] == ARITHMETIC and self.products[origin] for origin, _ in self.made_from[step])

    def multiplies(self, step: int) -> bool:
        return self.chain[step] >= 0 or self.kind[step] == ARITHMETIC and self.products[step]

    def in_order_of_results(self) -> list[int]:
        """Accumulators numbered in the order in which their results lie in memory."""
        place = {}
        for step, chain in enumerate(self.chain):
            if chain >= 0:
                store = self.result(step)
                reached = self.trace.reached(store) if store >= 0 else ()
                place[chain] = (int(reached[0]) if len(reached) else 2**40, chain)
        order = {chain: n for n, chain in enumerate(sorted(place, key=place.get))}
        return [order.get(chain, -1) for chain in self.chain]

    def result(self, step: int) -> int:
        """The global store to which a step's value leads through arithmetic that is no accumulation, or -1."""
        for user, _ in self.used_by[step]:
            if self.kind[user] == GLOBAL_STORE:
                return user
            if self.kind[user] in (FMA, ARITHMETIC, LOCAL_LOAD) and self.chain[user] < 0:
                if (found := self.result(user)) >= 0:
                    return found
        return -1

    # ---- phases

    def phase_of(self, step: int) -> int:
        kind = self.kind[step]
        fixed = {BARRIER: AT_BARRIER, END: AT_END, GLOBAL_STORE: WRITE_BACK, LOCAL_LOAD: IN_LOCAL,
                 LOCAL_STORE: IN_LOCAL}
        if kind in fixed:
            return fixed[kind]
        if kind in (FMA, ARITHMETIC):
            return MULTIPLY if self.multiplies(step) else WRITE_BACK
        if kind == SHARED_STORE:
            computed = any(self.kind[origin] in (FMA, ARITHMETIC) for origin, _ in self.made_from[step])
            return WRITE_BACK if computed else FILL
        if kind in (GLOBAL_LOAD, SHARED_LOAD):
            return self.purpose(step)
        return OTHER

    def purpose(self, load: int) -> int:
        """What a load is for: what its value is used by."""
        users = [user for user, _ in self.used_by[load]]
        if any(self.multiplies(user) for user in users):
            return OPERAND
        if any(self.kind[user] == SHARED_STORE for user in users):
            return FILL
        if not users and self.kind[load] == GLOBAL_LOAD:    # cp.async, or a value that nobody needs
            return FILL if any(kind == SHARED_STORE for kind in self.kind) else OTHER
        return WRITE_BACK if users else OTHER
