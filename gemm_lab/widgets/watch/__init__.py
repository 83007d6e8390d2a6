"""Watch a kernel move its data: the emulator's trace, played in the browser.

`setup` is what is watched, `scene` one execution of it, `widget` the player in a notebook, `page` the same as a file,
`snapshot` one step as a picture. `static/` is the browser's part, joined by `bundle`.
"""

from __future__ import annotations

from gemm_lab.arguments import checked_kernels
from gemm_lab.widgets.watch.scene import play
from gemm_lab.widgets.watch.setup import DEFAULT, Setup

MISSING = "the player needs anywidget (pip install anywidget); without it .snapshot() and .to_html(path) still work"


def visualize(kernel=DEFAULT[0], M: int = 8, N: int = 8, K: int = 8, block=(0, 0), thread=0):
    """Play what one block of a GEMM kernel does, instruction by instruction, as the emulator executed it.

    kernel    any GEMM kernel, also one with a source of your own; default: gl.RegisterTiling1D(8, 4, 4, 4)
    M, N, K   the problem's size, at most 128 each
    block     the block to watch, (x, y);  thread: the thread to follow, its number in the block or (x, y)

    The matrices hold whole numbers from 1 to 9. `.run` is the execution, `.to_html(path)` writes a page that plays
    offline, `.snapshot(step)` draws one step. ValueError for a block or thread that does not exist, a problem that is
    too large to look at, and what the kernel itself refuses.
    """
    return shown([play(Setup.checked(kernel, M, N, K, block, thread))])


def visualize_compare(*kernels, M: int = 8, N: int = 8, K: int = 8):
    """Play two to four kernels side by side on one problem; all have done about the same share of their FMAs.

    kernels   as arguments, or in one list. Of each, block (0, 0) is shown. ValueError as in `visualize`
    """
    if any(isinstance(kernel, int) for kernel in kernels):
        raise ValueError("sizes are given by name: visualize_compare(one, other, M=16, N=16, K=16)")
    chosen = checked_kernels(kernels[0] if len(kernels) == 1 else kernels)
    if not 2 <= len(chosen) <= 4:
        raise ValueError(f"{len(chosen)} kernels were given; two to four can be compared")
    return shown([play(Setup.checked(kernel, M, N, K, (0, 0), 0)) for kernel in chosen])


def shown(scenes: list):
    """The widget; without anywidget a picture."""
    try:
        from gemm_lab.widgets.watch.widget import Visualizer
    except ImportError as error:
        if error.name not in ("anywidget", "traitlets", "ipywidgets"):
            raise
        from gemm_lab.widgets.watch.still import Still
        return Still(scenes, MISSING)
    return Visualizer(scenes)
