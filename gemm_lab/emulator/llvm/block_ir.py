"""The IR that runs the blocks of a launch: a worker takes the next block that nobody has begun, until none is left.

The warps of a block run in turn, each until all its lanes wait or have finished. Then the barrier opens: there is
only one, so everybody who lives waits at it, and an epoch ends. Lanes of one warp that wait at different places are a
defect, which is left to the NumPy back end to report: STOP.
"""

from __future__ import annotations

from gemm_lab.emulator.llvm import context as c
from gemm_lab.emulator.llvm.ir import splat


def function(warps: int, threads_state: int, special: int, shared: int) -> str:
    """`run(context)`. `threads_state` and `special` are bytes for each warp, `shared` for the block."""
    waiting = splat("i32", c.WAITING)
    finished = splat("i32", c.EXIT)
    return f"""
declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)
declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)
declare i32 @llvm.vector.reduce.umin.v32i32(<32 x i32>)
declare i32 @llvm.vector.reduce.umax.v32i32(<32 x i32>)
declare i32 @llvm.ctpop.i32(i32)

define internal void @next_epoch(ptr %context) {{
  call void @end_epoch(ptr %context)
  %epoch.at = getelementptr i8, ptr %context, i64 {c.EPOCH}
  %epoch = load i32, ptr %epoch.at
  %next = add i32 %epoch, 64
  store i32 %next, ptr %epoch.at
  %spent = icmp slt i32 %next, 0
  br i1 %spent, label %stop, label %done
stop:
  store volatile i64 1, ptr %context
  br label %done
done:
  ret void
}}

define internal void @set_warp(i32 %number, ptr %context) {{
  %epoch.at = getelementptr i8, ptr %context, i64 {c.EPOCH}
  %epoch = load i32, ptr %epoch.at
  %warp = add i32 %epoch, %number
  %now = add i32 %warp, 1
  %now.at = getelementptr i8, ptr %context, i64 {c.WARP_NOW}
  store i32 %now, ptr %now.at
  %first.at = getelementptr i8, ptr %context, i64 {c.OWNER_NOW + 4}
  %first = load i32, ptr %first.at
  %owner = add i32 %first, %number
  %owner.at = getelementptr i8, ptr %context, i64 {c.OWNER_NOW}
  store i32 %owner, ptr %owner.at
  ret void
}}

define void @run(ptr %context) {{
  %states.at = getelementptr i8, ptr %context, i64 {c.STATES}
  %states = load ptr, ptr %states.at
  %special.at = getelementptr i8, ptr %context, i64 {c.SPECIAL}
  %special = load ptr, ptr %special.at
  %shared.at = getelementptr i8, ptr %context, i64 {c.SHARED}
  %shared = load ptr, ptr %shared.at
  %fresh.shared.at = getelementptr i8, ptr %context, i64 {c.FRESH_SHARED}
  %fresh.shared = load ptr, ptr %fresh.shared.at
  %fresh.at = getelementptr i8, ptr %context, i64 {c.FRESH_PCS}
  %fresh = load ptr, ptr %fresh.at
  %next.at = getelementptr i8, ptr %context, i64 {c.NEXT_BLOCK}
  %next = load ptr, ptr %next.at
  %grid.x.at = getelementptr i8, ptr %context, i64 {c.GRID}
  %grid.x64 = load i64, ptr %grid.x.at
  %grid.x = trunc i64 %grid.x64 to i32
  %grid.y.at = getelementptr i8, ptr %context, i64 {c.GRID + 8}
  %grid.y64 = load i64, ptr %grid.y.at
  %grid.y = trunc i64 %grid.y64 to i32
  %blocks.at = getelementptr i8, ptr %context, i64 {c.GRID + 16}
  %blocks = load i64, ptr %blocks.at
  br label %begin
begin:
  %block = atomicrmw add ptr %next, i64 1 seq_cst
  %exists = icmp ult i64 %block, %blocks
  br i1 %exists, label %prepare, label %done
prepare:
  %started.at = getelementptr i8, ptr %context, i64 {c.STARTED}
  %started = load i64, ptr %started.at
  %started.more = add i64 %started, 1
  store volatile i64 %started.more, ptr %started.at
  %b = trunc i64 %block to i32
  %warps.before = mul i32 %b, {warps}
  %first.warp = add i32 %warps.before, 1
  %first.warp.at = getelementptr i8, ptr %context, i64 {c.OWNER_NOW + 4}
  store i32 %first.warp, ptr %first.warp.at
  %bx = urem i32 %b, %grid.x
  %row = udiv i32 %b, %grid.x
  %by = urem i32 %row, %grid.y
  %bz = udiv i32 %row, %grid.y
  %index.x = getelementptr i8, ptr %context, i64 {c.BLOCK_INDEX}
  %index.y = getelementptr i8, ptr %context, i64 {c.BLOCK_INDEX + 4}
  %index.z = getelementptr i8, ptr %context, i64 {c.BLOCK_INDEX + 8}
  store i32 %bx, ptr %index.x
  store i32 %by, ptr %index.y
  store i32 %bz, ptr %index.z
  call void @next_epoch(ptr %context)
  call void @llvm.memcpy.p0.p0.i64(ptr %shared, ptr %fresh.shared, i64 {shared}, i1 false)
  call void @llvm.memset.p0.i64(ptr %states, i8 0, i64 {warps * threads_state}, i1 false)
  br label %start.warp
start.warp:
  %s = phi i64 [ 0, %prepare ], [ %s.next, %start.warp ]
  %s.state.at = mul i64 %s, {threads_state}
  %s.state = getelementptr i8, ptr %states, i64 %s.state.at
  %s.fresh.at = mul i64 %s, 128
  %s.fresh = getelementptr i8, ptr %fresh, i64 %s.fresh.at
  call void @llvm.memcpy.p0.p0.i64(ptr %s.state, ptr %s.fresh, i64 128, i1 false)
  %s.next = add i64 %s, 1
  %s.more = icmp ult i64 %s.next, {warps}
  br i1 %s.more, label %start.warp, label %epoch
epoch:
  br label %run.warp
run.warp:
  %w = phi i64 [ 0, %epoch ], [ %w.next, %run.warp ]
  %w.state.at = mul i64 %w, {threads_state}
  %w.state = getelementptr i8, ptr %states, i64 %w.state.at
  %w.special.at = mul i64 %w, {special}
  %w.special = getelementptr i8, ptr %special, i64 %w.special.at
  %w32 = trunc i64 %w to i32
  call void @set_warp(i32 %w32, ptr %context)
  call void @warp(ptr %w.state, ptr %w.special, ptr %context)
  %w.next = add i64 %w, 1
  %w.more = icmp ult i64 %w.next, {warps}
  br i1 %w.more, label %run.warp, label %check
check:
  %stop = load volatile i64, ptr %context
  %stopped = icmp ne i64 %stop, 0
  br i1 %stopped, label %done, label %open.warp
open.warp:
  %o = phi i64 [ 0, %check ], [ %o.next, %opened ]
  %before = phi i1 [ false, %check ], [ %alive, %opened ]
  %o.state.at = mul i64 %o, {threads_state}
  %o.state = getelementptr i8, ptr %states, i64 %o.state.at
  %pcs = load <32 x i32>, ptr %o.state
  %waits = icmp ne <32 x i32> %pcs, {finished}
  %lowest = call i32 @llvm.vector.reduce.umin.v32i32(<32 x i32> %pcs)
  %waiting.only = select <32 x i1> %waits, <32 x i32> %pcs, <32 x i32> zeroinitializer
  %highest = call i32 @llvm.vector.reduce.umax.v32i32(<32 x i32> %waiting.only)
  %any = icmp ne i32 %lowest, {c.EXIT}
  %apart = icmp ne i32 %lowest, %highest
  %divergent = and i1 %any, %apart
  br i1 %divergent, label %defect, label %opened
opened:
  %released = sub <32 x i32> %pcs, {waiting}
  %new = select <32 x i1> %waits, <32 x i32> %released, <32 x i32> %pcs
  store <32 x i32> %new, ptr %o.state
  %alive = or i1 %before, %any
  %o.next = add i64 %o, 1
  %o.more = icmp ult i64 %o.next, {warps}
  br i1 %o.more, label %open.warp, label %opened.all
opened.all:
  call void @next_epoch(ptr %context)
  br i1 %alive, label %epoch, label %begin
defect:
  store volatile i64 1, ptr %context
  br label %done
done:
  ret void
}}
"""
