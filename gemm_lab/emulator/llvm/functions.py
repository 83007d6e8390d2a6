"""Functions of machine code, written instruction by instruction: values, calls, memory, control flow."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np

from gemm_lab.counts import WARP
from gemm_lab.emulator.llvm.values import Value, bits, element
from gemm_lab.emulator.ptx import SIZES


class Function:
    """A function that is being written. `parameters` are pairs (name, kind) or triples (name, kind, lanes)."""

    def __init__(self, name: str, *parameters: tuple, result: str = "", lanes: int = 1):
        self.name, self.result = name, self.type(result, lanes)
        self.parameters = [Value(self, p[1], p[2] if len(p) > 2 else 1, f"%{p[0]}") for p in parameters]
        self.lines: list[str] = []
        self.declarations: dict[str, str] = {}    # function -> its declaration
        self.count = 0

    def text(self) -> str:
        """The finished function."""
        parameters = ", ".join(f"{p.type} {p.name}" for p in self.parameters)
        end = [] if self.ended else ["  unreachable"]
        return "\n".join([f"define {self.result} @{self.name}({parameters}) {{", *self.lines, *end, "}"])

    def type(self, kind: str, lanes: int) -> str:
        """LLVM's name for such a value; "" is no value."""
        return Value(self, kind, lanes, "").type if kind else "void"

    def new(self) -> int:
        self.count += 1
        return self.count

    def op(self, kind: str, lanes: int, text: str) -> Value:
        """Write an instruction that makes a value."""
        name = f"%v{self.new()}"
        self.lines.append(f"  {name} = {text}")
        return Value(self, kind, lanes, name)

    def do(self, text: str) -> None:
        """Write an instruction that makes none."""
        self.lines.append(f"  {text}")

    # ---- values

    def constant(self, kind: str, value, lanes: int = 1) -> Value:
        """A number known now. Floats are given by their value."""
        if kind == "ptr":
            text = "null"
        elif kind == "pred":
            text = "true" if value else "false"
        elif kind[0] == "f":
            text = f"0x{int(np.float64(value).view(np.uint64)):016X}"    # LLVM writes float32, too, with 64 bits
        else:
            text = str(int(value))
        return Value(self, kind, lanes, f"splat ({element(kind)} {text})" if lanes > 1 else text)

    def vector(self, kind: str, values) -> Value:
        """A vector of numbers known now."""
        values = list(values)
        return Value(self, kind, len(values), "<" + ", ".join(f"{element(kind)} {v}" for v in values) + ">")

    def pointer(self, base: Value, offset) -> Value:
        """`offset` bytes behind a pointer; a vector of pointers, if one of both is a vector."""
        if isinstance(offset, int) and offset == 0:
            return base
        if isinstance(offset, int):
            offset = self.constant("s64", offset, base.lanes)
        return self.op("ptr", max(base.lanes, offset.lanes),
                       f"getelementptr i8, {base.type} {base.name}, {offset.type} {offset.name}")

    def select(self, condition: Value, a: Value, b) -> Value:
        """a where the condition holds, else b."""
        lanes = max(condition.lanes, a.lanes, b.lanes if isinstance(b, Value) else 1)
        a = a.broadcast(lanes)
        b = a.like(b)
        return self.op(a.kind, lanes, f"select {condition.type} {condition.name}, {a.type} {a.name}, {b.type} {b.name}")

    def join(self, parts: list[Value]) -> Value:
        """Vectors one after the other, a power of two of them."""
        while len(parts) > 1:
            parts = [self._join_two(*pair) for pair in zip(parts[::2], parts[1::2])]
        return parts[0]

    def _join_two(self, a: Value, b: Value) -> Value:
        lanes = ", ".join(f"i32 {k}" for k in range(2 * a.lanes))
        return self.op(a.kind, 2 * a.lanes, f"shufflevector {a.type} {a.name}, {b.type} {b.name}, "
                                            f"<{2 * a.lanes} x i32> <{lanes}>")

    # ---- calls

    def call(self, function: str | Value, *arguments: Value, result: str = "", lanes: int = 1) -> Value | None:
        """Call a function, given by its name or by a pointer to it."""
        to = self.type(result, lanes)
        name = function.name if isinstance(function, Value) else f"@{function}"
        if not isinstance(function, Value):
            self.declare(function, to, *(a.type for a in arguments))
        text = f"call {to} {name}({', '.join(f'{a.type} {a.name}' for a in arguments)})"
        return self.op(result, lanes, text) if result else self.do(text)

    def intrinsic(self, name: str, *arguments: Value, flag: bool | None = None, result: str = "") -> Value:
        """Call an intrinsic of LLVM whose result has the type of its first argument (or is one number: `result`)."""
        first = arguments[0]
        size = f"v{first.lanes}" if first.lanes > 1 else ""
        number = f"{'f' if first.kind[0] == 'f' else 'i'}{bits(first.kind)}"
        extra = [] if flag is None else [self.constant("pred", flag)]
        return self.call(f"llvm.{name}.{size}{number}", *arguments, *extra, result=result or first.kind,
                         lanes=1 if result else first.lanes)

    def declare(self, name: str, result: str, *parameters: str) -> None:
        self.declarations[name] = f"declare {result} @{name}({', '.join(parameters)})"

    def reduce(self, operation: str, vector: Value) -> Value:
        """All lanes combined: "umin", "umax", "add", ..."""
        return self.intrinsic(f"vector.reduce.{operation}", vector, result=vector.kind)

    def copy(self, to: Value, source: Value, size: Value) -> None:
        """Copy bytes."""
        self.call("llvm.memcpy.p0.p0.i64", to, source, size, self.constant("pred", False))

    def clear(self, place: Value, size: Value) -> None:
        """Fill bytes with zeros."""
        self.call("llvm.memset.p0.i64", place, self.constant("u8", 0), size, self.constant("pred", False))

    def gather(self, kind: str, places: Value) -> Value:
        """What lies at each of 32 places."""
        name, vector = f"llvm.masked.gather.v{WARP}{_suffix(kind)}.v{WARP}p0", self.type(kind, WARP)
        self.declare(name, vector, places.type, f"<{WARP} x i1>", vector)
        return self.op(kind, WARP, f"call {vector} @{name}({places.type} align {SIZES[kind]} {places.name}, "
                                   f"<{WARP} x i1> splat (i1 true), {vector} poison)")

    def scatter(self, values: Value, places: Value, lanes: Value) -> None:
        """Store 32 numbers where the predicate `lanes` holds; the last one wins where two places are the same."""
        name = f"llvm.masked.scatter.v{WARP}{_suffix(values.kind)}.v{WARP}p0"
        self.declare(name, "void", values.type, places.type, lanes.type)
        self.do(f"call void @{name}({values.type} {values.name}, {places.type} align {SIZES[values.kind]} "
                f"{places.name}, {lanes.type} {lanes.name})")

    # ---- control flow

    @contextmanager
    def when(self, condition: Value) -> Iterator[None]:
        """with f.when(condition): what is written there happens only if the condition holds."""
        n = self.new()
        self.do(f"br i1 {condition.name}, label %then{n}, label %after{n}")
        self.lines.append(f"then{n}:")
        yield
        if not self.ended:
            self.do(f"br label %after{n}")
        self.lines.append(f"after{n}:")

    def unless(self, condition: Value):
        return self.when(~condition)

    @contextmanager
    def loop(self, count) -> Iterator[Value]:
        """with f.loop(count) as k: k goes from 0 up to, not including, `count`."""
        n = self.new()
        count = count if isinstance(count, Value) else self.constant("u64", count)
        self.do(f"br label %before{n}")
        self.lines += [f"before{n}:", f"  br label %head{n}", f"head{n}:"]
        at, k = len(self.lines), Value(self, count.kind, 1, f"%k{n}")
        self.lines.append("")
        inside = k < count
        self.do(f"br i1 {inside.name}, label %body{n}, label %done{n}")
        self.lines.append(f"body{n}:")
        yield k
        following = k + 1
        self.do(f"br label %last{n}")
        self.lines += [f"last{n}:", f"  br label %head{n}", f"done{n}:"]
        self.lines[at] = f"  %k{n} = phi {k.type} [ 0, %before{n} ], [ {following.name}, %last{n} ]"

    @contextmanager
    def repeat(self) -> Iterator[Value]:
        """with f.repeat() as k: for ever; k counts the rounds from 0."""
        with self.loop(self.constant("u64", 2**63)) as k:
            yield k

    @property
    def ended(self) -> bool:
        """Whether the last line leaves the function."""
        return bool(self.lines) and self.lines[-1].startswith("  ret")

    def ret(self, value: Value | None = None) -> None:
        self.do(f"ret {value.type} {value.name}" if value is not None else "ret void")


def _suffix(kind: str) -> str:
    return f"{'f' if kind[0] == 'f' else 'i'}{bits(kind)}"
