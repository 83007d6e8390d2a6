"""Sliders over tile parameters (ipywidgets)."""

from __future__ import annotations

import threading
from dataclasses import MISSING, fields

import ipywidgets as ipw

from gemm_lab.widgets.tile_facts import TileTable, later_facts

PAUSE = 0.15    # seconds without a change before the compiler starts: a slider in motion passes many choices

# What each parameter may be set to. Impossible choices are among them: the explanation is the point.
CHOICES: dict[str, tuple] = {
    "TILE": (4, 8, 12, 16, 20, 24, 28, 32, 48, 64), "PAD": (0, 1, 2, 3, 4, 8),
    "BM": (16, 32, 48, 64, 96, 128, 256), "BN": (16, 32, 48, 64, 96, 128, 256), "BK": (4, 8, 16, 32, 64),
    "TM": (1, 2, 4, 8, 16, 32), "TN": (1, 2, 4, 8, 16, 32),
    "block": tuple((x, y, 1) for x, y in ((32, 32), (64, 16), (32, 8), (64, 4), (16, 16), (8, 32), (4, 64), (64, 32)))}


class TileExplorer(ipw.VBox):
    """Controls for a kernel's parameters above a table of what the choice means; see `gl.explore_tiles`."""

    def __init__(self, kernel_class, M: int, N: int, K: int, gpu="H200"):
        from gemm_lab.hardware import find_gpu
        self.kernel_class, self.size, self.gpu = kernel_class, (M, N, K), find_gpu(gpu)
        self.controls = {f.name: control(f.name, _default(f)) for f in fields(kernel_class) if f.init}
        self._output = ipw.HTML()
        self._timer: threading.Timer | None = None
        self._lock = threading.Lock()
        self._table = self._quick = TileTable(f"{kernel_class.__name__} at M = {M}, N = {N}, K = {K}", ())
        controls = ipw.HBox(list(self.controls.values()), layout=ipw.Layout(flex_flow="row wrap"))
        super().__init__([controls, self._output])
        for widget in self.controls.values():
            widget.observe(self._changed, names="value")
        self._changed()

    @property
    def choice(self) -> dict:
        """The selected parameters."""
        return {name: widget.value for name, widget in self.controls.items()}

    @property
    def text(self) -> str:
        """What the table says, as plain text."""
        return self._table.text

    @property
    def html(self) -> str:
        """The table as it is shown."""
        return self._output.value

    def settle(self, seconds: float = 10.0) -> TileExplorer:
        """Wait until the compiler has answered, and return this explorer. TimeoutError after that many seconds."""
        timer = self._timer
        if timer is not None:
            timer.join(seconds)
            if timer.is_alive():
                raise TimeoutError(f"no answer from the compiler within {seconds} s")
        return self

    def __repr__(self) -> str:
        """The choice: the same text on every run, however fast the compiler is."""
        choice = ", ".join(f"{name}={value}" for name, value in self.choice.items())
        M, N, K = self.size
        return f"TileExplorer({self.kernel_class.__name__}({choice}), M={M}, N={N}, K={K}, gpu={self.gpu.name})"

    def _repr_mimebundle_(self, **kwargs) -> dict:
        """The widget, and as text what no compiler is needed for."""
        return super()._repr_mimebundle_(**kwargs) | {"text/plain": f"{self!r}\n{self._quick.text}"}

    def _changed(self, _change=None) -> None:
        """Show what is known at once and ask the compiler for the rest."""
        with self._lock:    # an answer that is being shown is shown first, one that is not is never shown
            if self._timer is not None:
                self._timer.cancel()
            self._timer = None
        try:
            kernel = self.kernel_class(**self.choice)
            quick = self._quick = TileTable.quick(kernel, *self.size, self.gpu)
        except (ValueError, TypeError) as problem:
            choice = ", ".join(f"{name} = {value}" for name, value in self.choice.items())
            self._show(self._table.refused(choice, str(problem)))
            if not self._quick.facts:
                self._quick = self._table
            return
        self._show(quick)
        self._ask(kernel, quick)

    def _ask(self, kernel, quick: TileTable) -> None:
        """Fill in what the compiler says, in the background, unless another choice was made meanwhile."""
        def answer():
            complete = quick.completed(later_facts(kernel, self.gpu))
            with self._lock:
                if self._timer is timer:
                    self._show(complete)
        timer = self._timer = threading.Timer(PAUSE, answer)
        timer.daemon = True
        timer.start()

    def _show(self, table: TileTable) -> None:
        self._table = table
        self._output.value = table._repr_html_()


def _default(field):
    if field.default is MISSING:
        raise ValueError(f"{field.name} has no default; explore_tiles needs a kernel class whose parameters all have "
                         "one")
    return field.default


def control(name: str, value) -> ipw.Widget:
    """A widget for one parameter, usable by keyboard: a checkbox, a list for shapes, a slider for numbers."""
    if isinstance(value, bool):
        return ipw.Checkbox(value=value, description=name, indent=False)
    if name not in CHOICES and not isinstance(value, int):
        raise ValueError(f"{name} = {value!r}; explore_tiles knows parameters that are whole numbers, booleans or "
                         "shapes")
    options = sorted({*CHOICES.get(name, (1, 2, 4, 8, 16, 32, 64, 128)), value}, reverse=isinstance(value, tuple))
    if isinstance(value, tuple):
        return ipw.Dropdown(options=[(f"{x} x {y}", (x, y, z)) for x, y, z in options], value=value, description=name)
    return ipw.SelectionSlider(options=options, value=value, description=name, continuous_update=True)
