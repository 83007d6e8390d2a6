"""What the public functions are given: kernels and sizes. Each check says what was got and what is allowed."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import is_dataclass

from gemm_lab.kernels import GemmKernel, check_sizes

ALLOWED = "a kernel such as gl.SharedTiling(TILE=16)"


def checked_kernel(kernel, name: str = "kernel") -> GemmKernel:
    """`kernel` itself; ValueError for what is none, which calls it by `name`."""
    if not isinstance(kernel, GemmKernel):
        raise ValueError(f"{name} is {_named(kernel)}; it must be {ALLOWED}")
    return kernel


def checked_kernels(kernels) -> list[GemmKernel]:
    """One kernel or several, as a list; ValueError where there is none, and for what is no kernel."""
    if isinstance(kernels, GemmKernel | str | type) or not isinstance(kernels, Iterable):
        return [checked_kernel(kernels, "kernels")]
    several = list(kernels)
    if not several:
        raise ValueError(f"kernels is empty; give {ALLOWED}, or a list of kernels")
    return [checked_kernel(kernel, f"kernels[{n}]") for n, kernel in enumerate(several)]


def checked_kernel_class(kernel_class) -> type[GemmKernel]:
    """The class itself; ValueError for what is no class of kernels."""
    if isinstance(kernel_class, type) and issubclass(kernel_class, GemmKernel) and is_dataclass(kernel_class):
        return kernel_class
    what, hint = _named(kernel_class), ""
    if isinstance(kernel_class, GemmKernel):
        what, hint = f"the kernel {kernel_class.label}", f", here {type(kernel_class).__name__} without parentheses"
    raise ValueError(f"kernel_class is {what}; it must be a class of kernels such as gl.SharedTiling{hint}")


def checked_sizes(M: int, N: int, K: int) -> tuple[int, int, int]:
    """M, N and K as Python's integers, whose products cannot overflow; ValueError unless each is 1 or more."""
    return check_sizes(M, N, K)


def _named(thing) -> str:
    """What a value is: "None", "a str", "the class Naive"."""
    if thing is None or isinstance(thing, type):
        return "None" if thing is None else f"the class {thing.__name__}"
    kind = type(thing).__name__
    return f"{'an' if kind[0].lower() in 'aeiou' else 'a'} {kind}"
