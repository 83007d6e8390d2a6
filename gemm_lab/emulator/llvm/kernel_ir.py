"""From a kernel to the IR of one warp: every register is a vector of 32 lanes, every basic block ends in a decision.

As in `machine`, the lanes with the lowest program counter run, under a mask, until others come first. A kernel with an
instruction that is not known here raises Unsupported, and is left to the NumPy back end.
"""

from __future__ import annotations

from gemm_lab.emulator.flow import EXIT, Barrier, Branch, Jump, registers, written
from gemm_lab.emulator.instructions import meaning
from gemm_lab.emulator.llvm import context as c
from gemm_lab.emulator.llvm import instructions
from gemm_lab.emulator.llvm.ir import Writer, bits, splat, vector
from gemm_lab.emulator.llvm.operands_ir import PCS, kept
from gemm_lab.emulator.llvm.requests_ir import Access, Requests, Table
from gemm_lab.emulator.program import Code, Program
from gemm_lab.emulator.ptx import Immediate, Instruction, Register, Unsupported, number
from gemm_lab.emulator.shared_requests import SharedRequests

NO_EFFECT = {"membar", "fence", "prefetch", "prefetchu", "nanosleep"}


class Translation:
    """The IR of a kernel, and the lists that it refers to by number."""

    def __init__(self, program: Program, shared: SharedRequests, count: bool, warps: int):
        self.program, self.shared, self.count, self.w = program, shared, count, Writer()
        self.index_of = {id(i): n for n, i in enumerate(program.kernel.instructions)}
        self.races = warps > 1
        self.accesses: list[Access] = []
        self.tables: list[Table] = []
        self.symbols: list[str] = []
        self.special: list[str] = []
        self.moved: set[str] = {"i32"}         # types of elements that are loaded or stored
        self.kinds: dict[str, str] = {}        # register -> PTX type in which it is kept
        self.places, self.state_bytes = self._layout()
        self.parameters, self.parameter_bytes = self._parameters()
        self.blocks = [BlockTranslation(self, n, code) for n, code in enumerate(program.codes)]
        for block in self.blocks:
            block.write()

    def _layout(self) -> tuple[dict[str, int], int]:
        """Where the registers that outlive a basic block lie in the state of a warp."""
        for code in self.program.codes:
            for i in code.block.instructions:
                for register in registers((i.operands, i.guard)):
                    self.kinds[register.name] = kept(register.type)
        live = sorted(set().union(*(code.block.live for code in self.program.codes)))
        places, top = {}, 128
        for name in live:
            places[name] = top
            top += max(32 * bits(self.kinds.setdefault(name, "pred")) // 8, 64)
        return places, -(-top // 64) * 64

    def _parameters(self) -> tuple[dict[str, int], int]:
        places, top = {}, 0
        for p in self.program.kernel.parameters:
            places[p.name] = top
            top += -(-p.size // 16) * 16
        return places, top

    def function(self) -> str:
        """The function that runs a warp until all its lanes wait or have finished."""
        cases = " ".join(f"i32 {n}, label %b{n}" for n in range(len(self.blocks)))
        return f"""
define internal void @warp(ptr %state, ptr %special, ptr %context) noinline {{
  %active = alloca i32
  %others = alloca i32
  br label %choose
choose:
  %stop = load volatile i64, ptr %context
  %stopped = icmp ne i64 %stop, 0
  br i1 %stopped, label %leave, label %go.on
go.on:
  %pcs = load {PCS}, ptr %state
  %lowest = call i32 @llvm.vector.reduce.umin.v32i32({PCS} %pcs)
  %l1 = insertelement {PCS} poison, i32 %lowest, i32 0
  %l2 = shufflevector {PCS} %l1, {PCS} poison, {PCS} zeroinitializer
  %chosen = icmp eq {PCS} %pcs, %l2
  %bits = bitcast <32 x i1> %chosen to i32
  store i32 %bits, ptr %active
  %rest = select <32 x i1> %chosen, {PCS} {splat('i32', EXIT)}, {PCS} %pcs
  %rest.lowest = call i32 @llvm.vector.reduce.umin.v32i32({PCS} %rest)
  store i32 %rest.lowest, ptr %others
  switch i32 %lowest, label %leave [ {cases} ]
leave:
  ret void
""" + "\n".join(self.w.lines) + "\n}\n"


class BlockTranslation(Requests):
    """The IR of one basic block."""

    def __init__(self, kernel: Translation, n: int, code: Code):
        super().__init__(kernel, kernel.w)
        self.n, self.code = n, code

    def write(self) -> None:
        """Write the block."""
        self.w.label(f"b{self.n}")
        self.mask = self.w.op("load i32, ptr %active")
        self.lanes = self.w.op(f"bitcast i32 {self.mask} to <32 x i1>")
        self.count_threads()
        for i in self.code.block.instructions:
            self.instruction(i)
        self.end()

    def count_threads(self) -> None:
        if self.kernel.count and self.code.fma:
            w = self.w
            threads = w.op(f"zext i32 {w.op(f'call i32 @llvm.ctpop.i32(i32 {self.mask})')} to i64")
            place = w.at(w.load("ptr", "%context", c.BLOCK_THREADS), 8 * self.n)
            w.do(f"store i64 {w.op(f'add i64 {threads}, ' + w.load('i64', place, 0))}, ptr {place}")

    # ---- instructions

    def instruction(self, i: Instruction) -> None:
        name = i.opcode[0]
        if i.guard is not None:
            raise Unsupported(f"`{i.text}`")
        if name in STEPS:
            STEPS[name](self, i)
        elif name not in NO_EFFECT and (name, i.opcode[1:2]) != ("bar", ("warp",)):
            self.arithmetic(i)

    def arithmetic(self, i: Instruction) -> None:
        found = meaning(i.opcode)
        target, *sources = i.operands
        if len(sources) != len(found.sources) or not isinstance(target, Register):
            raise Unsupported(f"`{i.text}`")
        any_nan = instructions.takes_any_nan(i.opcode)
        values = [self.source(s, kind, any_nan) for s, kind in zip(sources, found.sources)]
        self.assign(target, found.result, *instructions.translate(self.w, i.opcode, values))

    # ---- the end of the block

    def end(self) -> None:
        end = self.code.end
        if isinstance(end, Jump):
            self.save()
            self.go(end.target)
        elif isinstance(end, Branch):
            self.branch(end)
        else:
            self.barrier(end)

    def save(self) -> None:
        """Put the registers that others will read into the state, for the active lanes."""
        w, kernel = self.w, self.kernel
        live = set().union(*(kernel.program.codes[t].block.live for t in self.code.end.targets if t != EXIT))
        for name in sorted(live & set().union(*map(written, self.code.block.instructions))):
            kind, place = kernel.kinds[name], kernel.places[name]
            value = self.read(Register(name, kind))
            old = w.load(vector(kind), "%state", place)
            new = w.op(f"select <32 x i1> {self.lanes}, {vector(kind)} {value}, {vector(kind)} {old}")
            w.do(f"store {vector(kind)} {new}, ptr {w.at('%state', place)}, align 1")

    def branch(self, end: Branch) -> None:
        w, n = self.w, self.n
        predicate = self.source(end.predicate, "pred")
        self.save()
        taken = w.op(f"and i32 {w.op(f'bitcast <32 x i1> {predicate} to i32')}, {self.mask}")
        none, everyone = w.op(f"icmp eq i32 {taken}, 0"), w.op(f"icmp eq i32 {taken}, {self.mask}")
        w.do(f"br i1 {none}, label %b{n}.none, label %b{n}.some")
        w.label(f"b{n}.some")
        w.do(f"br i1 {everyone}, label %b{n}.all, label %b{n}.part")
        w.label(f"b{n}.part")
        self.leave(w.op(f"select <32 x i1> {predicate}, {PCS} {splat('i32', end.taken)}, "
                        f"{PCS} {splat('i32', end.otherwise)}"))
        w.label(f"b{n}.none")
        self.go(end.otherwise, "none")
        w.label(f"b{n}.all")
        self.go(end.taken, "all")

    def barrier(self, end: Barrier) -> None:
        """__syncthreads(); named barriers and votes are not known here."""
        plain = isinstance(end.number, Immediate) and number(end.number.text) == 0
        if not plain or end.count is not None or end.vote is not None:
            raise Unsupported("a barrier that is not __syncthreads()")
        self.save()
        self.leave(splat("i32", c.WAITING + end.target))

    def leave(self, pcs: str) -> None:
        """The active lanes go to `pcs`; then the lowest program counter runs."""
        w = self.w
        old = w.op(f"load {PCS}, ptr %state")
        w.do(f"store {PCS} {w.op(f'select <32 x i1> {self.lanes}, {PCS} {pcs}, {PCS} {old}')}, ptr %state")
        w.do("br label %choose")

    def go(self, target: int, suffix: str = "jump") -> None:
        """All active lanes go to a block: at once, if nobody else is there or before it."""
        w, label = self.w, f"b{self.n}.{suffix}"
        if target != EXIT:
            first = w.op(f"icmp ult i32 {target}, {w.op('load i32, ptr %others')}")
            if target <= self.n:    # a loop must be stoppable
                running = w.op(f"icmp eq i64 {w.op('load volatile i64, ptr %context')}, 0")
                first = w.op(f"and i1 {first}, {running}")
            w.do(f"br i1 {first}, label %b{target}, label %{label}.leave")
            w.label(f"{label}.leave")
        self.leave(splat("i32", target))


STEPS = {"ld": BlockTranslation.load, "ldu": BlockTranslation.load, "st": BlockTranslation.store,
         "cvta": BlockTranslation.address_of_kind}
