"""A page that plays scenes with no kernel, no network and no other file."""

from __future__ import annotations

import base64
import json
from html import escape
from pathlib import Path

from gemm_lab.widgets.watch import bundle
from gemm_lab.widgets.watch.scene import Scene

PAGE = """<!DOCTYPE html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>{title}</title>
<style>
:root {{ color-scheme: light dark; }}
body {{ margin: 16px auto; max-width: 1000px; background: Canvas; color: CanvasText; }}
{style}
</style>
<div id="here"></div>
<noscript>{title}: this page needs JavaScript.</noscript>
<script type="application/json" id="scenes">{scenes}</script>
<script type="module">
{module}
const bytes = text => Uint8Array.from(atob(text), c => c.charCodeAt(0));
const stored = JSON.parse(document.getElementById("scenes").textContent);
show(document.getElementById("here"), stored.map(({{ meta, data }}) => ({{ meta, data: bytes(data) }})), null);
</script>
</html>
"""


def html(scenes: list[Scene]) -> str:
    """The page as text."""
    payloads = [scene.payload(live=False) for scene in scenes]
    encoded = [{"meta": p["meta"], "data": base64.b64encode(p["data"]).decode()} for p in payloads]
    title = " beside ".join(scene.setup.title for scene in scenes)
    scenes_text = json.dumps(encoded).replace("<", "\\u003c")    # so that no source can end the element it stands in
    return PAGE.format(title=escape(title), style=bundle.style(), module=bundle.module(), scenes=scenes_text)


def write(path: str | Path, scenes: list[Scene]) -> Path:
    """Write the page to `path`, a file name; returns it as a Path."""
    path = Path(path)
    path.write_text(html(scenes), encoding="utf-8")
    return path
