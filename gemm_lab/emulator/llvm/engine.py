"""Machine code from LLVM IR, with llvmlite, for the processor that we run on."""

from __future__ import annotations

import ctypes
from functools import lru_cache

import llvmlite.binding as llvm

if llvm.llvm_version_info[0] < 22:
    raise ImportError("the compiled code needs LLVM 22: llvmlite 0.50 or newer")

OPTIMIZATION = 1    # of the machine code; NVRTC has already optimised the kernel


@lru_cache(maxsize=1)
def _target() -> llvm.Target:
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    return llvm.Target.from_default_triple()


class MachineCode:
    """A compiled module: `run(context)` releases the GIL while it works."""

    def __init__(self, ir: str):
        machine = _target().create_target_machine(cpu=llvm.get_host_cpu_name(), opt=OPTIMIZATION,
                                                  features=llvm.get_host_cpu_features().flatten())
        module = llvm.parse_assembly(ir)
        _passes().run(module, llvm.create_pass_builder(machine, llvm.create_pipeline_tuning_options()))
        self._engine = llvm.create_mcjit_compiler(module, machine)
        self._engine.finalize_object()
        self.run = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(self._engine.get_function_address("run"))


def _passes() -> llvm.ModulePassManager:
    """The few that pay: more of them compile longer than they save."""
    passes = llvm.create_new_module_pass_manager()
    passes.add_always_inliner_pass()
    passes.add_sroa_pass()
    passes.add_dead_code_elimination_pass()
    return passes
