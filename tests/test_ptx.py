"""The PTX parser and the basic blocks, on hand-written PTX."""

from __future__ import annotations

import pytest

from gemm_lab.emulator import flow, module, ptx, reader
from gemm_lab.emulator.ptx import Address, Immediate, Not, Pair, Register, Special, Symbol, Unsupported

HEADER = """
.version 9.0
.target sm_80
.address_size 64
"""


def parse(body, parameters=".param .u64 k_param_0", before="", files='.file 1 "/x/kernel.cu"'):
    return reader.parse(f"{HEADER}{before}\n.visible .entry k({parameters})\n{{\n{body}\nret;\n}}\n{files}\n", "k")


def test_operands():
    k = parse(""".reg .pred %p<3>; .reg .b32 %r<9>; .reg .f32 %f<9>; .reg .b64 %rd<3>;
        @!%p1 ld.global.v2.f32 {%f1, %f2}, [%rd1+-8];   // a comment, with a comma
        setp.lt.and.s32 %p1|%p2, %r1, -7, !%p1;
        mov.u32 %r2, %tid.x;
        mov.u64 %rd2, k_array+16;
        st.shared.f32 [k_array + 4], 0f3F800000;
        shfl.sync.up.b32 _|%p1, %r1, WARP_SZ, 0x1F, -1;""")
    load, setp, tid, address, store, shuffle, _ = k.instructions
    assert load.guard == Not(Register("%p1", "pred")) and load.opcode == ("ld", "global", "v2", "f32")
    assert load.operands == ((Register("%f1", "f32"), Register("%f2", "f32")), Address(Register("%rd1", "b64"), -8))
    assert setp.operands[0] == Pair(Register("%p1", "pred"), Register("%p2", "pred"))
    assert setp.operands[2:] == (Immediate("-7"), Not(Register("%p1", "pred")))
    assert tid.operands[1] == Special("tid.x")
    assert address.operands[1] == Symbol("k_array", 16)
    assert store.operands == (Address(Symbol("k_array"), 4), Immediate("0f3F800000"))
    assert shuffle.operands[0] == Pair(None, Register("%p1", "pred")) and shuffle.operands[2] == Immediate("32")


@pytest.mark.parametrize("text, value", [("12", 12), ("-3", -3), ("0x1F", 31), ("017", 15), ("4U", 4), ("0", 0),
                                         ("0f3F800000", 0x3F800000), ("0d3FF0000000000000", 0x3FF0000000000000)])
def test_numbers(text, value):
    assert ptx.number(text) == value


def test_lines_come_from_loc_and_ignore_line_0_and_other_files():
    k = parse(""".reg .b32 %r<9>;
        .loc 1 3 0
        mov.u32 %r1, 1;
        .loc\t1 0 0
        mov.u32 %r1, 2;
        .loc 2 77 5, function_name $L__info_string0, inlined_at 1 12 9
        mov.u32 %r1, 3;
        .loc 2 78 5
        mov.u32 %r1, 4;
        .loc 1 9 5, function_name $L__info_string1, inlined_at 1 20 3
        mov.u32 %r1, 5;""", files='.file 1 "C:\\\\x\\\\kernel.cu"\n.file 2 "/x/header.h"')
    # A helper in the student's own file keeps its line; a header's code belongs to the line that uses it.
    assert [i.line for i in k.instructions[:5]] == [3, 3, 12, 12, 9]


def test_scopes_have_registers_and_labels_of_their_own():
    k = parse(""".reg .b32 %r<3>;
        { .reg .pred p; .reg .b32 %r<2>; setp.eq.u32 p, %r1, 3; AGAIN: @p bra AGAIN; }
        { .reg .pred p; setp.eq.u32 p, %r1, 5; AGAIN: @p bra AGAIN; }""")
    first, second = (i.operands for i in k.instructions if i.opcode[0] == "setp")
    assert first[0] != second[0], "two inline-assembly blocks may both call a predicate p"
    assert first[1] != second[1] == Register("%r1", "b32")
    blocks = flow.basic_blocks(k)
    assert [(loop.head, loop.tail) for loop in flow.loops(blocks)] == [(1, 1), (3, 3)]


def test_parameters_variables_and_launch_bounds():
    before = """.extern .shared .align 16 .b8 dyn[];
        .const .align 4 .b8 c[8] = {1, 0, 0, 0, 254, 255, 255, 255};
        .global .align 4 .u32 g = 5;
        .visible .global .align 8 .f32 f[2] = {0f3F800000, 0f40000000};
        .shared .align 8 .b8 unused[64];"""
    text = parse(""".reg .b64 %rd<9>; .local .align 16 .b8 depot[32]; .shared .align 4 .b8 s[4][8];
        mov.u64 %rd1, dyn; mov.u64 %rd2, c; mov.u64 %rd3, g; mov.u64 %rd4, f;""",
                 ".param .u64 .ptr .align 1 k_param_0, .param .u32 k_param_1, .param .align 8 .b8 k_param_2[24]",
                 before)
    assert [(p.name, p.type, p.size) for p in text.parameters] == \
        [("k_param_0", "u64", 8), ("k_param_1", "u32", 4), ("k_param_2", "b8", 24)]
    assert {v.name: (v.space, v.size, v.align) for v in text.variables.values()} == {
        "dyn": ("shared", 0, 16), "c": ("const", 8, 4), "g": ("global", 4, 4), "f": ("global", 8, 8),
        "depot": ("local", 32, 16), "s": ("shared", 32, 4)}
    assert text.variables["c"].data == bytes([1, 0, 0, 0, 254, 255, 255, 255])
    assert text.variables["g"].data == bytes([5, 0, 0, 0])
    assert text.variables["f"].data.hex() == "0000803f00000040"
    bounded = reader.parse(HEADER + ".entry k()\n.maxntid 16, 8, 1\n.minnctapersm 2\n{ ret; }", "k")
    assert bounded.max_threads == 128


def test_a_call_is_inlined_and_returns_behind_the_call():
    helper = """.func (.param .b32 func_retval0) helper(.param .b32 helper_param_0)
        { .reg .pred %p<2>; .reg .f32 %f<4>;
          .loc 1 2 0
          ld.param.f32 %f1, [helper_param_0];
          setp.lt.f32 %p1, %f1, 0f00000000;
          @%p1 bra $L_neg;
          st.param.f32 [func_retval0+0], %f1; ret;
          $L_neg: st.param.f32 [func_retval0+0], 0f00000000; ret; }"""
    k = parse(""".reg .f32 %f<9>;
        .loc 1 7 0
        { .param .b32 param0; st.param.f32 [param0+0], %f2; .param .b32 retval0;
          call.uni (retval0), helper, (param0);
          ld.param.f32 %f3, [retval0+0]; }
        add.f32 %f4, %f3, %f3;""", before=helper)
    assert "call" not in {i.opcode[0] for i in k.instructions}
    add = next(n for n, i in enumerate(k.instructions) if i.opcode[0] == "add")
    returns = [k.labels[i.operands[0].scopes[0], i.operands[0].label] for i in k.instructions
               if i.opcode[0] == "bra" and i.operands[0].label == "return"]
    assert returns == [add - 1, add - 1], "both returns go to the load of the result"
    assert k.instructions[add].line == 7 and {i.line for i in k.instructions} == {2, 7}
    flow.basic_blocks(k)


def test_recursion_is_unsupported_only_where_it_happens():
    recursive = ".func f() { call.uni f, (); ret; }"
    k = parse("call.uni f, ();", before=recursive)
    assert any(i.opcode[0] == "unsupported" and "recursive" in i.operands[0].text for i in k.instructions)


def test_tables_of_addresses_are_unsupported():
    with pytest.raises(Unsupported, match="the address of `_ZNK5Store5applyEf`, as for virtual functions"):
        module.variable(".global .align 8 .u64 _ZTV5Store[3] = {0, 0, _ZNK5Store5applyEf};")
    assert module.variable(".global .align 8 .u64 sizes[2] = {7, -1};").data == (7).to_bytes(8, "little") + b"\xff" * 8


def test_unknown_kernel():
    with pytest.raises(Unsupported, match="no kernel"):
        reader.parse(HEADER, "k")


def test_blocks_and_live_registers():
    k = parse(""".reg .pred %p<2>; .reg .b32 %r<9>;
        mov.u32 %r1, 0; mov.u32 %r2, 10; mov.u32 %r3, 77;
        LOOP: add.s32 %r1, %r1, 1; mov.u32 %r4, 5; bar.sync 0; setp.lt.s32 %p1, %r1, %r2; @%p1 bra LOOP;
        mov.u32 %r5, %r3;""")
    blocks = flow.basic_blocks(k)
    assert [type(b.end).__name__ for b in blocks] == ["Jump", "Barrier", "Branch", "Jump"]
    assert blocks[1].live == {"%r1", "%r2", "%r3"} and blocks[3].live == {"%r3"}
    assert blocks[2].end.taken == 1 and blocks[2].end.otherwise == 3 and blocks[3].end.target == flow.EXIT


def test_a_guarded_write_keeps_the_old_value_alive():
    k = parse(""".reg .pred %p<2>; .reg .b32 %r<9>;
        NEXT: @%p1 mov.u32 %r1, 5; add.s32 %r2, %r1, 1;""")
    assert flow.basic_blocks(k)[0].live == {"%p1", "%r1"}
