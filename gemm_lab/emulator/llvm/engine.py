"""Machine code from LLVM IR, with llvmlite, for the processor that we run on."""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Callable, Hashable
from functools import cache, partial

import llvmlite.binding as llvm

from gemm_lab.emulator.llvm import blocks, control, copies, memory, patterns, races
from gemm_lab.emulator.llvm.functions import Function

if llvm.llvm_version_info[0] < 22:
    raise ImportError("the compiled code needs LLVM 22: llvmlite 0.50 or newer")

OPTIMIZATION = 1    # of the machine code: more takes longer than it saves


# What operations call, by name.
LIBRARY: dict[str, Callable[[], Function]] = {
    **{write.__name__: write for write in (
        blocks.run, blocks.run_epochs, control.choose, copies.land, memory.find_region, patterns.search,
        patterns.describe, races.note, races.look_now, races.look_at_log, races.look, races.end_epoch,
        races.begin_block)},
    **{f"{write.__name__}_{bits}": partial(write, f"s{bits}") for bits in (8, 16, 32, 64) for write in (
        memory.take, memory.give, memory.gather, memory.scatter)}}


class Engine:
    """All operations that were ever needed, as machine code of this process."""

    def __init__(self):
        llvm.initialize_native_target()
        llvm.initialize_native_asmprinter()
        self.machine = llvm.Target.from_default_triple().create_target_machine(
            cpu=llvm.get_host_cpu_name(), features=llvm.get_host_cpu_features().flatten(), opt=OPTIMIZATION)
        self.engine = llvm.create_mcjit_compiler(llvm.parse_assembly(""), self.machine)
        self.addresses: dict[Hashable, int] = {}    # of operations
        self.wanted: dict[Hashable, Function] = {}  # operations that are written and not compiled
        self.compiled: set[str] = set()             # functions
        self.lock = threading.Lock()
        self.add([blocks.run()])
        # Releases the GIL while it works.
        self.run = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(self.engine.get_function_address("run"))

    def add(self, functions: list[Function]) -> None:
        """Compile functions, and those that they call and that are not compiled yet."""
        declarations: dict[str, str] = {}
        for f in functions:    # grows while it is gone through
            declarations |= f.declarations
            called = [name for name in f.declarations if name not in self.compiled and not name.startswith("llvm.")]
            functions += [LIBRARY[name]() for name in called]
            self.compiled |= {f.name, *called}
        for f in functions:
            declarations.pop(f.name, None)
        self.engine.add_module(llvm.parse_assembly("\n".join([*declarations.values(), *(f.text() for f in functions)])))
        self.engine.finalize_object()

    def want(self, key: Hashable, write: Callable[[str], Function]) -> None:
        """Make sure that there will be an operation; `write` writes it, if it is new."""
        with self.lock:
            if key not in self.addresses and key not in self.wanted:
                self.wanted[key] = write(f"operation_{len(self.addresses) + len(self.wanted)}")

    def operations(self) -> dict[Hashable, int]:
        """The address of every operation that was wanted."""
        with self.lock:
            if self.wanted:
                self.add(list(self.wanted.values()))
                self.addresses |= {key: self.engine.get_function_address(f.name) for key, f in self.wanted.items()}
                self.wanted.clear()
            return self.addresses


_making = threading.Lock()


def engine() -> Engine:
    """The engine of this process."""
    with _making:
        return _engine()


@cache
def _engine() -> Engine:
    return Engine()
