"""The IR of memory requests of one warp.

`footprint` recognises a pattern of addresses relative to the first active lane; it is described once, by Python (see
`footprints`). `reach` checks one request: bounds and alignment follow from its first address and the pattern, and so
does what it costs. `load` and `store` move one element for each lane. A request that is not fine sets STOP, and moves
nothing.
"""

from __future__ import annotations

from gemm_lab.emulator.llvm import context as c

V64, V1 = "<32 x i64>", "<32 x i1>"

_ODD = "<" + ", ".join(f"i64 {(2 * k + 1) * 0x9E3779B97F4A7C15 % 2**64 - 2**63}" for k in range(32)) + ">"

_FOOTPRINT = f"""
define internal ptr @footprint({V64} %address, i32 %mask, i64 %number, ptr %context) noinline {{
  %first = call i32 @llvm.cttz.i32(i32 %mask, i1 false)
  %anchor = extractelement {V64} %address, i32 %first
  %a1 = insertelement {V64} poison, i64 %anchor, i32 0
  %a2 = shufflevector {V64} %a1, {V64} poison, <32 x i32> zeroinitializer
  %all = sub {V64} %address, %a2
  %lanes = bitcast i32 %mask to {V1}
  %relative = select {V1} %lanes, {V64} %all, {V64} zeroinitializer
  %mask64 = zext i32 %mask to i64
  %tables.at = getelementptr i8, ptr %context, i64 {c.TABLES}
  %tables = load ptr, ptr %tables.at
  %table.at = mul i64 %number, {c.TABLE_BYTES}
  %table = getelementptr i8, ptr %tables, i64 %table.at
  %last = load ptr, ptr %table
  %last.same = call i1 @same(ptr %last, {V64} %relative, i64 %mask64)
  br i1 %last.same, label %found, label %search
search:
  %mixed = mul {V64} %relative, {_ODD}
  %sum = call i64 @llvm.vector.reduce.add.v32i64({V64} %mixed)
  %mask.mixed = mul i64 %mask64, 6364136223846793005
  %hash = xor i64 %sum, %mask.mixed
  %hash2 = mul i64 %hash, 2862933555777941757
  %slot = lshr i64 %hash2, 58
  %entry.at = mul i64 %slot, {c.ENTRY_BYTES}
  %entries = getelementptr i8, ptr %table, i64 64
  %entry = getelementptr i8, ptr %entries, i64 %entry.at
  store ptr %entry, ptr %table
  %entry.same = call i1 @same(ptr %entry, {V64} %relative, i64 %mask64)
  br i1 %entry.same, label %found, label %new
new:
  call void @look_at_reads(ptr %context)
  store {V64} %relative, ptr %entry, align 8
  %mask.at = getelementptr i8, ptr %entry, i64 {c.MASK}
  store i64 %mask64, ptr %mask.at
  %describe.at = getelementptr i8, ptr %context, i64 {c.NEW_FOOTPRINT}
  %describe = load ptr, ptr %describe.at
  call void %describe(ptr %entry, i64 %number)
  br label %found
found:
  %result = phi ptr [ %last, %0 ], [ %entry, %search ], [ %entry, %new ]
  %anchor.at = getelementptr i8, ptr %result, i64 {c.ANCHOR}
  store i64 %anchor, ptr %anchor.at
  ret ptr %result
}}

define internal i1 @same(ptr %entry, {V64} %relative, i64 %mask) alwaysinline {{
  %mask.at = getelementptr i8, ptr %entry, i64 {c.MASK}
  %known.mask = load i64, ptr %mask.at
  %mask.same = icmp eq i64 %known.mask, %mask
  %known = load {V64}, ptr %entry, align 8
  %different = icmp ne {V64} %known, %relative
  %bits = bitcast {V1} %different to i32
  %none = icmp eq i32 %bits, 0
  %same = and i1 %none, %mask.same
  ret i1 %same
}}
"""

_REACH = f"""
define internal ptr @NAME(ptr %entry, i64 %number, ptr %context) noinline {{
  %accesses.at = getelementptr i8, ptr %context, i64 {c.ACCESSES}
  %accesses = load ptr, ptr %accesses.at
  %access.at = mul i64 %number, {c.ACCESS_BYTES}
  %access = getelementptr i8, ptr %accesses, i64 %access.at
  %anchor.at = getelementptr i8, ptr %entry, i64 {c.ANCHOR}
  %anchor = load i64, ptr %anchor.at
  %offset.at = getelementptr i8, ptr %access, i64 {c.OFFSET}
  %offset = load i64, ptr %offset.at
  %address = add i64 %anchor, %offset
  %low.at = getelementptr i8, ptr %entry, i64 {c.LOW}
  %low = load i64, ptr %low.at
  %high.at = getelementptr i8, ptr %entry, i64 {c.HIGH}
  %high = load i64, ptr %high.at
  %bytes.at = getelementptr i8, ptr %access, i64 {c.BYTES}
  %bytes = load i64, ptr %bytes.at
  %from = add i64 %address, %low
  %last = add i64 %address, %high
  %to = add i64 %last, %bytes
  %shift.at = getelementptr i8, ptr %access, i64 {c.SHIFT}
  %shift = load i64, ptr %shift.at
  %region.number = lshr i64 %from, %shift
  %region.count.at = getelementptr i8, ptr %access, i64 {c.REGION_COUNT}
  %region.count = load i64, ptr %region.count.at
  %exists = icmp ult i64 %region.number, %region.count
  br i1 %exists, label %check, label %bad
check:
  %regions = load ptr, ptr %access
  %region.at = mul i64 %region.number, {c.REGION_BYTES}
  %region = getelementptr i8, ptr %regions, i64 %region.at
  %row = load <4 x i64>, ptr %region, align 8
  %first = extractelement <4 x i64> %row, i32 0
  %end = extractelement <4 x i64> %row, i32 1
  %move = extractelement <4 x i64> %row, i32 2
  %flags = extractelement <4 x i64> %row, i32 3
  %after = icmp sge i64 %from, %first
  %before = icmp sle i64 %to, %end
  %ordered = icmp sge i64 %to, %from
  %low.bits.at = getelementptr i8, ptr %entry, i64 {c.LOW_BITS}
  %low.bits = load i64, ptr %low.bits.at
  %any.bits = or i64 %low.bits, %address
  %below = sub i64 %bytes, 1
  %wrong.bits = and i64 %any.bits, %below
  %aligned = icmp eq i64 %wrong.bits, 0
  %required.at = getelementptr i8, ptr %access, i64 {c.REQUIRED}
  %required = load i64, ptr %required.at
  %has = and i64 %flags, %required
  %allowed = icmp eq i64 %has, %required
  %inside = and i1 %after, %before
  %inside2 = and i1 %inside, %ordered
  %fits = and i1 %aligned, %allowed
  %fine = and i1 %inside2, %fits
  br i1 %fine, label %good, label %bad
bad:
  store volatile i64 1, ptr %context
  ret ptr null
good:
  %real = add i64 %address, %move
  %result = inttoptr i64 %real to ptr
  %region.owners.at = getelementptr i8, ptr %region, i64 {c.REGION_OWNERS}
  %region.owners = load i64, ptr %region.owners.at
  %owners.at = getelementptr i8, ptr %context, i64 {c.OWNERS}
  store i64 %region.owners, ptr %owners.at
  COUNT
  ret ptr %result
}}
"""

_COUNT = f"""
  %word = lshr i64 %address, 2
  %slot.mask.at = getelementptr i8, ptr %access, i64 {c.SLOT_MASK}
  %slot.mask = load i64, ptr %slot.mask.at
  %slot = and i64 %word, %slot.mask
  %costs = getelementptr i8, ptr %entry, i64 {c.COSTS}
  %cost.at = getelementptr <4 x i16>, ptr %costs, i64 %slot
  %known = load <4 x i16>, ptr %cost.at
  %words = extractelement <4 x i16> %known, i32 0
  %unknown = icmp eq i16 %words, 0
  br i1 %unknown, label %new, label %add
new:
  %cost.function.at = getelementptr i8, ptr %context, i64 {c.NEW_COST}
  %cost.function = load ptr, ptr %cost.function.at
  call void %cost.function(ptr %entry, i64 %number, i64 %slot)
  br label %add
add:
  %all = load <4 x i16>, ptr %cost.at
  %counted.at = getelementptr i8, ptr %access, i64 {c.COUNTED}
  %counted = load <4 x i16>, ptr %counted.at
  %cost = and <4 x i16> %all, %counted
  %more = zext <4 x i16> %cost to <4 x i64>
  %counts.at = getelementptr i8, ptr %access, i64 {c.COUNTS}
  %counts = load <4 x i64>, ptr %counts.at, align 8
  %sum = add <4 x i64> %counts, %more
  store <4 x i64> %sum, ptr %counts.at, align 8
"""

_MOVE = f"""
define internal <32 x TYPE> @load_TYPE(ptr %place, ptr %entry, i32 %mask) noinline {{
  %bad = icmp eq ptr %place, null
  br i1 %bad, label %nothing, label %go
go:
  %kind.at = getelementptr i8, ptr %entry, i64 {c.KIND}
  %kind = load i64, ptr %kind.at
  switch i64 %kind, label %scattered [ i64 {c.BROADCAST}, label %broadcast i64 {c.ROW}, label %row ]
nothing:
  ret <32 x TYPE> zeroinitializer
broadcast:
  %one = load TYPE, ptr %place, align 1
  %one.vector = insertelement <32 x TYPE> poison, TYPE %one, i32 0
  %same = shufflevector <32 x TYPE> %one.vector, <32 x TYPE> poison, <32 x i32> zeroinitializer
  ret <32 x TYPE> %same
row:
  %together = load <32 x TYPE>, ptr %place, align 1
  ret <32 x TYPE> %together
scattered:
  %relative = load {V64}, ptr %entry, align 8
  %places = getelementptr i8, ptr %place, {V64} %relative
  %lanes = bitcast i32 %mask to {V1}
  %gathered = call <32 x TYPE> @llvm.masked.gather.v32TYPE.v32p0(<32 x ptr> align 4 %places, {V1} %lanes,
    <32 x TYPE> zeroinitializer)
  ret <32 x TYPE> %gathered
}}

define internal void @store_TYPE(ptr %place, ptr %entry, i32 %mask, <32 x TYPE> %values) noinline {{
  %bad = icmp eq ptr %place, null
  br i1 %bad, label %nothing, label %go
go:
  %kind.at = getelementptr i8, ptr %entry, i64 {c.KIND}
  %kind = load i64, ptr %kind.at
  %is.row = icmp eq i64 %kind, {c.ROW}
  br i1 %is.row, label %row, label %scattered
nothing:
  ret void
row:
  store <32 x TYPE> %values, ptr %place, align 1
  ret void
scattered:
  %relative = load {V64}, ptr %entry, align 8
  %places = getelementptr i8, ptr %place, {V64} %relative
  %lanes = bitcast i32 %mask to {V1}
  call void @llvm.masked.scatter.v32TYPE.v32p0(<32 x TYPE> %values, <32 x ptr> align 4 %places, {V1} %lanes)
  ret void
}}
declare <32 x TYPE> @llvm.masked.gather.v32TYPE.v32p0(<32 x ptr>, {V1}, <32 x TYPE>)
declare void @llvm.masked.scatter.v32TYPE.v32p0(<32 x TYPE>, <32 x ptr>, {V1})
"""

_DECLARATIONS = f"""
declare i32 @llvm.cttz.i32(i32, i1)
declare i64 @llvm.vector.reduce.add.v32i64({V64})
"""


def functions(types: set[str]) -> str:
    """The functions above, with `load` and `store` for these element types (i32, i64)."""
    reach = _REACH.replace("NAME", "reach").replace("COUNT", _COUNT)
    uncounted = _REACH.replace("NAME", "reach_uncounted").replace("COUNT", "")
    return _DECLARATIONS + _FOOTPRINT + reach + uncounted + "".join(_MOVE.replace("TYPE", t) for t in sorted(types))
