"""`emulate`: run any CUDA kernel on the CPU."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterable
from dataclasses import fields, replace

import numpy as np

from gemm_lab import compiler
from gemm_lab.emulator import arguments, program
from gemm_lab.emulator.counting import total
from gemm_lab.emulator.machine import Execution
from gemm_lab.emulator.memory import Global
from gemm_lab.emulator.ptx import Unsupported
from gemm_lab.emulator.reports import LOCAL_ARRAY, finding
from gemm_lab.emulator.schedule import schedule_maker
from gemm_lab.emulator.shared_requests import AS_WRITTEN, SharedRequests, machine_code_of, shared_requests
from gemm_lab.emulator.threads import Launch
from gemm_lab.emulator.tracing import Recorder
from gemm_lab.emulator.tracing.shapes import declared_shapes
from gemm_lab.kernels import MAX_GRID, MAX_SHARED_BYTES, MAX_THREADS, is_whole
from gemm_lab.run import Run, with_doubts

MODES = ("values", "count", "check", "trace")
MAX_BLOCK = 1024, 1024, 64
MAX_SHARED = 227 * 1024           # bytes, dynamic shared memory included (H100, H200)
MAX_LOCAL = 512 * 1024            # bytes of a thread (CUDA C++ Programming Guide, technical specifications)
MAX_MODULE = 64 << 20             # bytes of variables in global memory: four times those of kernel 09
SMALL = 2**22                     # FMAs and words moved: a launch up to this is checked a second time by itself
UNOPTIMIZED_STEPS = 16            # times as many instructions, at most, has the unoptimised code
QUIET_SECONDS = 2                 # a run that takes longer shows its progress


def emulate(source: str, entry: str, grid, block, args: Iterable, mode: str = "count", shared_bytes: int = 0,
            step_limit: int | None = None, schedule="lockstep", trace_block=(0, 0, 0),
            unoptimized: bool | None = None, machine_code: bool = True, variables: dict | None = None) -> Run:
    """Execute the kernel `entry` of a CUDA C++ source and return what it did. Needs no GPU.

    source, entry  the text, and the kernel's name in it: "k", or "k<32>" for a template
    grid, block    blocks in the grid, threads in a block: an int, or up to three (x, y, z)
    args           one for each parameter: C-contiguous NumPy arrays, changed in place, and numbers
    mode           "values": nothing but the results; "count": also counts; "check": also looks for defects;
                   "trace": also records, step by step, what one block does (`Run.trace`)
    shared_bytes   dynamic shared memory of a block (extern __shared__)
    step_limit     instructions that one thread may execute before it counts as endless; None: see `loops`
    schedule       "lockstep"; "warps": in each block one warp runs until it blocks at a barrier or ends, then the
                   lowest-numbered one that can run; or a sequence of warp numbers, the order in which they get a turn
    trace_block    the block that mode "trace" records, (x, y, z)
    unoptimized    mode "check" only: whether to look for defects also in what the compiler makes without optimisation;
                   None: where the launch is small. See `second_look`
    machine_code   whether accesses to shared memory are counted as the machine code makes them; False saves the time
                   of compiling it (ptxas), and the PTX's are counted
    variables      name -> bytes of the kernel's __device__ variables, as the last launch of the same program left them;
                   {} for the first, changed in place. None: each launch is the first

    A kernel that reads out of bounds, never ends or uses something unknown is stopped: `completed` is then False, and
    the arrays hold what had been written. Raises ValueError for arguments that do not fit, CompileError for a source
    that does not compile.
    """
    if mode not in MODES:
        raise ValueError(f"mode is {mode!r}; it must be one of {', '.join(map(repr, MODES))}")
    if not isinstance(variables, dict | None):
        raise ValueError(f"variables is a {type(variables).__name__}; it must be a dict, {{}} for the first launch")
    execute = {"numpy": run_on_numpy, "llvm": run_on_llvm}[back_end()]
    launch = make_launch(grid, block, shared_bytes)
    order = schedule_maker(schedule, launch)
    limit = check_step_limit(step_limit)
    args = list(args)
    spare = None
    if mode == "check" and unoptimized is not False:
        spare = copied(args), {name: data.copy() for name, data in (variables or {}).items()}

    def run(execute, args: list, variables: dict | None, check_again: bool = False) -> Run:
        ptx = compiler.compile_ptx(source, entry, ("-G",) if check_again else ())
        try:
            kernel = program.load(ptx.text, ptx.entry, tracked=check_again)
        except Unsupported as problem:
            why = finding("unsupported", problem.line, f"the emulator does not support {problem}")
            return Run(None, findings=(why,), completed=False)
        check_kernel(kernel, launch)
        memory = Global(variables)
        declared = arguments.signature(source, entry)
        bound = arguments.bind(kernel.kernel.parameters, declared, args, memory)
        counts, shared = mode != "values" and not check_again, AS_WRITTEN
        if counts and machine_code:
            shared, kernel = shared_requests(source, entry), as_assembled(kernel, source, entry)
        recorder = make_recorder(launch, trace_block, source, entry, declared, shared) if mode == "trace" else None
        return execute(Execution(kernel, launch, memory, bound, shared, count=counts, check=mode in ("check", "trace"),
                                 step_limit=limit and limit * (UNOPTIMIZED_STEPS if check_again else 1),
                                 schedule=order, largest=largest_number(launch, args), recorder=recorder))

    first = run(execute, args, variables)
    if spare is None or not wants_second_look(first, unoptimized):
        return first
    return second_look(first, run(run_on_numpy, *spare, check_again=True))


def as_assembled(kernel: program.Program, source: str, entry: str) -> program.Program:
    """The kernel with its loops unrolled as the machine code has them, where that may matter to what is counted."""
    compiled = machine_code_of(source, entry) if kernel.parts else None
    return program.unrolled(kernel, tuple(compiler.global_loads(compiled).items())) if compiled else kernel


def copied(args: list) -> list:
    """The arguments with copies of the arrays; what was one array is still one."""
    copies: dict[tuple[int, int], np.ndarray] = {}

    def copy(arg):
        if not isinstance(arg, np.ndarray):
            return arg
        key = arg.ctypes.data, arg.nbytes
        if key not in copies:
            copies[key] = arg.copy()
            copies[key].flags.writeable = arg.flags.writeable
        return copies[key]
    return [copy(arg) for arg in args]


def wants_second_look(first: Run, unoptimized: bool | None) -> bool:
    if any(f.kind == "endless-loop" for f in first.findings):    # which may take seconds again
        return False
    if unoptimized is not None or first.counts is None:
        return bool(unoptimized)
    moved = (f.name for f in fields(first.counts) if f.name.endswith("words"))
    return first.counts.fma + sum(getattr(first.counts, name) for name in moved) <= SMALL


def second_look(optimized: Run, unoptimized: Run) -> Run:
    """The first run, with what the second one shows in addition.

    Optimisation hides defects: a variable without a first value gets whatever is convenient, small arrays lie in
    registers where nothing is out of bounds, and the compiler takes for granted that what C++ leaves undefined does not
    happen. Then the findings of the optimised code, if it has any, are mere consequences. On the other hand only the
    unoptimised run knows what becomes of values that nobody has set, and whether they matter.
    """
    found = [f for f in unoptimized.findings if f.kind != "unsupported"]
    kinds, known = {f.kind for f in found}, {f.kind for f in optimized.findings}
    optimized = replace(optimized, notes=unoptimized.notes or optimized.notes)
    if kinds - known:
        return replace(optimized, findings=tuple(found), optimized=False)
    if kinds == known and any(LOCAL_ARRAY in f.message for f in optimized.findings):    # here the array has its name
        return replace(optimized, findings=tuple(found))
    return with_doubts(optimized) if "uninitialized" not in kinds and unoptimized.completed else optimized


def make_recorder(launch: Launch, block, source: str, entry: str, declared, shared: SharedRequests) -> Recorder:
    """What mode "trace" writes with; ValueError for a block that the grid does not have."""
    numbers = tuple(block) if isinstance(block, (tuple, list)) else (block,)
    inside = 1 <= len(numbers) <= 3 and all(map(is_whole, numbers)) and all(
        0 <= n < size for n, size in zip((*numbers, 0, 0), launch.grid))
    if not inside:
        raise ValueError(f"trace_block is {block!r}; the grid has {launch.grid} blocks along (x, y, z), counted from 0")
    x, y, z = (int(n) for n in (*numbers, 0, 0)[:3])
    names = [parameter.name for parameter in declared or ()]
    return Recorder(launch, (x, y, z), names, declared_shapes(source, entry), shared)


def back_end() -> str:
    """"llvm" where llvmlite is installed, else "numpy"; or what the environment variable GEMM_LAB_EMULATOR says."""
    name = os.environ.get("GEMM_LAB_EMULATOR", "")
    if name not in ("", "numpy", "llvm"):
        raise ValueError(f"GEMM_LAB_EMULATOR is {name!r}; it must be 'numpy' or 'llvm'")
    if name == "numpy":
        return name
    try:
        import gemm_lab.emulator.llvm  # noqa: F401
    except ImportError as missing:
        if name == "llvm":
            raise ValueError("GEMM_LAB_EMULATOR is 'llvm', but llvmlite 0.50 or newer is not installed; install it, "
                             "or use 'numpy'") from missing
        return "numpy"
    return "llvm"


def run_on_llvm(execution: Execution) -> Run:
    """Execute on the LLVM back end; what it cannot do, the NumPy back end does."""
    from gemm_lab.emulator import llvm
    with Progress(execution.launch.blocks) as progress:
        seconds = llvm.run(execution, progress)
    return run_on_numpy(execution) if seconds is None else result(execution, seconds, "llvm")


def run_on_numpy(execution: Execution) -> Run:
    """Execute on the NumPy back end."""
    started = time.perf_counter()
    with Progress(execution.launch.blocks) as progress:
        execution.run(progress)
    return result(execution, time.perf_counter() - started, "numpy")


def result(execution: Execution, seconds: float, name: str) -> Run:
    """What an execution leaves behind."""
    by_line = execution.tally.by_line() if execution.count else {}
    findings, recorder = execution.findings.all(), execution.recorder
    return Run(None, counts=total(by_line) if execution.count else None, by_line=by_line, findings=findings,
               trace=recorder.finish(findings, execution.completed) if recorder else None,
               output=str(execution.output), completed=execution.completed, seconds=seconds,
               ptx_lines=tuple(sorted(execution.shared.unknown & set(by_line))), emulator=name,
               instructions=execution.tally.instructions if execution.count else None, notes=tuple(execution.notes),
               waits=any(a.polls and a.signal for a in execution.program.accesses),
               learns=any(a.answered for a in execution.program.accesses))


class Progress:
    """A progress bar over the blocks of a long run, if somebody is watching."""

    def __init__(self, blocks: int):
        self.blocks, self.bar = blocks, None

    def __enter__(self):
        if sys.stderr is not None and sys.stderr.isatty():
            try:
                from tqdm import tqdm
            except ImportError:
                return self
            self.bar = tqdm(total=self.blocks, unit="block", desc="emulating", leave=False, delay=QUIET_SECONDS)
        return self

    def __call__(self, blocks: int) -> None:
        if self.bar is not None:
            self.bar.update(blocks)

    def __exit__(self, *_) -> None:
        if self.bar is not None:
            self.bar.close()


# ---- the launch -----------------------------------------------------------------------------------------------------

def make_launch(grid, block, shared_bytes) -> Launch:
    """The geometry, checked against the limits of every GPU since compute capability 7.5 (ValueError)."""
    grid, block = triple("grid", grid, MAX_GRID), triple("block", block, MAX_BLOCK)
    threads = block[0] * block[1] * block[2]
    if threads > MAX_THREADS:
        raise ValueError(f"block {block} has {threads} threads; a block has at most {MAX_THREADS}")
    if not is_whole(shared_bytes) or not 0 <= shared_bytes <= MAX_SHARED:
        raise ValueError(f"shared_bytes is {shared_bytes!r}; it must be a whole number from 0 to {MAX_SHARED}")
    return Launch(grid, block, int(shared_bytes))


def triple(what: str, size, limits) -> tuple[int, int, int]:
    """An int or up to three, as (x, y, z)."""
    sizes = tuple(size) if isinstance(size, (tuple, list)) else (size,)
    if not 1 <= len(sizes) <= 3 or not all(map(is_whole, sizes)):
        raise ValueError(f"{what} is {size!r}; it must be a whole number or up to three (x, y, z)")
    x, y, z = (int(n) for n in (*sizes, 1, 1)[:3])
    for axis, n, limit in zip("xyz", (x, y, z), limits):
        if not 1 <= n <= limit:
            raise ValueError(f"{what} {(x, y, z)} has {n} along {axis}; it must be from 1 to {limit}")
    return x, y, z


def check_step_limit(step_limit) -> int | None:
    if step_limit is not None and (not is_whole(step_limit) or step_limit < 1):
        raise ValueError(f"step_limit is {step_limit!r}; it must be None or a positive whole number")
    return step_limit


def check_kernel(kernel: program.Program, launch: Launch) -> None:
    """ValueError where the kernel cannot be launched like that."""
    static = sum(v.size for v in kernel.variables.values() if v.space == "shared")
    if static > MAX_SHARED_BYTES:
        raise ValueError(f"the kernel declares {static} bytes of shared memory; a block has at most "
                         f"{MAX_SHARED_BYTES}")
    if static + launch.shared_bytes > MAX_SHARED:
        raise ValueError(f"{static} bytes of static and {launch.shared_bytes} bytes of dynamic shared memory; "
                         f"a block has at most {MAX_SHARED}")
    module = sum(v.size for v in kernel.variables.values() if v.space in ("global", "const"))
    if module > MAX_MODULE:
        raise ValueError(f"the source's __device__ and __constant__ variables take {module} bytes; the emulator has "
                         f"{MAX_MODULE} for them")
    local = sum(v.size for v in kernel.variables.values() if v.space == "local")
    if local > MAX_LOCAL:
        raise ValueError(f"a thread needs {local} bytes of local memory; it has at most {MAX_LOCAL}")
    most = kernel.kernel.max_threads
    if most is not None and launch.threads > most:
        raise ValueError(f"block {launch.block} has {launch.threads} threads; the kernel's __launch_bounds__ allow "
                         f"{most}")


def largest_number(launch: Launch, args: list) -> int:
    """The largest number that the kernel is given: see `loops`."""
    numbers = [abs(int(a)) for a in args if is_whole(a)]
    return max(*launch.grid, launch.threads, *numbers)
