"""The headers that a kernel may include. NVRTC ships none; these few hold what kernels use of them.

`include/prelude.h` is read before the first line of every kernel: it declares what nvcc offers without any include, and
what most standard headers are included for. Those headers are then empty. So are headers that only host code needs.
"""

from __future__ import annotations

import re
from dataclasses import replace
from functools import cache
from pathlib import Path

from gemm_lab.compiler.diagnostics import Diagnostic, is_absolute

FOLDER = Path(__file__).with_name("include")
PRELUDE = "gemm_lab/prelude.h"      # the name under which NVRTC sees include/prelude.h

_SAME_AS = {"cfloat": "float.h", "cuda_pipeline.h": "cuda_pipeline_primitives.h",
            "cooperative_groups/reduce.h": "cooperative_groups.h"}

_IN_PRELUDE = """
    cuda.h cuda_runtime.h cuda_runtime_api.h device_launch_parameters.h device_functions.h device_atomic_functions.h
    vector_types.h vector_functions.h driver_types.h builtin_types.h math_functions.h sm_30_intrinsics.h
    algorithm assert.h cassert cinttypes climits cmath cstddef cstdint cstdio cstdlib cstring ctime inttypes.h limits.h
    math.h memory.h stdbool.h stddef.h stdint.h stdio.h stdlib.h string.h sys/types.h time.h utility
""".split()

_HOST_ONLY = """
    array chrono fstream functional iomanip iostream map memory mutex numeric ostream random sstream stdexcept string
    thread tuple vector sys/time.h unistd.h omp.h
    cublas.h cublas_v2.h cublasLt.h cuda_profiler_api.h curand.h helper_cuda.h helper_functions.h nvToolsExt.h
""".split()


@cache
def headers() -> dict[str, str]:
    """Name in `#include` -> text, for every header that can be included."""
    files = {path.name: path.read_text(encoding="utf-8") for path in sorted(FOLDER.iterdir())}
    same = {name: f"#include <{other}>\n" for name, other in _SAME_AS.items()}
    empty = dict.fromkeys(_IN_PRELUDE + _HOST_ONLY, "")
    return {PRELUDE: files.pop("prelude.h"), **files, **empty, **same}


_REFUSED = "is a file of this machine and cannot be included"


def refused(source: str) -> dict[str, str]:
    """Name -> an error, for each absolute path that a source might include: NVRTC would read that file from disk.

    Paths in other places, such as `fopen("/tmp/x", "r")`, are among them and do no harm: nobody includes these.
    """
    text = re.sub(r"\\\r?\n", "", source)
    names = re.findall(r'["<]([^"<>\n]+)[">]', text) + re.findall(r"(?:/[\w.+~-]+)+", text)    # a macro may add quotes
    return {name: f"#error {name} {_REFUSED}\n" for name in names if is_absolute(name)}


def explain(diagnostic: Diagnostic) -> Diagnostic:
    """Say of a header that is not here what to do about it."""
    if _REFUSED in diagnostic.message:
        diagnostic = replace(diagnostic, message=diagnostic.message.removeprefix("#error directive: "))
    elif not diagnostic.message.startswith("could not open source file"):
        return diagnostic
    hint = "there is no such header here (gemm_lab/compiler/headers.py has the list): copy what you need into the file"
    return replace(diagnostic, message=f"{diagnostic.message}\n      {hint}")
