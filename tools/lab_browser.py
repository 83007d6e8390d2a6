"""JupyterLab in a real browser: a server on a copy of the lessons, headless Chromium, and one page per lesson.

Used by the browser tests and by `tools.screenshots`.
"""

from __future__ import annotations

import json
import os
import secrets
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from playwright.sync_api import BrowserContext, Page, sync_playwright

SECONDS = 1000  # Playwright counts in milliseconds
CHROMIUM = ("--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
            "--disable-component-update", "--disable-sync")

# JupyterLab says "idle" before the kernel is connected, and "run all" then clears the cells and runs nothing.
CONNECTED = """async milliseconds => {
  const panel = window.jupyterapp.shell.currentWidget
  const connected = async () => {
    await panel.context.ready
    await panel.sessionContext.ready
    await panel.sessionContext.session.kernel.info
  }
  const late = new Promise((_, fail) => setTimeout(() => fail(new Error('no kernel was connected')), milliseconds))
  await Promise.race([connected(), late])
}"""

# For every code cell with a source: its number (null: not run yet), its errors, and whether it is meant to fail.
CELLS = """() => [...window.jupyterapp.shell.currentWidget.content.model.cells]
  .filter(cell => cell.type === 'code' && cell.sharedModel.getSource().trim())
  .map(cell => {
    const outputs = [...Array(cell.outputs.length).keys()].map(n => cell.outputs.get(n).toJSON())
    return { count: cell.executionCount, running: cell.executionState === 'running',
             expected: (cell.getMetadata('tags') || []).includes('raises-exception'),
             errors: outputs.filter(o => o.output_type === 'error').map(o => `${o.ename}: ${o.evalue}`) }
  })"""

# The height of the window on a notebook, and of the notebook down to its last cell.
HEIGHTS = """box => {
  box.scrollTop = 0
  const bottom = [...box.querySelectorAll('.jp-Cell')].at(-1).getBoundingClientRect().bottom
  return [box.clientHeight, Math.ceil(bottom - box.getBoundingClientRect().top)]
}"""


@dataclass
class Lesson:
    """A notebook open in JupyterLab, and what its page complained about."""

    page: Page
    base: str
    complaints: list[str] = field(default_factory=list)   # JavaScript errors, and console messages of level "error"
    outside: list[str] = field(default_factory=list)      # requests to other hosts: the lessons work offline

    def listen(self) -> None:
        def outside(request):
            if not request.url.startswith((self.base, "data:", "blob:")):
                self.outside.append(request.url)
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("console", lambda m: self.complaints.append(m.text) if m.type == "error" else None)
        self.page.on("request", outside)

    def command(self, name: str, **options) -> None:
        """Run one of JupyterLab's commands and wait for it."""
        self.page.evaluate("([name, options]) => window.jupyterapp.commands.execute(name, options)", [name, options])

    def run_all(self, seconds: float = 120) -> None:
        """Run every cell; TimeoutError if that takes too long, RuntimeError if a cell fails that should not."""
        self.page.evaluate("() => { window.jupyterapp.commands.execute('notebook:run-all-cells') }")
        end = time.monotonic() + seconds
        while any(cell["count"] is None or cell["running"] for cell in self.cells()):
            if failed := self.failed():
                raise RuntimeError("; ".join(failed))
            if time.monotonic() > end:
                raise TimeoutError(f"not all cells ran within {seconds} s")
            self.page.wait_for_timeout(100)

    def cells(self) -> list[dict]:
        return self.page.evaluate(CELLS)

    def failed(self) -> list[str]:
        """The errors of cells that are not meant to fail."""
        return [error for cell in self.cells() if not cell["expected"] for error in cell["errors"]]

    def broken_widgets(self) -> list[str]:
        """What is shown in place of widgets that could not be drawn."""
        return self.page.locator(".jp-OutputArea-output:has-text('Error displaying widget')").all_inner_texts()

    def screenshots(self, folder: Path, name: str) -> list[Path]:
        """The whole notebook as PNG files of one window height each: NAME-1.png, NAME-2.png, …"""
        box = self.page.locator(".jp-NotebookPanel:not(.lm-mod-hidden) .jp-WindowedPanel-outer")
        height, total = box.evaluate(HEIGHTS)
        paths = []
        for n in range(-(-total // height)):
            box.evaluate("(box, top) => { box.scrollTop = top }", n * height)
            self.page.wait_for_timeout(300)
            paths.append(folder / f"{name}-{n + 1}.png")
            box.screenshot(path=paths[-1])
        return paths


@dataclass
class Lab:
    """A running JupyterLab and a browser for it."""

    base: str
    token: str
    browser: BrowserContext

    @contextmanager
    def lesson(self, name: str) -> Iterator[Lesson]:
        """Open a notebook of the server's folder and wait for its kernel; both are closed at the end."""
        page = self.browser.new_page()
        lesson = Lesson(page, self.base)
        lesson.listen()
        page.goto(f"{self.base}/lab/tree/{name}?token={self.token}&reset")
        page.wait_for_selector(".jp-Notebook .jp-Cell", timeout=60 * SECONDS)
        page.evaluate(CONNECTED, 60 * SECONDS)
        page.evaluate("() => window.jupyterapp.shell.collapseLeft()")
        try:
            yield lesson
        finally:
            page.evaluate("() => window.jupyterapp.shell.currentWidget.sessionContext.shutdown()")
            page.close()


def write_settings(folder: Path, dark: bool) -> None:
    """No news, no windowing (every cell is in the page, for screenshots), and the theme."""
    settings = {"apputils-extension/notification": {"fetchNews": "false", "checkForUpdates": False},
                "apputils-extension/themes": {"theme": f"JupyterLab {'Dark' if dark else 'Light'}"},
                "notebook-extension/tracker": {"windowingMode": "none"}}
    for name, values in settings.items():
        path = folder / "@jupyterlab" / f"{name}.jupyterlab-settings"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(values))


def free_port() -> int:
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


@contextmanager
def server(notebooks: Path, dark: bool = False, app: str = "jupyterlab") -> Iterator[tuple[str, str]]:
    """JupyterLab on a trusted copy of a folder, as `make lab` starts it, with settings of its own: (address, token).

    app   "jupyterlab", or "notebook" for Notebook 7
    """
    with tempfile.TemporaryDirectory(prefix="gemm-lab-") as name:
        folder = Path(name)
        shutil.copytree(notebooks, folder / "notebooks", ignore=shutil.ignore_patterns(".ipynb_checkpoints"))
        write_settings(folder / "settings", dark)
        env = os.environ | {f"JUPYTER_{what}_DIR": str(folder / what.lower()) for what in ("CONFIG", "DATA", "RUNTIME")}
        env |= {f"JUPYTERLAB_{what}_DIR": str(folder / what.lower()) for what in ("SETTINGS", "WORKSPACES")}
        env["IPYTHONDIR"] = str(folder / "ipython")
        copies = sorted((folder / "notebooks").glob("*.ipynb"))
        trust = Path(sys.executable).with_name("jupyter-trust")
        subprocess.run([trust, *copies], env=env, check=True, capture_output=True, stdin=subprocess.DEVNULL)
        port, token = free_port(), secrets.token_hex(16)
        with open(folder / "log", "w") as log:
            process = subprocess.Popen(
                [sys.executable, "-m", app, "--no-browser", "--allow-root", "--ip=127.0.0.1", f"--port={port}",
                 "--ServerApp.port_retries=0", f"--IdentityProvider.token={token}", "--LabApp.news_url=None",
                 f"--ServerApp.root_dir={folder / 'notebooks'}", "--expose-app-in-browser"],
                env=env, stdout=log, stderr=log)
        try:
            wait_for(f"http://127.0.0.1:{port}/api?token={token}", process, folder / "log")
            yield f"http://127.0.0.1:{port}", token
        finally:
            process.terminate()
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()


def wait_for(url: str, process: subprocess.Popen, log: Path, seconds: float = 60) -> None:
    end = time.monotonic() + seconds
    while time.monotonic() < end and process.poll() is None:
        try:
            urllib.request.urlopen(url, timeout=1).close()
            return
        except OSError:
            time.sleep(0.1)
    raise RuntimeError(f"JupyterLab did not start:\n{log.read_text()}")


@contextmanager
def lab(notebooks: Path, chromium: str, dark: bool = False, size: tuple[int, int] = (1280, 1600)) -> Iterator[Lab]:
    """A server on a copy of `notebooks`, and the browser `chromium` (a path) with a window of `size` pixels."""
    with server(notebooks, dark) as (base, token), sync_playwright() as play:
        with tempfile.TemporaryDirectory(prefix="gemm-lab-browser-") as profile:
            browser = play.chromium.launch_persistent_context(
                profile, executable_path=chromium, headless=True, chromium_sandbox=False, args=list(CHROMIUM),
                viewport={"width": size[0], "height": size[1]}, color_scheme="dark" if dark else "light")
            try:
                yield Lab(base, token, browser)
            finally:
                browser.close()
