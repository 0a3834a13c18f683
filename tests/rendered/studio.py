"""Render tables in a headless Chromium with software WebGL.

three.js comes from npm once, into the folder of `MILLE_RENDER_CACHE` (default: `~/.cache/mille-bornes-render`).
"""

from __future__ import annotations

import base64
import os
import shutil
import subprocess
import tarfile
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self
from urllib.parse import unquote, urlparse

import numpy as np
from playwright.sync_api import Route, sync_playwright

THREE = "0.170.0"
CACHE = Path(os.environ.get("MILLE_RENDER_CACHE") or Path.home() / ".cache" / "mille-bornes-render")
SCENE = Path(__file__).with_name("scene.js")
CHROMIUM = shutil.which("chromium-headless-shell") or shutil.which("chromium")
WEBGL = ("--no-sandbox", "--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader")
PAGE = """<!doctype html><script type="importmap">{"imports": {"three": "/three.module.min.js"}}</script>
<script type="module" src="/scene.js"></script>"""
UNIT = 16384.0  # square root of 1 in the page's answer


class NoRenderer(Exception):
    """The machine lacks what rendering needs; the message is one sentence."""


def three_js() -> Path:
    """Return the file of three.js, fetched if it is not in the cache. Raises NoRenderer."""
    path = CACHE / f"three-{THREE}" / "three.module.min.js"
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory() as name:
            asked = ["npm", "pack", f"three@{THREE}", "--silent", "--pack-destination", name]
            try:
                subprocess.run(asked, check=True, capture_output=True, timeout=120)
            except (OSError, subprocess.SubprocessError) as error:
                raise NoRenderer(f"three.js {THREE} cannot be fetched: `{' '.join(asked[:3])}` failed.") from error
            with tarfile.open(next(Path(name).glob("three-*.tgz"))) as archive:
                member = archive.extractfile("package/build/three.module.min.js")
                part = path.with_suffix(".part")
                part.write_bytes(member.read() if member else b"")
                part.rename(path)
    return path


@dataclass(frozen=True, eq=False)
class Render:
    """Linear light `(H, W, 3) float32 RGB` (may exceed 1), the id at each pixel, and each card's corners in pixels."""

    light: np.ndarray
    ids: np.ndarray  # (H, W) uint16: 0 table, 1 mats, n + 2 the n-th card from 0, 2000 other things
    corners_px: np.ndarray  # (N, 4, 2)


class Studio:
    """A browser page that renders tables one after another. `texture` returns the PNG of a name."""

    def __init__(self, texture: Callable[[str], bytes]) -> None:
        self._texture = texture
        self._files = {"/scene.js": SCENE, "/three.module.min.js": three_js()}

    def __enter__(self) -> Self:
        self._playwright = sync_playwright().start()
        path = CHROMIUM or self._playwright.chromium.executable_path
        if not Path(path).exists():
            self._playwright.stop()
            raise NoRenderer("There is no Chromium: install the system's package `chromium`.")
        self._browser = self._playwright.chromium.launch(executable_path=path, args=list(WEBGL))
        self._page = self._browser.new_page()
        self._page.set_default_timeout(120_000)
        self.complaints: list[str] = []
        self._page.on("console", lambda said: self.complaints.append(said.text))
        self._page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self._page.route("**/*", self._answer)
        self._page.goto("http://table.test/")
        try:
            self._page.wait_for_function("() => !!window.renderTable", timeout=30_000)
        except Exception as error:
            self.__exit__()
            raise NoRenderer(f"Chromium has no WebGL: {'; '.join(self.complaints)}") from error
        return self

    def __exit__(self, *_: object) -> None:
        self._browser.close()
        self._playwright.stop()

    def _answer(self, route: Route) -> None:
        path = unquote(urlparse(route.request.url).path)
        if path.startswith("/texture/"):
            route.fulfill(body=self._texture(path.removeprefix("/texture/")), content_type="image/png")
        elif path in self._files:
            route.fulfill(body=self._files[path].read_bytes(), content_type="text/javascript")
        else:
            route.fulfill(body=PAGE, content_type="text/html")

    def render(self, table: dict[str, Any]) -> Render:
        """Render one table, as `scene.js` describes it."""
        answer = self._page.evaluate("table => renderTable(table)", table)
        width, height = table["camera"]["size"]
        roots = np.frombuffer(base64.b64decode(answer["light"]), np.uint16).reshape(height, width, 3)[::-1]
        ids = np.frombuffer(base64.b64decode(answer["ids"]), np.uint16).reshape(height, width)[::-1]
        light = (roots.astype(np.float32) / UNIT) ** 2
        return Render(light, ids.copy(), np.array(answer["corners"], np.float64).reshape(-1, 4, 2))
