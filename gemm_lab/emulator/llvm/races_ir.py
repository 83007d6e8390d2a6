"""The IR that notices when two warps touch one word of shared memory between two barriers, and one of them writes.

The result then depends on the order of the warps, and the NumPy back end, which defines that order, must do the run.
So every word remembers who wrote it last and who read it: the epoch plus the number of the warp, or MANY warps.

In global memory every word remembers which warp wrote it (`note_owner`), over the whole launch: two writers are one
too many.

Most epochs only read, or only write. So scattered reads, which are slow to look at, are written down (`note_read`) and
looked at (`look_at_reads`) when the epoch ends, if anybody wrote in it; or earlier, if the list is full or a footprint
in it is about to be replaced.
"""

from __future__ import annotations

from gemm_lab.emulator.llvm import context as c

MANY = 63    # more than any warp's number

# Vectors, or single numbers where all lanes reach one word: N is "<32 x i32>" or "i32", B the type of a comparison.
_LOOK = """
  %WHO.recent.KIND = icmp sge N %WHO.KIND, EPOCH.KIND
  %WHO.other.KIND = icmp ne N %WHO.KIND, NOW.KIND
  %WHO.foreign.KIND = and B %WHO.recent.KIND, %WHO.other.KIND
"""
_READ = _LOOK.replace("WHO", "writer") + _LOOK.replace("WHO", "reader") + """
  %new.KIND = select B %reader.foreign.KIND, N MANY.KIND, N NOW.KIND
"""
_WRITE = _LOOK.replace("WHO", "writer") + _LOOK.replace("WHO", "reader") + """
  %either.KIND = or B %writer.foreign.KIND, %reader.foreign.KIND
"""


def _look(kind: str, text: str) -> str:
    """A comparison for single numbers ("one") or for vectors."""
    numbers, test, mark = ("i32", "i1", "%") if kind == "one" else ("<32 x i32>", "<32 x i1>", "%v.")
    for name in ("EPOCH", "NOW", "MANY"):
        text = text.replace(f"{name}.KIND", mark + name.lower())
    return text.replace("KIND", kind).replace("N %", numbers + " %").replace("B %", test + " %")


def _function(name: str, text: str, conflict: str, put: str, value: str) -> str:
    """`name`(place, entry, mask, row?, context): look at one word of each lane, and note that this warp was there."""
    vectors = "".join(f"""
  %{n}.1 = insertelement <32 x i32> poison, i32 %{n}, i32 0
  %v.{n} = shufflevector <32 x i32> %{n}.1, <32 x i32> poison, <32 x i32> zeroinitializer"""
                      for n in ("epoch", "now", "many"))
    return f"""
define internal void @{name}(ptr %place, ptr %entry, i32 %mask, i1 %single, i32 %now, ptr %context) noinline {{
  %bad = icmp eq ptr %place, null
  br i1 %bad, label %done, label %go
go:
  %writers.at = getelementptr i8, ptr %context, i64 {c.WRITERS}
  %writers.far = load i64, ptr %writers.at
  %writers = getelementptr i8, ptr %place, i64 %writers.far
  %readers.at = getelementptr i8, ptr %context, i64 {c.READERS}
  %readers.far = load i64, ptr %readers.at
  %readers = getelementptr i8, ptr %place, i64 %readers.far
  %epoch.at = getelementptr i8, ptr %context, i64 {c.EPOCH}
  %epoch = load i32, ptr %epoch.at
  %many = add i32 %epoch, {MANY}
  %kind.at = getelementptr i8, ptr %entry, i64 {c.KIND}
  %kind = load i64, ptr %kind.at
  %is.one = icmp eq i64 %kind, {c.BROADCAST}
  br i1 %is.one, label %one, label %several
one:
  %writer.one = load i32, ptr %writers
  %reader.one = load i32, ptr %readers
{_look("one", text)}
  store i32 {value.replace("KIND", "one").replace("NOW", "%now")}, ptr {put}
  br i1 %{conflict}.one, label %race, label %done
several: {vectors}
  %lanes = bitcast i32 %mask to <32 x i1>
  %is.row = icmp eq i64 %kind, {c.ROW}
  %as.row = and i1 %is.row, %single
  br i1 %as.row, label %row, label %scattered
row:
  %writer.row = load <32 x i32>, ptr %writers, align 4
  %reader.row = load <32 x i32>, ptr %readers, align 4
{_look("row", text)}
  store <32 x i32> {value.replace("KIND", "row").replace("NOW", "%v.now")}, ptr {put}, align 4
  %row.bits = bitcast <32 x i1> %{conflict}.row to i32
  %row.any = icmp ne i32 %row.bits, 0
  br i1 %row.any, label %race, label %done
scattered:
  %relative = load <32 x i64>, ptr %entry, align 8
  %all.writers = getelementptr i8, ptr %writers, <32 x i64> %relative
  %all.readers = getelementptr i8, ptr %readers, <32 x i64> %relative
  %writer.all = call <32 x i32> @llvm.masked.gather.v32i32.v32p0(<32 x ptr> align 4 %all.writers, <32 x i1> %lanes,
    <32 x i32> zeroinitializer)
  %reader.all = call <32 x i32> @llvm.masked.gather.v32i32.v32p0(<32 x ptr> align 4 %all.readers, <32 x i1> %lanes,
    <32 x i32> zeroinitializer)
{_look("all", text)}
  call void @llvm.masked.scatter.v32i32.v32p0(
    <32 x i32> {value.replace("KIND", "all").replace("NOW", "%v.now")},
    <32 x ptr> align 4 {put.replace("%", "%all.")}, <32 x i1> %lanes)
  %all.bits = bitcast <32 x i1> %{conflict}.all to i32
  %all.active = and i32 %all.bits, %mask
  %all.any = icmp ne i32 %all.active, 0
  br i1 %all.any, label %race, label %done
race:
  store volatile i64 1, ptr %context
  br label %done
done:
  ret void
}}
"""


_LOG = f"""
define internal void @note_read(ptr %place, ptr %entry, i32 %mask, i1 %single, i32 %now, ptr %context) noinline {{
  %kind.at = getelementptr i8, ptr %entry, i64 {c.KIND}
  %kind = load i64, ptr %kind.at
  %scattered = icmp eq i64 %kind, {c.SCATTERED}
  br i1 %scattered, label %later, label %at.once
at.once:
  call void @look_at_read(ptr %place, ptr %entry, i32 %mask, i1 %single, i32 %now, ptr %context)
  ret void
later:
  %logged.at = getelementptr i8, ptr %context, i64 {c.LOGGED}
  %logged = load i64, ptr %logged.at
  %log.at = getelementptr i8, ptr %context, i64 {c.LOG}
  %log = load ptr, ptr %log.at
  %offset = mul i64 %logged, {c.LOG_ENTRY_BYTES}
  %p0 = getelementptr i8, ptr %log, i64 %offset
  %p1 = getelementptr i8, ptr %p0, i64 8
  %p2 = getelementptr i8, ptr %p0, i64 16
  %p3 = getelementptr i8, ptr %p0, i64 20
  %p4 = getelementptr i8, ptr %p0, i64 24
  store ptr %place, ptr %p0
  store ptr %entry, ptr %p1
  store i32 %mask, ptr %p2
  store i32 %now, ptr %p3
  store i1 %single, ptr %p4
  %more = add i64 %logged, 1
  store i64 %more, ptr %logged.at
  %full = icmp uge i64 %more, {c.LOG_ENTRIES}
  br i1 %full, label %look, label %done
look:
  call void @look_at_reads(ptr %context)
  br label %done
done:
  ret void
}}

define internal void @look_at_reads(ptr %context) noinline {{
  %logged.at = getelementptr i8, ptr %context, i64 {c.LOGGED}
  %logged = load i64, ptr %logged.at
  store i64 0, ptr %logged.at
  %log.at = getelementptr i8, ptr %context, i64 {c.LOG}
  %log = load ptr, ptr %log.at
  br label %head
head:
  %k = phi i64 [ 0, %0 ], [ %next, %body ]
  %left = icmp ult i64 %k, %logged
  br i1 %left, label %body, label %done
body:
  %offset = mul i64 %k, {c.LOG_ENTRY_BYTES}
  %p0 = getelementptr i8, ptr %log, i64 %offset
  %p1 = getelementptr i8, ptr %p0, i64 8
  %p2 = getelementptr i8, ptr %p0, i64 16
  %p3 = getelementptr i8, ptr %p0, i64 20
  %p4 = getelementptr i8, ptr %p0, i64 24
  %place = load ptr, ptr %p0
  %entry = load ptr, ptr %p1
  %mask = load i32, ptr %p2
  %now = load i32, ptr %p3
  %single = load i1, ptr %p4
  call void @look_at_read(ptr %place, ptr %entry, i32 %mask, i1 %single, i32 %now, ptr %context)
  %next = add i64 %k, 1
  br label %head
done:
  ret void
}}

define internal void @end_epoch(ptr %context) {{
  %logged.at = getelementptr i8, ptr %context, i64 {c.LOGGED}
  %written.at = getelementptr i8, ptr %context, i64 {c.WRITTEN}
  %written = load i64, ptr %written.at
  store i64 0, ptr %written.at
  %any = icmp ne i64 %written, 0
  br i1 %any, label %look, label %forget
look:
  call void @look_at_reads(ptr %context)
  ret void
forget:
  store i64 0, ptr %logged.at
  ret void
}}
"""

_OWNER = f"""
define internal void @note_owner(ptr %place, ptr %entry, i32 %mask, ptr %context) noinline {{
  %bad = icmp eq ptr %place, null
  br i1 %bad, label %done, label %go
go:
  %owners.at = getelementptr i8, ptr %context, i64 {c.OWNERS}
  %far = load i64, ptr %owners.at
  %first = getelementptr i8, ptr %place, i64 %far
  %now.at = getelementptr i8, ptr %context, i64 {c.OWNER_NOW}
  %now = load i32, ptr %now.at
  %now.1 = insertelement <32 x i32> poison, i32 %now, i32 0
  %me = shufflevector <32 x i32> %now.1, <32 x i32> poison, <32 x i32> zeroinitializer
  %lanes = bitcast i32 %mask to <32 x i1>
  %relative = load <32 x i64>, ptr %entry, align 8
  %places = getelementptr i8, ptr %first, <32 x i64> %relative
  %owner = call <32 x i32> @llvm.masked.gather.v32i32.v32p0(<32 x ptr> align 4 %places, <32 x i1> %lanes,
    <32 x i32> %me)
  call void @llvm.masked.scatter.v32i32.v32p0(<32 x i32> %me, <32 x ptr> align 4 %places, <32 x i1> %lanes)
  %somebody = icmp ne <32 x i32> %owner, zeroinitializer
  %not.me = icmp ne <32 x i32> %owner, %me
  %other = and <32 x i1> %somebody, %not.me
  %bits = bitcast <32 x i1> %other to i32
  %any = icmp ne i32 %bits, 0
  br i1 %any, label %race, label %done
race:
  store volatile i64 1, ptr %context
  br label %done
done:
  ret void
}}
"""

FUNCTIONS = _OWNER + _LOG + (_function("look_at_read", _READ, "writer.foreign", "%readers", "%new.KIND")
                    + _function("note_write", _WRITE, "either", "%writers", "NOW").replace("go:\n", f"""go:
  %written.at = getelementptr i8, ptr %context, i64 {c.WRITTEN}
  store i64 1, ptr %written.at
"""))
