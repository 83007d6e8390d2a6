"""Tasks whose answer is a CUDA kernel, a tile, or an order of warps: all are run in the emulator.

The answer to a kernel task is CUDA text and nothing else: what the student's Python computed cannot get into C. It is
run on ragged sizes, and with a seed on hidden ones, so that a kernel for one size fails; what it prints is not looked
at.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

import gemm_lab as gl
from gemm_lab.checking import RESOURCES, Verdict
from gemm_lab.exercises import regions
from gemm_lab.exercises.expressions import Unreadable
from gemm_lab.exercises.feedback import Feedback, right, wrong
from gemm_lab.exercises.tasks import Numbers, Task, hidden_sizes
from gemm_lab.kernels import CudaGemm, GemmKernel

SIZES = ((5, 3, 19), (35, 79, 19), (64, 64, 64), (37, 70, 45))
LONGEST_SOURCE = 20_000     # characters
# What could bring other text in, or take the skeleton out.
_FOREIGN = re.compile(r"^\s*(?:#|%:|\?\?=)\s*(?:if|el|endif|include|import|embed|define|undef|line)|\b(?:u8|[uUL])?R\"",
                      re.MULTILINE)
COPIES = "#include <cuda_pipeline_primitives.h>\n"     # the one line of that kind that a given kernel may have

HINTS = {
    "race": "The result depends on an order of the threads that nothing fixes: two of them meet in one place, and no "
            "barrier lies between.",
    "uninitialized": "Something is read that nobody wrote: does every thread bring its share, and zeros beyond an "
                     "edge?",
    "out-of-bounds": "An index leaves its array: which test keeps the threads beyond an edge away?",
    "barrier-divergence": "Every thread of a block must come to every __syncthreads(): let nobody return before it.",
    "misaligned": "A wide access must begin at a multiple of its size; a row of a matrix does so at some sizes only.",
    "endless-loop": "A loop does not end: look at what its condition and its step say.",
    "over-budget": "The values are right; the kernel takes more than the task allows.",
}


@dataclass(frozen=True, kw_only=True)
class Kernel(Task):
    """A kernel to write into a skeleton, or to repair.

    text     a function of the sheet's numbers: CUDA with solution regions (`regions`)
    like     a function of the sheet's numbers: a kernel with the entry, the grid and the block
    budgets  a function of the sheet's numbers and a size (M, N, K): limits by name, as for `gl.check`, on every size
    advice   name of a budget, or kind of finding -> what to look at
    repairs  lines that may be changed; None: everything outside the regions must stay as it is
    deepest  the largest K of a hidden size: what takes the emulator long is tried on few steps
    """

    text: Callable[[Numbers], str] = field(repr=False)
    like: Callable[[Numbers], GemmKernel] = field(repr=False)
    budgets: Callable[[Numbers, int, int, int], Mapping[str, float]] = field(default=lambda *_: {}, repr=False)
    advice: Mapping[str, str] = field(default_factory=dict, repr=False)
    repairs: int | None = None
    asked: str = "the CUDA text of the kernel, in quotes"
    sizes: Sequence[tuple[int, int, int]] = SIZES
    deepest: int = 70

    def student_text(self, numbers: Numbers) -> str:
        """The text that the student finds in the cell."""
        return regions.stripped(self.text(numbers))

    def judge(self, answer, numbers: Numbers, seed: str | None) -> Feedback:
        text = self._text(answer)
        refused = self._untouched(text, numbers) or self._beyond_the_task(text, numbers)
        return refused or self._run(text, numbers, seed)

    def _text(self, answer) -> str:
        if type(answer) is not str:
            raise Unreadable(f"this is a {type(answer).__name__}; the answer is the CUDA text of the kernel, in quotes")
        if len(answer) > LONGEST_SOURCE:
            raise Unreadable(f"the text has {len(answer):,} characters; it may have {LONGEST_SOURCE:,}")
        return answer

    def _untouched(self, text: str, numbers: Numbers) -> Feedback | None:
        if regions.same_code(text) != regions.same_code(self.student_text(numbers)):
            return None
        todo = "; ".join(stub.removeprefix("#error").strip(' "') for stub in regions.stubs(self.text(numbers))) + "."
        if self.repairs is not None:
            todo = f"Repair the kernel: {self.repairs} line{'s' * (self.repairs > 1)}."
        return wrong(self.name, "not-answered", todo)

    def _beyond_the_task(self, text: str, numbers: Numbers) -> Feedback | None:
        """What may not be done, whether or not the kernel is right."""
        others = text.replace(COPIES, "\n") if COPIES in self.student_text(numbers) else text
        if _FOREIGN.search(regions.without_comments(others)):
            return wrong(self.name, "preprocessor", "Write it without #include, #define, #undef, #if and raw strings.")
        if self.repairs is None:
            changed = regions.first_changed(text, regions.fixed(self.text(numbers)))
            return changed and wrong(self.name, "skeleton-changed", "A line of the skeleton was changed or moved: "
                                     f"{changed!r}. Only the marked places are yours.")
        count = regions.changed_lines(text, self.student_text(numbers))
        if count > self.repairs:
            return wrong(self.name, "too-many-changes", f"{count} lines differ from the kernel that was given; the "
                         f"repair takes {self.repairs}.")
        return None

    def kernel(self, text: str, numbers: Numbers) -> CudaGemm:
        """The text with the task's launch geometry."""
        return self.like(numbers).with_source(text, label=self.name)

    def _run(self, text: str, numbers: Numbers, seed: str | None) -> Feedback:
        for hidden, sizes in ((False, self.sizes), (True, hidden_sizes(self.name, seed, self.deepest))):
            for size in sizes:
                try:
                    verdict = gl.check(self.kernel(text, numbers), [size], self._budgets(numbers, size, hidden))
                except ValueError as error:     # the entry: renamed, no template any more
                    return wrong(self.name, "no-kernel", f"{str(error)[:1].upper()}{str(error)[1:]}.")
                if not verdict.passed:
                    return self._failed(verdict, hidden, "M={}, N={}, K={}, beta=0".format(*size))
        return right(self.name)

    def _budgets(self, numbers: Numbers, size: tuple[int, int, int], hidden: bool) -> dict[str, float]:
        """The budgets at a size; resources do not depend on it, so they are looked at once."""
        limits = self.budgets(numbers, *size)
        return {name: limit for name, limit in limits.items()
                if name not in RESOURCES or size == self.sizes[-1] and not hidden}

    def _failed(self, verdict: Verdict, hidden: bool, size: str) -> Feedback:
        kinds = tuple(sorted(verdict.kinds))
        report = _without_sizes(verdict) if hidden else verdict.report().partition("\n")[2].strip("\n")
        if kinds == ("over-budget",) and not hidden:
            report += f"\n    counted at {size}"
        return Feedback(self.name, False, f"{self._advice(verdict)}\n\n{report}", kinds, tuple(sorted(verdict.lines)))

    def _advice(self, verdict: Verdict) -> str:
        keys = [f.kind for f in verdict.failures if f.kind != "over-budget"]
        if not keys:    # a budget's advice may then say that the values are right
            keys = [name for f in verdict.failures for name in (f.message.split()[0], f.kind)]
        return next((text for key in keys for text in (self.advice.get(key), HINTS.get(key)) if text), self.hint)


def _without_sizes(verdict: Verdict) -> str:
    """What is wrong and in which lines, without the problem that showed it."""
    text = verdict.source.split("\n")
    shown = [f"    {n:4d} | {text[n - 1]}" for n in sorted(verdict.lines) if n <= len(text)]
    return "\n".join([f"{', '.join(sorted(verdict.kinds))}, at a size that the exercise does not show", *shown])


@dataclass(frozen=True, kw_only=True)
class Order(Task):
    """Two orders of the warps for a kernel with a race: one in which C comes out right, one in which it does not.

    text  a function of the sheet's numbers: the CUDA text
    like  as for Kernel; its block gives the number of warps
    """

    text: Callable[[Numbers], str] = field(repr=False)
    like: Callable[[Numbers], GemmKernel] = field(repr=False)

    def judge(self, answer, numbers: Numbers, seed: str | None) -> Feedback:
        warps = int(np.prod(self.like(numbers).block)) // 32
        pair = list(answer) if isinstance(answer, list | tuple) else []
        if len(pair) != 2 or not all(_is_order(order, warps) for order in pair):
            raise Unreadable(f"two orders are wanted, each with the warps 0 to {warps - 1} once: "
                             f"({list(range(warps))}, {list(range(warps))[::-1]})")
        hidden, shown = (self.comes_out_right(order, numbers) for order in pair)
        if hidden and not shown:
            return right(self.name)
        if not hidden and shown:
            return wrong(self.name, "exchanged", "It is the other way round: the first order shall hide the race.")
        return wrong(self.name, "both-right" if hidden else "both-wrong",
                     f"In both orders C comes out {'right' if hidden else 'wrong'}. {self.hint}")

    def comes_out_right(self, order: Sequence[int], numbers: Numbers) -> bool:
        """Whether C is right if one warp after the other runs until it must wait, in this order again and again."""
        kernel = self.like(numbers)
        kernel = kernel.with_source(self.text(numbers))
        (columns, rows, _), K = kernel.block, 40
        random = np.random.default_rng(5)
        A, B = (random.standard_normal(shape, dtype=np.float32) for shape in ((rows, K), (K, columns)))
        C = kernel.run(A, B, schedule=list(order) * 2 * K).C
        return bool(np.allclose(C, A.astype(float) @ B, atol=1e-4))

    def given(self, numbers: Numbers) -> str:
        return self.text(numbers)


def _is_order(order, warps: int) -> bool:
    return (isinstance(order, list | tuple) and all(type(n) is int for n in order)
            and sorted(order) == list(range(warps)))


@dataclass(frozen=True, kw_only=True)
class Tile(Task):
    """A course kernel with tiles that meet demands.

    kind     the class of the kernel
    demands  a function of the kernel and the sheet's numbers: (name, what is demanded, whether it is met), in order
    """

    kind: type
    demands: Callable[[GemmKernel, Numbers], Sequence[tuple[str, str, bool]]] = field(repr=False)
    advice: Mapping[str, str] = field(default_factory=dict, repr=False)

    def judge(self, answer, numbers: Numbers, seed: str | None) -> Feedback:
        if type(answer) is not self.kind:
            raise Unreadable(f"this is a {type(answer).__name__}; asked for is {self.asked}")
        unmet = [(name, text) for name, text, met in self.demands(answer, numbers) if not met]
        if not unmet:
            return right(self.name)
        listed = "\n".join(f"    not met: {text}" for _, text in unmet)
        return Feedback(self.name, False, f"{self.advice.get(unmet[0][0], self.hint)}\n\n{listed}",
                        tuple(name for name, _ in unmet))
