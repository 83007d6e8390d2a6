"""The machine: executes the blocks of a launch, a batch of them at a time, all threads of a batch in lockstep.

Every thread has a program counter of its own. In each step the threads with the lowest one run, as one *group*: threads
that took different branches run one after the other and meet again where their paths join, because the PTX lays out
code in that order. Threads that wait at a barrier or have finished do not run.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from gemm_lab.emulator import memory as mem
from gemm_lab.emulator import reports, watched
from gemm_lab.emulator.barriers import Barriers
from gemm_lab.emulator.copies import Copies
from gemm_lab.emulator.counting import Tally
from gemm_lab.emulator.departures import Departures
from gemm_lab.emulator.flow import EXIT, Barrier, Branch, Jump
from gemm_lab.emulator.global_races import GlobalRaces
from gemm_lab.emulator.loops import Watch, endless
from gemm_lab.emulator.printing import Output
from gemm_lab.emulator.program import STEPS, Code, Program
from gemm_lab.emulator.races import Races
from gemm_lab.emulator.registers import Registers, Window
from gemm_lab.emulator.reports import Findings, Stop
from gemm_lab.emulator.requests import ReadOnly
from gemm_lab.emulator.schedule import Lockstep
from gemm_lab.emulator.shared_requests import SharedRequests
from gemm_lab.emulator.threads import Group, Launch, Threads
from gemm_lab.emulator.tracing import Recorder, TooLong
from gemm_lab.emulator.undefined import Undefined

BATCH_BYTES = 2**26    # of shared and local memory in a batch
NO_BLOCKS = np.zeros(0, np.int64)
LANES = 8192    # threads in a batch: few enough that their registers stay in the processor's cache
RESIDENT = 2**17    # the same where blocks may wait for each other, which a GPU holds at once: half of an H200's


@dataclass
class Execution:
    """One launch: what is executed, and what comes out."""
    program: Program
    launch: Launch
    memory: mem.Global
    arguments: dict[str, bytes]
    shared: SharedRequests = SharedRequests()
    count: bool = True
    check: bool = False
    step_limit: int | None = None
    schedule: Callable = Lockstep
    largest: int = 0                     # the largest number that the kernel was given: see `loops`
    tally: Tally = field(default_factory=Tally)
    findings: Findings = field(default_factory=Findings)
    footprints: dict = field(default_factory=dict)
    output: Output = field(default_factory=Output)    # what the kernel prints
    completed: bool = True
    global_races: GlobalRaces | None = None
    recorder: Recorder | None = None    # in mode "trace"
    undefined: Undefined | None = None
    notes: list[str] = field(default_factory=list)    # what may explain a finding

    def run(self, progress: Callable[[int], None] = lambda blocks: None) -> None:
        """Run all blocks; stops at the first finding after which going on makes no sense."""
        symbols = mem.symbols(self.program.variables, self.memory)
        if self.check:
            self.global_races = GlobalRaces(self.launch, self.program.accesses, self.findings)
            for region in watched.written(self.program.targets, self.memory, self.arguments, symbols):
                region.watched = True
            self.undefined = Undefined(self.program, self.findings) if self.program.tracking else None
        per_batch = self.blocks_at_once()
        with np.errstate(all="ignore"):
            try:
                for first in range(0, self.launch.blocks, per_batch):
                    blocks = min(per_batch, self.launch.blocks - first)
                    Batch(self, Threads(self.launch, first, blocks), symbols).run()
                    progress(blocks)
            except Stop as stop:
                self.findings.add(stop.finding)
                self.completed = False

    def blocks_at_once(self) -> int:
        """Blocks of a batch: few enough for the cache, and for memory where threads or blocks have large arrays."""
        def bytes_in(space):
            return sum(v.size for v in self.program.variables.values() if v.space == space)
        threads = self.launch.threads
        size = threads * bytes_in("local") + bytes_in("shared") + self.launch.shared_bytes
        waits = any(a.polls and a.signal and a.space != "shared" for a in self.program.accesses)
        return max(1, min((RESIDENT if waits else LANES) // threads, BATCH_BYTES // max(size, 1)))


class Batch:
    """Some blocks, executed together.

    group       the threads that execute now; they are at basic block `at`
    registers   what the group sees of the registers
    others      the lowest program counter among the other threads that may run
    pc          program counters of the threads outside the group (EXIT: finished)
    resting     threads that wait for memory to change, and let others go first
    """

    def __init__(self, execution: Execution, threads: Threads, symbols: dict[str, int]):
        self.execution, self.program, self.threads = execution, execution.program, threads
        self.tally = execution.tally if execution.count else None
        self.findings, self.output = execution.findings, execution.output
        self.global_races = execution.global_races
        if self.global_races is not None:
            self.global_races.begin(threads)
        self.departures = Departures(self) if execution.check else None
        self.barriers = Barriers(self)
        self._make_memory()
        self._fill_registers(symbols)
        self.undefined = execution.undefined
        if self.undefined is not None:
            self.undefined.begin(self)
        self.schedule = execution.schedule(threads)
        self.copies = Copies(threads.n)
        self.watch = Watch(self.program.controls, execution.largest, execution.memory.largest(),
                           bounded=execution.step_limit is None)
        self.everyone, self.groups = Group(threads), {}
        self.pc = np.zeros(threads.n, np.int64)
        self.resting = np.zeros(threads.n, bool)
        self.alive = threads.n
        self.stores, self.stores_when_stuck, self.stores_when_woken, self.stuck = 0, -1, -1, False
        self.global_accesses = 0
        self.recorder = execution.recorder
        if self.recorder is not None:
            self.recorder.begin(self)

    def _make_memory(self) -> None:
        variables, launch = self.program.variables.values(), self.threads.launch
        places, size = mem.layout([v for v in variables if v.space == "shared"], launch.shared_bytes)
        shared = mem.Shared(places, size, self.threads.blocks, mem.SHARED_FILL)
        places, size = mem.layout([v for v in variables if v.space == "local"], 0)
        local = mem.Local(places, size, self.threads.n, 0)
        memory = self.execution.memory
        self.spaces = {"global": memory, "const": memory, "shared": shared, "local": local}
        self.races = None
        if self.execution.check and shared.regions:
            self.races = Races(self.threads, self.program.accesses, shared, self.findings, self.departures,
                               self.global_races, self.barriers.meetings, self.program.tracking is not None)

    def _fill_registers(self, symbols: dict[str, int]) -> None:
        self.whole = Registers(self.threads.n, self.program.types)
        self.whole.update(self.program.constants)
        self.whole.update({"%" + name: value for name, value in self.threads.special_registers().items()})
        addresses = symbols | self.spaces["shared"].addresses() | self.spaces["local"].addresses()
        self.whole.update({"&" + name: np.int64(address) for name, address in addresses.items()})

    # ---- what steps use

    def footprints(self) -> dict:
        """Footprints of the current group; those of all threads together are kept for the next batch."""
        if self.group is self.everyone:
            return self.execution.footprints.setdefault(self.threads.blocks, {})
        return self.group.footprints

    def space(self, access: mem.Access, address: int) -> mem.Space:
        """The memory that an access reaches; a generic address says it itself."""
        name = access.space or {1: "shared", 2: "local"}.get(address >> 56, "global")
        return self.spaces[name]

    def argument(self, name: str, offset: int, dtype: type):
        """A kernel argument, or a part of one, as a NumPy scalar."""
        return np.frombuffer(self.execution.arguments[name], dtype, 1, offset)[0]

    def narrow(self, chosen: np.ndarray, step) -> None:
        """Execute a step for some members of the group only."""
        group, registers = self.group, self.registers
        local = np.flatnonzero(chosen)
        self.group = self.group_of(group.members[local])
        self.registers = Window(registers, local, {})
        step(self)
        self.registers.flush()
        self.group, self.registers = group, registers

    def rank_in(self, group: Group) -> np.ndarray:
        """Where the members of the current group stand in a larger group."""
        return np.searchsorted(group.members, self.group.members)

    def warp_sync(self, mask, line: int | None) -> None:
        """The group's threads meet the others of their warp that the mask names."""
        if self.execution.check:
            reports.left_out(self, mask, line)
            self.departures.met(self.group.of(self.threads.block))
        if self.races is not None:
            self.races.warp_sync(self.group, mask)
        if self.global_races is not None:
            self.global_races.warp_sync(self.group, mask)

    def fence(self) -> None:
        """The group's threads make what they did visible to all blocks before what they do next."""
        if self.global_races is not None:
            self.global_races.fence(self.group)

    # ---- execution

    def run(self) -> None:
        """Execute until all threads have finished."""
        self.choose_group()
        while self.group is not None:
            code = self.program.codes[self.at]
            self.execute(code)
            self.follow(code)

    def execute(self, code: Code) -> None:
        """Run the steps of a basic block for the current group."""
        if self.tally is not None:
            self.tally.instructions += code.length * self.group.n
            for line, count in code.fma:
                self.tally.fma[line] += count * self.group.n
        if self.execution.step_limit is not None:
            self.count_steps(code)
        step = None
        try:
            for step, dead in code.steps if self.recorder is None else self.recorder.steps(self, code):
                step(self)
                for name in dead:
                    self.registers.pop(name, None)
        except (Stop, ReadOnly, TooLong):
            raise
        except Exception as problem:    # a fault of the emulator: the student shall see the line, and no traceback
            raise Stop(reports.cannot_execute(code.instruction_of(step), problem)) from problem

    def count_steps(self, code: Code) -> None:
        steps = self.registers[STEPS] + np.int64(code.length)
        self.registers[STEPS] = steps
        if steps.max() > self.execution.step_limit:
            raise endless(self.program.loop_line(self.at), "had not ended when a thread had executed step_limit = "
                          f"{self.execution.step_limit} instructions")

    def follow(self, code: Code) -> None:
        """Go where the end of a block leads."""
        end = code.end
        if self.recorder is not None and isinstance(end, Barrier):
            self.recorder.arrive(end.line, self.group)
        if self.departures is not None:
            self.departures.follow(code)
        if isinstance(end, Jump):
            self.go(end.target)
        elif isinstance(end, Branch):
            taken = code.condition(self)
            count = self.group.n * bool(taken) if taken.ndim == 0 else int(np.count_nonzero(taken))
            if count in (0, self.group.n):
                self.go(end.taken if count else end.otherwise)
            else:
                self.leave(np.where(taken, end.taken, end.otherwise), end.targets)
        elif code.plain_barrier and self.group.n == self.alive:    # everybody is here already
            self.passed_barrier(np.arange(self.threads.blocks))
            self.go(end.target)
        else:
            self.barriers.wait(code)
            self.leave(end.target, end.targets)

    def go(self, target: int) -> None:
        """The whole group goes to a block, and runs on unless other threads come first or are there already."""
        if target <= self.at and self.watch.round(self, self.at, target):
            self.resting[self.group.members] = True
        elif target < self.others:
            self.at = target
            return
        self.leave(target, (target,))

    def leave(self, pc, targets: tuple[int, ...]) -> None:
        """The group stops to run: note where its threads are, and choose who runs next."""
        if self.group is not self.everyone:
            self.registers.flush(self.program.live(targets))
        self.pc[self.group.members] = pc
        self.alive = int(np.count_nonzero(self.pc != EXIT)) if EXIT in targets else self.alive
        self.barriers.open()
        self.choose_group()

    def passed_barrier(self, blocks: np.ndarray, partly: np.ndarray = NO_BLOCKS) -> None:
        """A barrier of all threads has opened in these blocks, and one of some threads in those of `partly`."""
        opened = np.union1d(blocks, partly) if len(partly) else blocks
        self.schedule.opened(opened)
        if self.recorder is not None:
            self.recorder.opened(opened)
        if self.global_races is not None:
            self.global_races.barrier(opened)
        if self.departures is not None:
            self.departures.barrier(blocks)
        if self.barriers.meetings is not None:
            self.barriers.meetings.all_met(blocks)
        if self.races is not None:
            self.races.barrier(blocks)
            self.copies.under_way(self)

    # ---- who runs

    def choose_group(self) -> None:
        """Of the threads that may run, those with the lowest program counter."""
        runnable = (self.pc != EXIT) & ~self.barriers.waiting
        if not runnable.any():
            if self.barriers.waiting.any():
                raise self.barriers.deadlock()
            self.group = None
            return
        awake = runnable & ~self.resting
        if not awake.any():    # all wait for memory to change: once more, but not twice if nobody has stored anything
            self.stuck, self.stores_when_stuck = self.stores == self.stores_when_stuck, self.stores
            self.resting[:] = False
            awake = runnable
        elif self.resting.any():
            awake = self.apart(awake, runnable)
        ready = self.schedule.ready(awake)
        self.at = int(self.pc[ready].min())
        members = ready & (self.pc == self.at)
        rest = self.pc[ready & ~members]
        self.others = int(rest.min()) if len(rest) else EXIT
        self.enter(members)

    def apart(self, awake: np.ndarray, runnable: np.ndarray) -> np.ndarray:
        """Who runs while some rest: other warps first, then those that rest, if anything was stored. The rest of their
        warps comes last: it may hold a lock for which they wait, but more likely waits for them at a __syncwarp."""
        warp = self.threads.warp
        others = awake & ~np.isin(warp, warp[self.resting & runnable])
        if others.any():
            return others
        if self.stores == self.stores_when_woken:
            return awake
        self.stores_when_woken = self.stores
        self.resting[:] = False
        return runnable

    def enter(self, members: np.ndarray) -> None:
        if members.all():
            self.group, self.registers = self.everyone, self.whole
        else:
            self.group = self.group_of(np.flatnonzero(members))
            self.registers = Window(self.whole, self.group.index, self.group.copies)

    def group_of(self, index: np.ndarray) -> Group:
        """The group with these members, remembered from last time."""
        key = index.tobytes()
        if key not in self.groups:
            if len(self.groups) >= 64:
                self.groups.clear()
            self.groups[key] = Group(self.threads, index)
        return self.groups[key]

    def others_can_run(self) -> bool:
        """Whether threads outside the group could still do what the group waits for."""
        outside = (self.pc != EXIT) & ~self.barriers.waiting
        outside[self.group.members] = False
        return not self.stuck and bool(outside.any())
