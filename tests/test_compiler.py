"""The compiler: PTX, machine code, resource usage, diagnostics and the headers that sources may include."""

from __future__ import annotations

import pickle
import re
import struct
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import gemm_lab as gl
from gemm_lab import compiler
from gemm_lab.compiler import CompileError, NoCompiler, compile_kernel, compile_ptx, entries, nvrtc, sass, scan
from gemm_lab.compiler.headers import PRELUDE, headers

KERNELS = Path(__file__).parents[1] / "kernels"
TILED = (KERNELS / "02_shared_tiling.cu").read_text(encoding="utf-8")
K = "__global__ void k(float *C, int n) { C[threadIdx.x] = n; }\n"
ALL_HEADERS = [name for name in headers() if name != PRELUDE]


def body(statements: str) -> str:
    return f"__global__ void k(float *C, int n) {{\n{statements}\n}}\n"


def error_of(source: str, entry: str = "k") -> CompileError:
    with pytest.raises(CompileError) as caught:
        compile_ptx(source, entry)
    return caught.value


# PTX

def test_ptx_of_a_template_and_of_a_plain_kernel():
    source = "template <int T, bool B> __global__ void t(float *C) { C[T] = B; }\n" + K
    template, plain = compile_ptx(source, "t<7, true>"), compile_ptx(source, "k")
    assert template.entry == "_Z1tILi7ELb1EEvPf" and plain.entry == "_Z1kPfi"       # Itanium C++ ABI, by hand
    for ptx in (template, plain):
        assert f".entry {ptx.entry}(" in ptx.text
        assert ".target sm_80" in ptx.text and ".loc" in ptx.text
        assert ptx.source == source and ptx.diagnostics == ()


@pytest.mark.parametrize("entry", ["t<8>", " t< 8 > ", "t<2 * 4>", "t<EIGHT>", "t<>"])
def test_ways_to_write_template_arguments(entry):
    source = "constexpr int EIGHT = 8;\ntemplate <int T = EIGHT> __global__ void t(float *C) { C[0] = T; }"
    assert compile_ptx(source, entry).entry == "_Z1tILi8EEvPf"


def test_namespaces_linkage_and_unnamed_namespaces():
    assert compile_ptx("namespace a { __global__ void k(float *C) { C[0] = 1; } }", "a::k").entry == "_ZN1a1kEPf"
    assert compile_ptx('extern "C" ' + K, "k").entry == "k"
    hidden = "namespace { __device__ int count; __global__ void k(float *C) { C[0] = count++; } }"
    assert compile_ptx(hidden, "k").text == compile_ptx(hidden + "\n", "k").text    # no random names


def test_ptx_does_not_name_this_machine():
    text = compile_ptx('#include <algorithm>\n' + body("C[0] = std::min(C[1], C[2]);"), "k").text
    assert re.findall(r'\.file\s+\d+ "(.*)"', text) == ["kernel.cu", "prelude.h"]
    assert str(Path.cwd()) not in text


def test_a_kernel_compiles_once():
    assert compile_ptx(K, "k") is compile_ptx(K, "k")
    assert compile_kernel(K, "k") is compile_kernel(K, "k", arch="sm_90")
    assert compile_kernel(K, "k", arch="sm_80") is not compile_kernel(K, "k")
    assert compile_ptx(K, "k", options=("-G",)).text != compile_ptx(K, "k").text


def test_threads_may_compile_at_the_same_time():
    sources = [body(f"C[0] = {i}.0f;") for i in range(8)]
    with ThreadPoolExecutor(4) as pool:
        made = list(pool.map(lambda source: compile_ptx(source, "k"), sources))
    for i, ptx in enumerate(made):
        assert f"{struct.unpack('<I', struct.pack('<f', i))[0]}" in ptx.text        # the constant, as its bits


@pytest.mark.parametrize("file, entry", [("01_naive", "naive<false>"), ("02_shared_tiling", "shared_tiling<16, 1>"),
                                         ("03_register_tiling_1d", "register_tiling_1d<64, 64, 8, 8, false>")])
def test_course_kernels_compile_without_a_warning(file, entry):
    source = (KERNELS / f"{file}.cu").read_text(encoding="utf-8")
    assert compile_ptx(source, entry).log == ""
    assert compile_kernel(source, entry).diagnostics == ()


# Machine code and resources. The oracle is the cubin itself: an ELF file with a table of attributes.

def elf_sections(cubin: bytes) -> dict[str, bytes]:
    at, = struct.unpack_from("<Q", cubin, 0x28)
    size, count, names = struct.unpack_from("<HHH", cubin, 0x3A)
    rows = [struct.unpack_from("<IIQQQQ", cubin, at + i * size) for i in range(count)]
    text = cubin[rows[names][4]:rows[names][4] + rows[names][5]]
    return {text[row[0]:text.index(b"\0", row[0])].decode(): cubin[row[4]:row[4] + row[5]] for row in rows}


def elf_attributes(cubin: bytes) -> dict[int, int]:
    """Attributes of `.nv.info` that hold (symbol, value): 0x2f registers, 0x11 frame size."""
    info, found, at = elf_sections(cubin)[".nv.info"], {}, 0
    while at < len(info):
        form, key, size = struct.unpack_from("<BBH", info, at)
        if form == 4 and size == 8:
            found[key] = struct.unpack_from("<II", info, at + 4)[1]
        at += 4 + (size if form == 4 else 0)
    return found


SPILLING = body("float a[64];\n#pragma unroll\nfor (int i = 0; i < 64; ++i) a[i] = C[i * n];\n__syncthreads();\n"
                "#pragma unroll\nfor (int i = 0; i < 64; ++i) C[i * n + 1] = a[i] * a[63 - i];")


@pytest.mark.parametrize("source, entry, options", [
    (TILED, "shared_tiling<32, 0>", ()), (TILED, "shared_tiling<16, 1>", ()), (K, "k", ()),
    (body("float a[100]; for (int i = 0; i < n; ++i) a[i] = C[i]; C[0] = a[int(C[n])];"), "k", ()),
    (SPILLING, "k", ("-maxrregcount=32",))])
def test_registers_and_stack_frame_are_those_of_the_cubin(source, entry, options):
    compiled = compile_kernel(source, entry, options=options)
    attributes = elf_attributes(compiled.cubin)
    assert compiled.registers == attributes[0x2F] > 0
    assert compiled.local_bytes == attributes[0x11]


def test_shared_memory_and_barriers():
    for tile, pad in ((32, 0), (8, 3)):
        compiled = compile_kernel(TILED, f"shared_tiling<{tile}, {pad}>")
        assert compiled.shared_bytes == 2 * tile * (tile + pad) * 4
        assert compiled.barriers == 1 and compiled.local_bytes == 0 and compiled.spill_bytes == 0
    assert compile_kernel(K, "k").shared_bytes == 0 and compile_kernel(K, "k").barriers == 0


def test_a_stack_frame_holds_the_array_that_is_indexed_at_run_time():
    compiled = compile_kernel(body("float a[100]; for (int i = 0; i < n; ++i) a[i] = C[i]; C[0] = a[int(C[n])];"), "k")
    assert compiled.local_bytes == 400 and compiled.spill_bytes == 0


def test_spills_are_seen_in_the_report_and_in_the_machine_code():
    tight, roomy = compile_kernel(SPILLING, "k", options=("-maxrregcount=32",)), compile_kernel(SPILLING, "k")
    assert tight.spill_store_bytes > 0 and tight.spill_load_bytes > 0
    assert tight.spill_bytes == tight.spill_store_bytes + tight.spill_load_bytes
    assert "STL" in tight.sass and "LDL" in tight.sass
    assert roomy.spill_bytes == 0 and "STL" not in roomy.sass and "LDL" not in roomy.sass


def test_resources_are_those_of_the_chosen_kernel():
    source = TILED + "__global__ void other(float *C) { __shared__ float s[999]; s[threadIdx.x] = C[0];\n" \
                     "__syncthreads(); C[1] = s[threadIdx.x + 1]; }\n"
    assert compile_kernel(source, "shared_tiling<16, 0>").shared_bytes == 2048
    assert compile_kernel(source, "other").shared_bytes == 3996
    assert "Bs" not in compile_kernel(source, "other").sass


def test_repr_of_compiled_is_one_line_and_the_warnings():
    compiled = compile_kernel(TILED, "shared_tiling<32, 0>")
    assert repr(compiled) == (f"shared_tiling<32, 0> for sm_90: {compiled.registers} registers, 8,192 bytes of shared "
                              "memory, 0 bytes of stack frame, 0 bytes of spills")
    assert "warning" in repr(compile_kernel(body("int unused;"), "k"))


@pytest.mark.parametrize("arch", ["sm_33", "compute_80", "90", 90, None, ""])
def test_an_unknown_architecture_lists_those_that_exist(arch):
    with pytest.raises(ValueError, match=r"sm_75, sm_80.*sm_90"):
        compile_kernel(K, "k", arch=arch)


@pytest.mark.parametrize("arch", ["sm_75", "sm_80", "sm_86", "sm_89", "sm_90", "sm_90a", "sm_100", "sm_120"])
def test_kernels_compile_for_every_generation(arch):
    compiled = compile_kernel(TILED, "shared_tiling<16, 0>", arch=arch)
    assert compiled.arch == arch and compiled.registers > 0 and compiled.cubin.startswith(b"\x7fELF")


# Machine code by source line

def line_with(source: str, text: str) -> int:
    return next(n for n, line in enumerate(source.split("\n"), 1) if text in line)


def test_the_inner_product_of_the_tiled_kernel_reads_as_measured():
    """32 FMAs, 32 LDS and 8 LDS.128 for the 64 loads of the source: counted on an H200."""
    compiled = compile_kernel(TILED, "shared_tiling<32, 0>")
    line = line_with(TILED, "acc += As")
    operations = [sass.opcode(i) for i in compiler.sass_by_line(compiled)[line]]
    assert operations.count("FFMA") == 32
    assert compiler.shared_accesses(compiled)[line] == {"LDS": 32, "LDS.128": 8}
    stores = {line_with(TILED, "As[ty][tx] ="): {"STS": 1}, line_with(TILED, "Bs[ty][tx] ="): {"STS": 1}}
    assert {n: dict(w) for n, w in compiler.shared_accesses(compiled).items() if n != line} == stores


def test_every_instruction_belongs_to_a_line():
    compiled = compile_kernel(TILED, "shared_tiling<16, 0>")
    listed = [i for instructions in compiler.sass_by_line(compiled).values() for i in instructions]
    addresses = re.findall(r"^\s+/\*[0-9a-f]+\*/", compiled.sass, re.MULTILINE)
    padding = compiled.sass.count("NOP;") + 1       # and the jump to itself before them
    assert len(listed) == len(addresses) - padding
    assert len(addresses) * 16 == len(elf_sections(compiled.cubin)[f".text.{compiled.entry}"])     # 16 bytes each
    assert sorted(compiled.instructions) == sorted(listed)


@pytest.mark.parametrize("arch", ["sm_75", "sm_90", "sm_120"])
def test_instructions_come_in_the_order_of_the_program(arch):
    compiled = compile_kernel(TILED, "shared_tiling<16, 0>", arch)
    offsets = re.findall(r"^\s+/\*([0-9a-f]+)\*/\s+(.*?)\s*;", compiled.sass, re.MULTILINE)
    by_offset = [code for _, code in sorted(offsets, key=lambda pair: int(pair[0], 16))]
    end = len(compiled.instructions)
    assert list(compiled.instructions) == by_offset[:end]
    assert by_offset[end].startswith("BRA") and set(by_offset[end + 1:]) <= {"NOP"}


@pytest.mark.parametrize("arch", ["sm_75", "sm_80", "sm_90", "sm_120"])
@pytest.mark.parametrize("tile", [8, 16, 32])
def test_the_loop_of_a_tiled_kernel_holds_whole_steps(arch, tile):
    """A step has two barriers, a load and a store for each tile, TILE FMAs; nothing from before or after the loop."""
    operations = [sass.opcode(i).split(".")[0] for i in compile_kernel(TILED, f"shared_tiling<{tile}, 0>", arch).loop]
    steps = operations.count("BAR") / 2
    assert steps in (1, 2, 4) and operations[-1] == "BRA"
    assert {name: operations.count(name) / steps for name in ("LDG", "STS", "FFMA", "STG", "EXIT")} == {
        "LDG": 2, "STS": 2, "FFMA": tile, "STG": 0, "EXIT": 0}


def test_without_a_barrier_in_a_loop_there_is_no_such_loop():
    source = """__global__ void k(float *C) { __shared__ float s[64]; s[threadIdx.x] = 1; __syncthreads();
                                      for (int i = 0; i < 64; ++i) C[i] = s[i] + threadIdx.x; }"""
    assert compile_kernel(source, "k").loop == ()
    assert compile_kernel("__global__ void k(float *C) { C[0] = 1; }", "k").loop == ()


@pytest.mark.parametrize("arch, wide", [("sm_75", "LDS.128"), ("sm_80", "LDS.128"), ("sm_120", "LDS.128")])
def test_widths_have_one_name_on_every_generation(arch, wide):
    line = line_with(TILED, "acc += As")
    widths = compiler.shared_accesses(compile_kernel(TILED, "shared_tiling<32, 0>", arch=arch))[line]
    assert set(widths) <= {"LDS", "LDS.64", "LDS.128"} and widths[wide] >= 8


def test_inlined_code_belongs_to_its_own_line_and_header_code_to_the_caller():
    source = "__device__ float half_of(const float *p) {\n    return p[3] * 0.5f;\n}\n" + \
        body("C[0] = half_of(C + n);\nC[1] = std::min(C[2], C[n]);")
    lines = compiler.sass_by_line(compile_kernel(source, "k"))
    assert any("FMUL" in i for i in lines[2])
    assert any("FSETP" in i or "FMNMX" in i for i in lines[6])
    assert not any("FMUL" in i for i in lines[5])


def test_functions_that_are_not_inlined_belong_to_the_kernel():
    function = "__device__ __noinline__ float slow(float x) {\n    return x * 3.5f + 1.25f;\n}\n"
    source = function + body("C[0] = slow(C[1]);")
    lines = compiler.sass_by_line(compile_kernel(source, "k"))
    assert any("FFMA" in i for i in lines[2]) and any("CALL" in i for i in lines[5])


@pytest.mark.parametrize("instruction, opcode", [
    ("LDS.128 R12, [UR4+0x10]", "LDS.128"), ("@!P0 BRA `(.L_x_1)", "BRA"), ("@UP1 UMOV UR4, 0x400", "UMOV"),
    ("EXIT", "EXIT")])
def test_opcode(instruction, opcode):
    assert sass.opcode(instruction) == opcode


def test_without_nvdisasm_everything_else_works(monkeypatch):
    monkeypatch.setattr(sass, "package_folders", list)
    monkeypatch.setattr(sass.shutil, "which", lambda name: None)
    monkeypatch.setattr(sass, "disassembler", sass.disassembler.__wrapped__)
    compiled = compile_kernel(body("C[0] = 0.125f;"), "k")
    assert compiled.registers > 0
    with pytest.raises(RuntimeError, match="pip install nvidia-cuda-nvdisasm"):
        print(compiled.sass)


# Diagnostics

@given(before=st.text(st.sampled_from("é×⌈😀 ab\t*"), max_size=12), lines=st.integers(0, 30),
       indent=st.sampled_from(["", "  ", "\t"]))
@settings(max_examples=15, deadline=None)
def test_an_error_is_placed_at_its_line_and_column(before, lines, indent):
    statement = f"{indent}/* {before} */ C[0] = missing;"
    error = error_of("\n" * lines + body(statement))
    diagnostic, = error.diagnostics
    assert (diagnostic.line, diagnostic.column) == (lines + 2, statement.index("missing") + 1)
    assert diagnostic.message == 'identifier "missing" is undefined' and diagnostic.severity == "error"


def test_the_message_shows_the_line_with_a_caret_and_keeps_the_compilers_words():
    error = error_of(body("    int i = threadIdx.x;\n\tC[i] = oops + 1;"))
    assert str(error) == ('the kernel does not compile: 1 error\n\n'
                          'line 3, column 9: error: identifier "oops" is undefined\n'
                          '    3 | \tC[i] = oops + 1;\n'
                          '      | \t       ^')
    assert 'kernel.cu(3): error: identifier "oops" is undefined' in error.log


def test_errors_come_first_and_long_lists_are_cut():
    error = error_of(body("int unused;\n" + "\n".join(f"C[{i}] = a{i};" for i in range(30))))
    assert len(error.diagnostics) == 31 and str(error).count("error: ") == 10
    assert str(error).endswith("... and 20 more") and "30 errors" in str(error)


def test_compile_errors_survive_pickling():
    error = error_of(body("C[0] = oops;"))
    assert str(pickle.loads(pickle.dumps(error))) == str(error)


@pytest.mark.parametrize("source, line, words", [
    (body("C[0] = ;"), 2, "expected an expression"),
    (body("int i = threadIdx.x\nC[i] = 1;"), 3, 'expected a ";"'),
    (body("#define LOAD(i) C[i] = zz\n\nLOAD(3);"), 4, '"zz" is undefined'),
    (body("C[0] = \\\n  zz;"), 3, '"zz" is undefined'),
    ("// a comment \\\n that goes on\n" + body("C[0] = zz;"), 4, '"zz" is undefined'),
    (body("C[0] = zz;").replace("\n", "\r\n"), 2, '"zz" is undefined'),
    ("\f\n\v\n" + body("C[0] = zz;"), 4, '"zz" is undefined'),
    ("__global__ void k(const float *C) {\n C[0] = 1;\n}", 2, "modifiable lvalue"),
    (K + "#error not today\n", 2, "not today"),
    ("\n#include <cuda_fp16.h>\n" + K, 2, "cuda_fp16.h"),
    ("#include \"mine.cuh\"\n" + K, 1, "there is no such header here"),
    (K + "__global__ void open() {\n  if (true) {\n", 3, 'expected a "}"'),
])
def test_lines_of_errors(source, line, words):
    diagnostic = error_of(source).diagnostics[0]
    assert diagnostic.line == line and words in diagnostic.message


def test_a_missing_brace_names_the_line_of_its_partner():
    assert "(line 1)" in str(error_of("__global__ void k(float *C) {\n  C[0] = 1;\n"))


def test_a_failed_static_assert_gives_its_sentence():
    error = pytest.raises(CompileError, compile_ptx, TILED, "shared_tiling<64, 0>").value
    assert error.diagnostics[0].line == line_with(TILED, "static_assert")
    assert "a block has at most 1024 threads" in str(error)


def test_an_error_inside_a_header_is_placed_where_the_header_was_used():
    error = error_of("struct S { const int x; };\n" + body("S s{1}, t{2};\nstd::swap(s, t);"))
    assert {d.line for d in error.diagnostics} == {4}
    error = error_of(body("C[0] = std::min(n, 2u);"))
    assert (error.diagnostics[0].line, error.diagnostics[0].column) == (2, 8)
    assert "(int, unsigned int)" in str(error) and "prelude" not in str(error)


def test_an_error_of_the_assembler_is_traced_to_the_source_line():
    source = body('C[0] = 1;\nfloat x = C[n];\nasm volatile("nonsense.f32 %0;" : "+f"(x));\nC[1] = x;')
    assert compile_ptx(source, "k").diagnostics == ()       # PTX is not assembled
    with pytest.raises(CompileError, match="nonsense") as caught:
        compile_kernel(source, "k")
    assert {d.line for d in caught.value.diagnostics} == {4}


def test_too_much_shared_memory_is_a_compile_error():
    source = body("__shared__ float s[20000]; s[threadIdx.x] = C[0]; __syncthreads(); C[1] = s[n];")
    with pytest.raises(CompileError, match="too much shared data"):
        compile_kernel(source, "k")


def test_warnings_are_kept():
    source = body("int unused;\nfloat x;\nC[0] = x;\nif (n = 3) C[n] = 0;")
    for result in (compile_ptx(source, "k"), compile_kernel(source, "k")):
        assert [(d.line, d.severity) for d in result.diagnostics] == [(2, "warning"), (4, "warning"), (5, "warning")]
        assert 'variable "x" is used before its value is set' in result.log
    spilling = "__global__ __launch_bounds__(1024, 16) void k(float *C) { C[threadIdx.x] = 1; }"
    assert "out of range" in compile_kernel(spilling, "k").diagnostics[0].message       # a warning of the assembler


# Entries and bad input

def test_entries_skip_comments_strings_and_macros():
    source = r'''
    // __global__ void no1() {}
    /* __global__ void no2() {} */
    #define KERNEL(name) __global__ void name(float *C)
    const char *text = "__global__ void no3() {"; const char brace = '{';
    namespace ns { template <const int BM, int TM = (3), typename T = float>
    __global__ void __launch_bounds__((BM * 4) / (TM * (2 + TM)), 1)
        yes1(int M) { if (M) { } } }
    extern "C" { __global__ void yes2(int *p); __global__ void yes2(int *p) { } }
    static __global__ __launch_bounds__(256) void yes3(int q = sizeof(int)) { const char *t = R"x({{)x"; }
    void __global__ yes4() { }'''
    assert entries(source) == ("yes1", "yes2", "yes3", "yes4")
    assert entries("") == entries("int main() { }") == ()


@given(st.text(st.sampled_from('/*"\'\\\n#R() {}ab'), max_size=60))
def test_blanking_moves_nothing(text):
    code = scan.code_only(text)
    assert [len(line) for line in code.split("\n")] == [len(line) for line in text.split("\n")]
    assert all(a == b or a == " " for a, b in zip(code, text, strict=True))


def test_an_unknown_entry_lists_those_that_exist():
    with pytest.raises(ValueError, match="'kk'.*has k, t$"):
        compile_ptx(K + "template <int T> __global__ void t(float *C) { C[0] = T; }", "kk")


@pytest.mark.parametrize("entry", ["t", "t<3>", "t<3, 4, 5>", "t<float, 1>", "t<NONE, 1>"])
def test_wrong_template_arguments_name_the_parameters(entry):
    source = "template <int ROWS, bool FLIP> __global__ void t(float *C) { C[0] = ROWS + FLIP; }"
    with pytest.raises(ValueError, match="template <int ROWS, bool FLIP>"):
        compile_ptx(source, entry)


@pytest.mark.parametrize("source, entry, words", [
    (K + "__global__ void k(int *C) { C[0] = 1; }", "k", "overloaded"),
    (K, "k<3>", 'k is no template in this source: name it "k"'),
    (K + "__device__ void f() { }", "f", "has k"), ("__global__ void k(float *C);", "k", "body is missing"),
    (K, "", "must name a kernel"), (K, "k; int x", "must name a kernel"),
    (K, "k\nfoo", "must name a kernel"), (K, "k\0", "must name a kernel")])
def test_entries_that_name_no_kernel(source, entry, words):
    with pytest.raises(ValueError, match=words):
        compile_ptx(source, entry)


@pytest.mark.parametrize("source, words", [("", "the source is empty"), (" \n\t", "the source is empty"),
                                           (K + "\0", "NUL"), ("__device__ void f() { }", "no kernel")])
def test_sources_without_a_kernel(source, words):
    error = error_of(source)
    assert words in str(error) and error.diagnostics[0].line is None


@pytest.mark.parametrize("source, entry", [(None, "k"), (K.encode(), "k"), (Path("a.cu"), "k"), (K, 3)])
def test_text_must_be_text(source, entry):
    with pytest.raises(TypeError, match="must be a str"):
        compile_ptx(source, entry)


def test_odd_characters_in_a_source():
    assert compile_ptx("\ufeff// é \ud800\n" + K, "k").entry == "_Z1kPfi"       # byte-order mark, lone surrogate
    assert error_of("\ufeff" + body("C[0] = zz;")).diagnostics[0].line == 2


def test_without_nvrtc_one_message_says_what_to_install(monkeypatch):
    monkeypatch.setattr(nvrtc, "package_folders", list)
    monkeypatch.setattr(nvrtc, "_SYSTEM_NAMES", ["libnvrtc-of-nowhere.so"])
    with pytest.raises(NoCompiler, match="pip install nvidia-cuda-nvrtc"):
        nvrtc.library.__wrapped__()
    monkeypatch.setattr(nvrtc.sys, "platform", "darwin")
    with pytest.raises(NoCompiler, match="no macOS build"):
        nvrtc.library.__wrapped__()


# Headers

@pytest.mark.parametrize("first", "abcdefghijklmnopqrstuvwxyz")
def test_every_header_can_be_included_alone(first):
    for name in (name for name in ALL_HEADERS if name.startswith(first)):
        for include in (f"#include <{name}>", f'#include "{name}"'):
            assert compile_ptx(f"{include}\n{K}", "k").log == "", name


def test_all_headers_together_twice_move_no_line():
    source = "".join(f"#include <{name}>\n" for name in ALL_HEADERS * 2) + body("C[0] = n;\nC[1] = zz;")
    assert compile_ptx(source.replace("zz", "2"), "k").log == ""
    diagnostic, = error_of(source).diagnostics
    assert (diagnostic.line, diagnostic.column) == (len(ALL_HEADERS) * 2 + 3, 8)


@pytest.mark.parametrize("name", """cuda_runtime.h cuda.h cuda_runtime_api.h device_launch_parameters.h cstdio stdio.h
    cmath math.h cstdint stdint.h cstdlib stdlib.h cstddef stddef.h cassert assert.h algorithm iostream limits float.h
    cfloat cuda_pipeline.h cuda_pipeline_primitives.h cooperative_groups.h""".split())
def test_the_usual_headers_are_there(name):
    assert name in ALL_HEADERS


FLOAT, DOUBLE, INT = np.finfo(np.float32), np.finfo(np.float64), np.iinfo


@pytest.mark.parametrize("condition", [
    f"FLT_MAX == {FLOAT.max!s}f && FLT_MIN == {FLOAT.tiny!s}f && FLT_EPSILON == {FLOAT.eps!s}f",
    f"DBL_MAX == {DOUBLE.max!s} && DBL_MIN == {DOUBLE.tiny!s} && DBL_EPSILON == {DOUBLE.eps!s}",
    f"INT_MAX == {INT('i4').max} && UINT32_MAX == {INT('u4').max}u && INT64_MAX == {INT('i8').max} && CHAR_BIT == 8",
    f"UINT64_MAX == {INT('u8').max}ull && INT64_MIN + 1 == -{INT('i8').max} && SIZE_MAX == UINT64_MAX",
    "sizeof(uint8_t) == 1 && sizeof(int16_t) == 2 && sizeof(uint32_t) == 4 && sizeof(int64_t) == 8",
    "uint8_t(-1) > 0 && int8_t(-1) < 0 && uint(-1) > 0 && ushort(-1) > 0 && uint64_t(-1) > 0 && sizeof(size_t) == 8",
    "std::min(3, 2) == 2 && std::max(3, 2) == 3 && std::clamp(9, 1, 5) == 5 && std::clamp(0, 1, 5) == 1",
    "std::numeric_limits<float>::max() == FLT_MAX && std::numeric_limits<float>::lowest() == -FLT_MAX",
    "std::numeric_limits<float>::infinity() > FLT_MAX && std::numeric_limits<int>::min() == INT_MIN",
    "INFINITY > FLT_MAX && -INFINITY < 0 && !(NAN == NAN) && M_PI > 3.1415926 && M_PI < 3.1415927",
    "std::is_same_v<std::conditional_t<true, int, float>, int> && !std::is_same<int, float>::value",
    "std::is_same_v<uint32_t, unsigned> && std::is_same_v<std::size_t, size_t> && std::is_same_v<std::int8_t, int8_t>",
])
def test_names_have_the_values_of_the_standard(condition):
    source = f"#include <cfloat>\n#include <limits>\n#include <type_traits>\nstatic_assert({condition});\n{K}"
    assert compile_ptx(source, "k").log == ""


@pytest.mark.parametrize("statement", [
    "C[0] = std::sqrt(C[1]) + std::abs(C[2]) + std::fma(C[1], C[2], C[3]) + std::pow(C[4], 2.0f) + std::fmaxf(C[1], 2);"
    "C[1] = std::floor(C[2]) + expf(C[3]) + rsqrtf(C[4]) + fminf(C[5], 0);",
    "float a = C[0], b = C[1]; std::swap(a, b); C[0] = a; C[1] = b;",
    "using namespace std; int m = min(n, 3), o = max(2u, 3u); float a = 1, b = 2; swap(a, b); C[m] = a + o;",
    "assert(n > 0); printf(\"%d\\n\", n); std::printf(\"%f\\n\", C[0]);",
    "if (std::isnan(C[0]) || isinf(C[1])) C[0] = NAN;",
    "size_t i = n; std::uint32_t j = i; int64_t l = j; C[l] = 1;\n"
    "float4 v = reinterpret_cast<float4 *>(C)[i]; C[0] = v.w;",
    "cudaError_t e = cudaSuccess; dim3 g(2, 3); C[0] = e + g.y;",
    "#pragma once\n#pragma unroll 4\nfor (int i = 0; i < n; ++i) C[i] = 0;",
])
def test_what_students_write(statement):
    assert compile_ptx("#include <cuda_runtime.h>\n" + body(statement), "k").diagnostics == ()


def test_names_of_the_prelude_may_be_defined_again():
    source = "typedef unsigned int uint;\nusing uint32_t = unsigned int;\n#define M_PI 3.14159265358979323846\n" \
             "#define min(a, b) ((a) < (b) ? (a) : (b))\n#include <limits>\n" + body("uint x = n; C[min(x, 3u)] = x;")
    assert compile_ptx(source, "k").log == ""


PIPELINE = "#include <cuda_pipeline.h>\n" + body("""__shared__ float4 s[64];
    __pipeline_memcpy_async(&s[threadIdx.x], reinterpret_cast<float4 *>(C) + threadIdx.x, sizeof(float4));
    __pipeline_memcpy_async(&s[threadIdx.x].x, C, 4, 2);
    __pipeline_memcpy_async(&s[threadIdx.x].y, C, 4);
    __pipeline_commit();
    __pipeline_wait_prior(1);
    __pipeline_wait_prior(0);
    __syncthreads();
    C[0] = s[3].x;""")


def test_asynchronous_copies_become_cp_async():
    """The instructions of the PTX ISA: `cg` is for 16 bytes only; the fourth operand is the number of bytes read."""
    text = compile_ptx(PIPELINE, "k").text
    found = re.findall(r"^\s*(cp\.async[\w.]*)(.*);", text, re.MULTILINE)
    assert [(name, len(operands.split(","))) for name, operands in found] == [
        ("cp.async.cg.shared.global", 3), ("cp.async.ca.shared.global", 4), ("cp.async.ca.shared.global", 3),
        ("cp.async.commit_group", 1), ("cp.async.wait_group", 1), ("cp.async.wait_group", 1)]
    assert "cp.async.wait_group 1;" in text and "trap" not in text
    assert "LDGSTS" in compile_kernel(PIPELINE, "k", arch="sm_80").sass
    assert "LDGSTS" not in compile_kernel(PIPELINE, "k", arch="sm_75").sass


def test_cooperative_groups_become_barriers_and_shuffles():
    includes = "#include <cooperative_groups.h>\n#include <cooperative_groups/reduce.h>\n"
    source = includes + "namespace cg = cooperative_groups;\n" + body(
        """auto block = cg::this_thread_block();
        cg::thread_block_tile<32> warp = cg::tiled_partition<32>(block);
        auto eight = cg::tiled_partition<8>(warp);
        block.sync();
        float x = cg::reduce(warp, C[block.thread_rank()], cg::plus<float>()) + eight.shfl_down(C[1], 2);
        if (warp.thread_rank() == 0) C[warp.meta_group_rank()] = x + eight.ballot(x > 0) + eight.size();""")
    ptx = compile_ptx(source, "k")
    assert ptx.log == "" and len(re.findall("bar.sync", ptx.text)) == 1
    assert len(re.findall("shfl.sync.bfly", ptx.text)) == 5 and len(re.findall("shfl.sync.down", ptx.text)) == 1


# Host code in the same file

PROGRAM = '''#include <cstdio>
#include <vector>
#include <cublas_v2.h>
#define CHECK(call) do { cudaError_t e = (call); if (e) { printf("%s", cudaGetErrorString(e)); exit(1); } } while (0)
using namespace std;
const int N = 1024;
float *d_A, *d_B;
constexpr int twice(int n) { return n * 2; }
inline int ceil_div(int a, int b) { return (a + b - 1) / b; }
struct Timer { cudaEvent_t start; Timer() { cudaEventCreate(&start); } float stop() { return 0; } };
__device__ inline float square(float x) { return x * x; }
template <const int T> __global__ void mm(float *C) {
    __shared__ float s[twice(T)]; s[threadIdx.x] = C[threadIdx.x]; __syncthreads();
    C[threadIdx.x] = square(s[T]) + EXTRA;
}
void launch(cublasHandle_t handle, const std::vector<float> &v) {  // {
#define LATER 3
    Timer timer; mm<16><<<dim3(ceil_div(N, 32)), 32>>>(d_A);
}
int main(int argc, char **argv) {
    CHECK(cudaMalloc(&d_A, N * 4)); std::vector<float> h(N); launch(0, h); cudaDeviceSynchronize();
    printf("}");
    return 0;
}
__global__ void after(float *C) { C[0] = LATER; }
'''


def test_a_whole_program_compiles_as_its_device_code():
    device_lines = (6, 8, 11, 12, 13, 14, 15, 17, 25)
    lines = [line if n in device_lines else "" for n, line in enumerate(PROGRAM.split("\n"), 1)]
    device_only = "\n".join(lines).replace("constexpr int", "__device__ constexpr int")
    for entry in ("mm<16>", "after"):
        whole = compile_ptx(PROGRAM.replace("EXTRA", "1"), entry)
        assert whole.text == compile_ptx(device_only.replace("EXTRA", "1"), entry).text
        assert whole.diagnostics == ()


@pytest.mark.parametrize("extra, line", [("ceil_div(3, 4)", 9), ("d_A[0]", 7), ("Timer().stop()", 10), ("oops", None)])
def test_host_code_used_in_a_kernel_is_named(extra, line):
    error = error_of(PROGRAM.replace("EXTRA", extra), "mm<16>")
    diagnostic, = error.diagnostics
    assert (diagnostic.line, diagnostic.column) == (14, 37)
    assert (f"host code (line {line})" in str(error)) == (line is not None)


HOST_FORMS = r"""
auto main() -> int { return 0; }
---
int main()
{
    printf("} {"); /* } */
}
---
__host__ void f() { undefined(); }
---
__host__ constexpr int f() { return 3; }
---
template <typename F> float time_it(F f, int n = 3) { f(); return n; }
---
std::ostream &operator<<(std::ostream &out, const dim3 &d) { return out << d.x; }
---
using std::vector;
int main() { }
---
void launch(float *, int);
---
extern "C" { void launch(float *); int main() { launch(0); } }
---
struct Context { std::vector<float> v; };
Context make() { return Context(); }
---
std::mt19937 rng(42);
void f() { }
---
class T {
public:
    T() { }
    ~T() { cudaFree(p); }
private:
    float *p;
};
int main() { T t; }
---
#define BENCH(name) void bench_##name()
BENCH(k) { int *p = new int[3]; }
---
namespace host { void run() { } float *p; }
---
template <typename T> struct Buffer { T *p; Buffer(size_t n) { cudaMalloc(&p, n); } T *get() const { return p; } };
int main() { Buffer<float> b(3); k<<<1, 32>>>(b.get(), 1); }
---
float h[] = {1, 2, 3}, g{2};
int main() { return h[0]; }
---
#ifdef __CUDACC__
int main() { return 0; }
#else
int main() { return 1; }
#endif
""".split("---\n")


@pytest.mark.parametrize("host", HOST_FORMS)
def test_host_code_of_every_form_is_left_out(host):
    before = compile_ptx("\n" * (host.count("\n") + 1) + K, "k")
    after = compile_ptx(f"{host}\n{K}", "k")
    assert after.text == before.text and after.diagnostics == ()


@pytest.mark.parametrize("source, words", [
    ("#define DEV __device__ inline\nDEV float f(float x) { return x + zz; }\nint main() { }\n", '"zz" is undefined'),
    ("typedef struct { foo_t x; } Matrix;\nint main() { Matrix m; }\n__device__ int f(Matrix m) { return 0; }\n",
     "Matrix (line 1) was left out because of an error on line 1"),
    ("int main() { }  constexpr int f(int x) { return x + zz; }\n", '"zz" is undefined'),
    ("int main() { float x = 3;\n", 'expected a "}"'),
    ("/* é */ int main() { } __device__ int f() { return zz; }", "line 1, column 52"),
])
def test_true_errors_are_found_beside_host_code(source, words):
    assert words in str(error_of(source + K))


def test_host_code_that_cannot_be_left_out_is_named():
    diagnostic, = error_of("\nstruct S { float v; S() { } __device__ float get() { return v; } };\n" + K).diagnostics
    assert diagnostic.line == 2 and "this is host code" in diagnostic.message


# --- nothing is read from disk


@pytest.mark.parametrize("include", [
    '#include "{}"', "#include <{}>", '  #  include "{}" // words', '#define F "{}"\n#include F',
    "#define S(x) #x\n#include S({})", '#include \\\n"{}"'])
def test_a_file_of_the_machine_is_never_opened(include, tmp_path):
    path = tmp_path / "secret.h"
    path.write_text("__device__ float secret() { return 1.0f; }\n")
    source = include.format(path.as_posix()) + "\n__global__ void k(float *a) { a[0] = secret(); }"
    with pytest.raises(CompileError) as caught:
        compile_ptx(source, "k")
    text = str(caught.value)
    assert f"{path.as_posix()} is a file of this machine and cannot be included" in text
    assert "gemm_lab's header" not in text and "return 1.0f" not in text and "copy what you need" in text


def test_a_file_beside_the_kernel_is_not_opened_either(tmp_path, monkeypatch):
    (tmp_path / "near.h").write_text("__device__ float near() { return 1.0f; }\n")
    monkeypatch.chdir(tmp_path)
    for name in ("near.h", "./near.h", f"../{tmp_path.name}/near.h"):
        with pytest.raises(CompileError, match="could not open source file"):
            compile_ptx(f'#include "{name}"\n__global__ void k(float *a) {{ a[0] = near(); }}', "k")


def test_a_path_that_is_not_included_does_no_harm():
    source = '// see </usr/include/x.h>, /etc/passwd\n__global__ void k(float *a) { printf("/tmp/x"); a[0] = 6/2/3; }'
    assert compile_ptx(source, "k").diagnostics == ()


# --- long lines, and a template that is none


@pytest.mark.parametrize("line", ["x+1;" * 25_000, " " * 60_000 + "x+1;", "q" * 100_000 + "+1;",
                                  "x+1;" + " " * 100_000])
def test_the_message_about_a_long_line_is_short_and_shows_the_place(line):
    with pytest.raises(CompileError) as caught:
        compile_ptx("__global__ void k(float *a) {" + line + "}", "k")
    text = str(caught.value)
    assert len(text) < 20_000 and max(map(len, text.splitlines())) < 600
    shown, *caret = text.splitlines()[3:5]
    if len(line) < 2**16:           # beyond, the compiler's columns overflow
        assert shown[caret[0].index("^")] == "x"
    else:
        assert caret in ([], [""]) and shown.endswith("...")


def test_a_template_that_became_a_function_is_named_without_arguments():
    kernel = gl.SharedTiling(16).with_source("__global__ void shared_tiling(int a) {}")
    with pytest.raises(ValueError, match='shared_tiling is no template in this source: name it "shared_tiling"$'):
        kernel.compile()
