"""Read the body of a PTX function into a flat list of instructions, each with its source line.

A statement ends with a semicolon; `.loc` gives the source line of what follows; braces open a scope with registers of
its own. Functions that the compiler did not inline are inlined here, so that a kernel becomes one list without calls.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from gemm_lab.emulator import library
from gemm_lab.emulator.module import Module, max_threads, variable
from gemm_lab.emulator.ptx import (
    SIZES,
    Address,
    Immediate,
    Instruction,
    Kernel,
    Not,
    Pair,
    Register,
    Special,
    Symbol,
    Target,
    Unsupported,
    number,
)
from gemm_lab.emulator.reports import cxx_name

_SPACE = re.compile(r"\s*")
_LOC = re.compile(r"\.loc\s+(\d+)\s+(\d+)\s+\d+([^\n]*)")
_LABEL = re.compile(r"([\w$]+)\s*:(?!:)")
_STATEMENT = re.compile(r"[^;]*;")
_INSTRUCTION = re.compile(r"(?:@(!?)\s*([%\w$]+)\s+)?([a-z][\w.:]*)\s*(.*?)\s*;$", re.S)
_NUMBER = re.compile(r"[+-]?(0[fFdD][0-9a-fA-F]+|0[xX][0-9a-fA-F]+U?|\d+U?|\d*\.\d+(e[+-]?\d+)?)$")
MAX_CALL_DEPTH = 32


def parse(text: str, entry: str) -> Kernel:
    """The kernel `entry` of a PTX module, with the device functions that it calls inlined."""
    module = Module(text)
    if entry not in module.functions:
        raise Unsupported(f"the PTX holds no kernel {entry}")
    kernel = Kernel(entry, module.parameters(entry), max_threads=max_threads(module.functions[entry]["directives"]))
    Reader(kernel, module).read(entry, {}, None)
    used = {symbol.name for i in kernel.instructions for symbol in _symbols(i.operands)}
    kernel.variables = {name: v for name, v in module.variables().items() if name in used} | kernel.variables
    return kernel


def _symbols(operand):
    if isinstance(operand, tuple):
        for part in operand:
            yield from _symbols(part)
    elif isinstance(operand, Address):
        yield from _symbols(operand.base)
    elif isinstance(operand, Symbol):
        yield operand


@dataclass
class Scope:
    """What is declared between two braces. `rename` makes its names unique in the kernel."""
    number: int
    slots: dict[str, str]                                          # .param variable -> its unique name
    registers: dict[str, str] = field(default_factory=dict)        # name -> type
    families: dict[str, str] = field(default_factory=dict)         # prefix -> type, from `.reg .b32 %r<10>`
    seen: dict[str, Register] = field(default_factory=dict)        # those of its registers that were looked up

    @property
    def rename(self) -> str:
        return f"@{self.number}" if self.number else ""


class Reader:
    """Reads function bodies into a kernel, following calls."""

    def __init__(self, kernel: Kernel, module: Module):
        self.kernel, self.module = kernel, module
        self.scopes: list[Scope] = []
        self.scope_count = 0
        self.line: int | None = None
        self.slot_types: dict[str, str] = {}
        self.calls: list[str] = []
        self.parameters = {p.name for p in kernel.parameters}

    def read(self, function: str, slots: dict[str, str], return_to: Target | None) -> None:
        """Read a body; `slots` binds its parameters and results, `return_to` is where an inlined function returns."""
        if function in self.calls or len(self.calls) > MAX_CALL_DEPTH:
            raise Unsupported(f"the recursive function {cxx_name(function)}", self.line)
        body, position = self.module.body(function), 0
        outer, self.scopes = self.scopes, []
        self.calls.append(function)
        self.open_scope(slots)
        while (position := _SPACE.match(body, position).end()) < len(body):
            position = self.read_one(body, position, return_to)
        self.calls.pop()
        self.scopes = outer

    def read_one(self, body: str, position: int, return_to: Target | None) -> int:
        """Read one statement, label, brace or .loc; the position behind it."""
        if body[position] == "{":
            self.open_scope({})
            return position + 1
        if body[position] == "}":
            self.scopes.pop()
            return position + 1
        if m := _LOC.match(body, position):
            self.locate(int(m[1]), int(m[2]), m[3])
        elif m := _LABEL.match(body, position):
            self.kernel.labels[self.scopes[-1].number, m[1]] = len(self.kernel.instructions)
        elif m := _STATEMENT.match(body, position):
            self.statement(" ".join(m[0].split()), return_to)
        else:
            raise Unsupported(f"`{body[position:position + 40]}`", self.line)
        return m.end()

    def open_scope(self, slots: dict[str, str]) -> None:
        self.scopes.append(Scope(self.new_number(), slots))
        self.kernel.functions[self.scopes[-1].number] = self.calls[-1]

    def new_number(self) -> int:
        self.scope_count += 1
        return self.scope_count - 1

    def locate(self, file: int, line: int, rest: str) -> None:
        """Line 0 means "none in particular", and code of another file belongs to the line that called it."""
        inlined = re.search(r"inlined_at\s+(\d+)\s+(\d+)", rest)
        if file not in self.module.source_files and inlined:
            file, line = int(inlined[1]), int(inlined[2])
        if file in self.module.source_files and line:
            self.line = line

    # ---- statements

    def statement(self, text: str, return_to: Target | None) -> None:
        if text.startswith(".reg"):
            self.declare_registers(text)
        elif text.startswith((".shared", ".local")):
            declared = variable(text)
            self.kernel.variables[declared.name] = declared
        elif text.startswith(".param"):
            name = re.search(r"([\w$]+)\s*(?:\[\d+\])?\s*;", text)[1]
            self.scopes[-1].slots[name] = name + self.scopes[-1].rename
        elif not text.startswith("."):
            try:
                self.instruction(text, return_to)
            except Unsupported as problem:    # matters only if a thread ever gets there
                self.add(("unsupported",), (Immediate(str(problem)),), text)

    def declare_registers(self, text: str) -> None:
        m = re.match(r"\.reg\s+\.(\w+)\s+(.*);", text)
        for declared in m[2].split(","):
            name, many = re.match(r"\s*([%\w$]+?)(<\d+>)?\s*$", declared).groups()
            (self.scopes[-1].families if many else self.scopes[-1].registers)[name] = m[1]

    def instruction(self, text: str, return_to: Target | None) -> None:
        m = _INSTRUCTION.match(text)
        if m is None:
            raise Unsupported(f"`{text}`", self.line)
        opcode = tuple(m[3].split("."))
        guard = self.operand(m[2]) if m[2] else None
        guard = Not(guard) if m[1] else guard
        operands = tuple(map(self.operand, split_operands(m[4])))
        if opcode[0] == "call":
            self.call(operands, text, guard)
        elif opcode[0] == "ret" and return_to:
            self.add(("bra",), (return_to,), text, guard)
        elif opcode[0] == "bra":
            scopes = tuple(scope.number for scope in reversed(self.scopes))
            self.add(opcode, (Target(operands[0].name, scopes),), text, guard)
        elif opcode[:2] in (("st", "param"), ("ld", "param")) and self.is_slot(opcode, operands):
            self.move_slot(opcode, operands, text, guard)
        else:
            self.add(opcode, operands, text, guard)

    def add(self, opcode, operands, text: str, guard=None) -> None:
        self.kernel.instructions.append(Instruction(tuple(opcode), tuple(operands), self.line, text, guard))

    # ---- calls: arguments and results travel in .param variables, which become registers here

    def is_slot(self, opcode, operands) -> bool:
        return operands[0 if opcode[0] == "st" else 1].base.name not in self.parameters

    def move_slot(self, opcode, operands, text: str, guard) -> None:
        storing = opcode[0] == "st"
        address, values = operands if storing else reversed(operands)
        for k, value in enumerate(values if isinstance(values, tuple) else (values,)):
            name = f"{address.base.name}+{address.offset + k * SIZES[opcode[-1]]}"
            if storing:
                self.slot_types[name] = value.type if isinstance(value, Register) else opcode[-1]
            elif name not in self.slot_types:
                raise Unsupported(f"`{text}`, which reads a part of a struct that was stored whole", self.line)
            slot = Register(name, self.slot_types[name])
            target, source = (slot, value) if storing else (value, slot)
            self.add(("mov", "pred" if target.type == "pred" else "b" + target.type[1:]), (target, source), text, guard)

    def call(self, operands, text: str, guard) -> None:
        results = operands[0] if isinstance(operands[0], tuple) else ()
        name, *arguments = operands[1:] if results else operands
        arguments = arguments[0] if arguments else ()
        function = getattr(name, "name", "a function pointer")
        if function not in self.module.functions:
            self.call_outside(function, self.slots(results), self.slots(arguments), text, guard)
        elif guard:
            raise Unsupported(f"the predicated call `{text}`", self.line)
        else:
            self.inline(function, arguments, results)

    def call_outside(self, function: str, results, arguments, text: str, guard) -> None:
        """A function that is not in the module: one instruction, or the system's, such as printf."""
        found = library.instruction(function, arguments)
        if found and len(results) == 1:
            self.add(found[0], (results[0], *found[1]), text, guard)
        else:
            self.add(("call", function), (results, arguments), text, guard)

    def slots(self, symbols) -> tuple[Register, ...]:
        names = [f"{symbol.name}+0" for symbol in symbols]
        return tuple(Register(name, self.slot_types.setdefault(name, "b32")) for name in names)

    def inline(self, function: str, arguments, results) -> None:
        """Read the function's body in place of the call; it returns to a label behind it."""
        formal = self.module.parameters(function) + self.module.results(function)
        slots = {parameter.name: symbol.name for parameter, symbol in zip(formal, (*arguments, *results))}
        line, label = self.line, (self.new_number(), "return")
        self.read(function, slots, Target(label[1], (label[0],)))
        self.line = line
        self.kernel.labels[label] = len(self.kernel.instructions)

    # ---- operands

    def operand(self, text: str):
        if text[0] in "{(":
            return tuple(map(self.operand, split_operands(text[1:-1])))
        if text[0] == "[":
            return self.address(text[1:-1].strip())
        if text[0] == "!":
            return Not(self.operand(text[1:].strip()))
        if "|" in text:
            return Pair(*(self.operand(part.strip()) for part in text.split("|")))
        if _NUMBER.match(text):
            return Immediate(text)
        return self.named(text)

    def named(self, text: str):
        if text == "_":
            return None
        if text == "WARP_SZ":
            return Immediate("32")
        if (register := self.register(text)) is not None:
            return register
        if text[0] == "%":
            return Special(text[1:])
        m = re.match(r"([\w$]+)\s*(?:\+\s*(-?\d+))?$", text)
        if m is None:
            raise Unsupported(f"the operand `{text}`", self.line)
        slot = next((scope.slots[m[1]] for scope in reversed(self.scopes) if m[1] in scope.slots), m[1])
        return Symbol(slot, int(m[2] or 0))

    def register(self, name: str) -> Register | None:
        for scope in reversed(self.scopes):
            if name in scope.seen:
                return scope.seen[name]
            family = name.rstrip("0123456789")
            if kind := scope.registers.get(name) or (family != name and scope.families.get(family)):
                scope.seen[name] = Register(name + scope.rename, kind)
                return scope.seen[name]
        return None

    def address(self, text: str) -> Address:
        m = re.match(r"(.*?)\s*(?:\+\s*(-?\s*\w+))?$", text)
        base = self.operand(m[1].strip())
        if not isinstance(base, (Register, Symbol, Immediate)):
            raise Unsupported(f"the address `[{text}]`", self.line)
        return Address(base, number(m[2].replace(" ", "")) if m[2] else 0)


def split_operands(text: str) -> list[str]:
    """Split at the commas that are not inside brackets."""
    if not any(bracket in text for bracket in "{[("):
        return [part.strip() for part in text.split(",") if part.strip()]
    parts, depth, current = [], 0, ""
    for character in text:
        depth += (character in "{[(") - (character in "}])")
        if character == "," and depth == 0:
            parts.append(current.strip())
            current = ""
        else:
            current += character
    return [part for part in (*parts, current.strip()) if part]
