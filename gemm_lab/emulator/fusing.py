"""Products that the assembler fuses into sums.

Where PTX names no rounding mode, the assembler may turn a product and the sum that takes it into one multiply-add,
which rounds once (PTX ISA, "mul", "add", "sub"). The compiler writes `fma` itself where a product is added, but it
leaves subtractions to ptxas. What ptxas does with them was read off its machine code:

- A product is fused into all sums that take it, or into none: into none if anything else takes it.
- One sum may stand anywhere but in a loop that the product is outside of. Several must stand in the product's own
  basic block.
- Of two products that one sum takes, the one that fewer sums take is fused, else the left one. The other is then an
  addend, and fused nowhere.

`fuse` does the same to the PTX, so that values and FMAs are those of the GPU. Not seen here is what unrolling by ptxas
brings about: a product that is needed once more after the last round of a loop is fused in all rounds before it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

from gemm_lab.emulator import flow
from gemm_lab.emulator.ptx import Instruction, Register

TYPES = ("f32", "f64")


@dataclass(eq=False)
class Product:
    """What a `mul` makes, in which basic block, and the sums that take it, each with its block."""

    type: str
    block: int
    sums: list[tuple[int, Instruction]] = field(default_factory=list)
    fused: bool = True


def fuse(blocks: list[flow.Block]) -> None:
    """Replace products and the sums that take them by fma, as ptxas will."""
    products = _products(blocks)
    if not products:
        return
    _find_sums(blocks, products)
    loops = [loop.body for loop in flow.loops(blocks)]
    for product in products.values():
        product.fused &= bool(product.sums) and _within_reach(product, loops)
    _choose_one_of_two(products)
    fused = {name for name, product in products.items() if product.fused}
    for block in blocks:
        block.instructions = [new for i in block.instructions for new in _rewritten(i, fused)]
    flow.find_live(blocks)


def _products(blocks: list[flow.Block]) -> dict[str, Product]:
    """The products that could be fused, by register: one `mul` alone writes it."""
    writers = Counter(name for block in blocks for i in block.instructions for name in i.writes)
    return {i.operands[0].name: Product(i.opcode[1], n) for n, block in enumerate(blocks) for i in block.instructions
            if _plain(i, "mul") and writers[i.operands[0].name] == 1}


def _plain(i: Instruction, *names: str) -> bool:
    """Whether it is one of these operations, without a rounding mode or a predicate."""
    return i.opcode[0] in names and i.opcode[1:] in {(kind,) for kind in TYPES} and i.guard is None


def _find_sums(blocks: list[flow.Block], products: dict[str, Product]) -> None:
    for n, block in enumerate(blocks):
        for i in block.instructions:
            for name in i.reads & products.keys():
                product = products[name]
                product.sums.append((n, i))
                product.fused &= _plain(i, "add", "sub") and i.opcode[1] == product.type
                product.fused &= len(set(i.operands[1:])) == len(i.operands[1:])


def _within_reach(product: Product, loops: list[frozenset[int]]) -> bool:
    if len(product.sums) > 1:
        return all(n == product.block for n, _ in product.sums)
    (n, _), = product.sums
    return not any(n in body and product.block not in body for body in loops)


def _choose_one_of_two(products: dict[str, Product]) -> None:
    for product in list(products.values()):
        for _, i in product.sums if product.fused else ():
            taken = [products[x.name] for x in i.operands[1:] if isinstance(x, Register) and x.name in products]
            if len(taken) == 2 and all(p.fused for p in taken):
                left, right = taken
                (left if len(left.sums) > len(right.sums) else right).fused = False


def _rewritten(i: Instruction, fused: set[str]) -> Iterator[Instruction]:
    """The product becomes a copy of its factors, which may change before the sum; the sum becomes a multiply-add."""
    kind = i.opcode[-1]

    def new(name: str, *operands) -> Instruction:
        return Instruction((*name.split("."), kind), operands, i.line, i.text)

    def named(register: Register, suffix: str) -> Register:
        return Register(register.name + suffix, register.type)

    result, *sources = i.operands or (None,)
    taken = [x for x in sources if isinstance(x, Register) and x.name in fused]
    if isinstance(result, Register) and result.name in fused:
        yield from (new("mov", named(result, end), source) for end, source in zip((".a", ".b"), sources))
    elif not taken:
        yield i
    else:
        product, = taken
        a, b = named(product, ".a"), named(product, ".b")
        addend = sources[1 - sources.index(product)]
        if i.opcode[0] == "sub":
            minus = named(result, ".minus")
            yield new("neg", minus, a if sources[1] == product else addend)
            a, addend = (minus, addend) if sources[1] == product else (a, minus)
        yield new("fma.rn", result, a, b, addend)
