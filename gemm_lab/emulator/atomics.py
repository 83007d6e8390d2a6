"""Atomic operations: what the memory holds afterwards, from what it held and the operands."""

from __future__ import annotations

import numpy as np

from gemm_lab.emulator import floats


def _add(old, value):
    total = old + value
    return floats.canonical(total) if total.dtype == np.float32 else total


UPDATES = {
    "add":  _add,
    "min":  lambda old, value: np.minimum(old, value),
    "max":  lambda old, value: np.maximum(old, value),
    "and":  lambda old, value: old & value,
    "or":   lambda old, value: old | value,
    "xor":  lambda old, value: old ^ value,
    "exch": lambda old, value: value,
    "cas":  lambda old, compare, value: np.where(old == compare, value, old),
    "inc":  lambda old, limit: np.where(old >= limit, old.dtype.type(0), old + old.dtype.type(1)),
    "dec":  lambda old, limit: np.where((old == 0) | (old > limit), limit, old - old.dtype.type(1)),
}
