"""The visualizer in a notebook (anywidget): scenes go to the browser, requests for another scene come back."""

from __future__ import annotations

import anywidget
import traitlets

from gemm_lab.compiler import CompileError
from gemm_lab.widgets.watch import bundle
from gemm_lab.widgets.watch.scene import Scene, play
from gemm_lab.widgets.watch.still import Still

REFUSED = (ValueError, TypeError, OSError, RuntimeError, CompileError)    # what a choice can be refused with


class Visualizer(Still, anywidget.AnyWidget):
    """Plays one execution of a kernel, or several side by side; see `gl.visualize`."""

    _esm = bundle.module()
    _css = bundle.style()
    scenes = traitlets.List(trait=traitlets.Dict()).tag(sync=True)
    live = traitlets.Bool(True).tag(sync=True)

    def __init__(self, scenes: list[Scene]):
        Still.__init__(self, scenes)
        anywidget.AnyWidget.__init__(self, scenes=[scene.payload() for scene in scenes])
        self.on_msg(self._asked)

    def _asked(self, _, request: dict, _buffers) -> None:
        """The viewer wants something else: run it, or say why it is impossible."""
        try:
            scene = play(self.scene.setup.changed(request))
        except REFUSED as problem:
            self.send({"problem": str(problem)})
            return
        self._scenes = [scene]
        self.scenes = [scene.payload()]

    def _repr_mimebundle_(self, **kwargs) -> dict:
        """The widget; as a picture and as text for places without JavaScript."""
        shown = anywidget.AnyWidget._repr_mimebundle_(self, **kwargs)
        data, *metadata = shown if isinstance(shown, tuple) else (shown,)
        data = {**data, "image/svg+xml": self.snapshot().svg, "text/plain": repr(self)}
        return (data, *metadata) if metadata else data
