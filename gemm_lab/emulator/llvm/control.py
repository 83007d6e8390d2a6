"""Who runs, and where: the operations at the ends of basic blocks.

Every lane has a program counter, the distance of its next record from the start of the code. As in `machine`, the lanes
with the lowest one run, until others come first; lanes that wait at a barrier or have finished have counters beyond
all records. `choose` says who runs next, and returns when nobody can.
"""

from __future__ import annotations

from gemm_lab.counts import WARP
from gemm_lab.emulator.llvm.operations import Operation
from gemm_lab.emulator.llvm.structures import CONTEXT, EXIT, RECORD_BYTES, WAITING, WINDOW
from gemm_lab.emulator.llvm.values import Value


def choose(name: str = "choose") -> Operation:
    """Run the lanes with the lowest program counter; return to `run` if all wait or have finished."""
    f = Operation(name)
    counters = f.base[WINDOW.pcs]
    lowest = f.reduce("umin", counters)
    with f.when((lowest >= WAITING) | (f.base[CONTEXT.stop] != 0)):
        f.ret()
    chosen = counters == lowest
    f.base[CONTEXT.active] = chosen.set()
    f.base[CONTEXT.others] = f.reduce("umin", f.select(chosen, counters.like(EXIT), counters))
    f.go(f.base[CONTEXT.code] + lowest, chosen.set())
    return f


class Flow(Operation):
    """An operation that may change who runs."""

    def counter(self, n: int) -> Value:
        """The program counter in the n-th operand."""
        return self.operand(n).seen_as("u32")

    def all_go(self, target: Value) -> None:
        """The active lanes go to a record: at once, unless others are there or come first."""
        with self.when((target < self.base[CONTEXT.others]) & (self.base[CONTEXT.stop] == 0)):
            self.go(self.base[CONTEXT.code] + target)
        self.part(target)

    def part(self, counters: Value) -> None:
        """The active lanes get these program counters, and somebody else may run."""
        old = self.base[WINDOW.pcs]
        self.base[WINDOW.pcs] = self.select(self.lanes, counters.broadcast(WARP), old)
        self.jump_to("@choose", self.ip, self.mask)


def jump(name: str) -> Operation:
    """Operands: target."""
    f = Flow(name)
    f.all_go(f.counter(0))
    return f


def branch(name: str) -> Operation:
    """Operands: predicate, where to go if it holds, and where if not."""
    f = Flow(name)
    holds = f.place(0).load("u32")
    taken = holds & f.mask
    with f.when(taken == 0):
        f.all_go(f.counter(2))
    with f.when(taken == f.mask):
        f.all_go(f.counter(1))
    f.part(f.select(holds.predicates(), f.counter(1), f.counter(2).broadcast(WARP)))
    return f


def barrier(name: str) -> Operation:
    """__syncthreads(). Operands: where it leads."""
    f = Flow(name)
    arrive(f, f.constant("u32", 0))
    return f


def voting_barrier(name: str, inverted: bool) -> Operation:
    """__syncthreads_or() and its kin. Operands: where it leads, predicate."""
    f = Flow(name)
    holds = f.place(1).load("u32")
    arrive(f, f.mask & (~holds if inverted else holds))
    return f


def arrive(f: Flow, yes: Value) -> None:
    """The active lanes come to a barrier, and those in `yes` say yes."""
    for field, lanes in ((CONTEXT.coming, f.mask), (CONTEXT.saying_yes, yes)):
        f.base[field] = f.base[field] + f.intrinsic("ctpop", lanes)
    f.part(f.counter(0) + WAITING)


def vote_result(name: str, operation: str) -> Operation:
    """What the threads said at the barrier that has opened last. Operands: result."""
    f = Operation(name)
    yes, everyone = (f.base[field].broadcast(WARP) for field in (CONTEXT.said_yes, CONTEXT.came))
    f.put(0, {"popc": lambda: yes.seen_as("s32"), "or": lambda: yes != 0, "and": lambda: yes == everyone}[operation]())
    f.next()
    return f


def enter(name: str) -> Operation:
    """A basic block begins. Operands: where its threads are counted, its length in instructions, its number."""
    f = Operation(name)
    add_lanes(f)
    budget = f.base[WINDOW.budget] - f.operand(1).to("s64")
    f.base[WINDOW.budget] = budget
    with f.when(budget < 0):
        f.call(f.base[CONTEXT.spent], f.operand(2).to("s64"))
        f.require(f.base[CONTEXT.stop] == 0)
    f.next()
    return f


def add_lanes(f: Operation) -> None:
    """Count the active lanes. Operand 0: where."""
    threads = f.place(0)
    threads.store(threads.load("u64") + f.intrinsic("ctpop", f.mask).to("u64"))


def count(name: str) -> Operation:
    """Lanes that a predicate has left execute an FMA. Operands: where they are counted."""
    f = Operation(name)
    add_lanes(f)
    f.next()
    return f


def guard(name: str, inverted: bool) -> Operation:
    """@p: only lanes whose predicate holds execute what follows. Operands: predicate; bytes to skip, if none does."""
    f = Operation(name)
    holds = f.place(0).load("u32")
    narrow(f, ~holds if inverted else holds)
    return f


def narrow(f: Operation, lanes: Value) -> None:
    """Go on with those of the active lanes that are in a set; skip as many bytes as operand 1 says, if none is."""
    mask = f.mask & lanes
    with f.when(mask == 0):
        f.go(f.ip + f.operand(1))
    f.go(f.ip + RECORD_BYTES, mask)


def unguard(name: str) -> Operation:
    """All lanes that run execute what follows."""
    f = Operation(name)
    f.go(f.ip + RECORD_BYTES, f.base[CONTEXT.active])
    return f


def leave(name: str) -> Operation:
    """Something that is not known here: the launch is left to the NumPy back end."""
    f = Operation(name)
    f.fail()
    return f
