"""Draws Vega-Lite as SVG and SVG as PNG with vl-convert, in a process of its own.

vl-convert holds the lock of Python while it draws, and some texts end its process. Beside this one
it stops no page, and takes no run with it. This file is that process too, and so it imports nothing
else of Inkblot.
"""

from __future__ import annotations

import atexit
import os
import pickle
import re
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Protocol
from xml.sax.saxutils import escape

_FONT_SETTINGS = (
    "/etc/fonts/fonts.conf",
    "/etc/fonts/local.conf",
    "~/.config/fontconfig/fonts.conf",
)
_FONT_FOLDERS = ("/usr/share/fonts", "/usr/local/share/fonts", "~/.fonts", "~/.local/share/fonts")
_LETTERS, _FAMILY = "LiberationSans-", "Liberation"
"""How files begin: those of the font that vl-convert brings itself, and those of its family."""


class DrawingFault(ValueError):
    """A picture that could not be drawn, with the reason."""


class Drawing(Protocol):
    """What draws pictures."""

    def svg(self, spec: str) -> bytes:
        """Vega-Lite as SVG, without loading anything."""

    def png(self, svg: bytes, scale: float) -> bytes:
        """An SVG as PNG with `scale` times the pixels."""

    def script(self) -> bytes:
        """What draws Vega-Lite in a browser, as JavaScript that loads nothing."""


class _DrawingHere:
    """Draws in this process, which is the one beside."""

    def svg(self, spec: str) -> bytes:
        """Vega-Lite as SVG, without loading anything."""
        import vl_convert  # starts a JavaScript engine

        return str(vl_convert.vegalite_to_svg(spec, allowed_base_urls=[])).encode("utf-8")

    def png(self, svg: bytes, scale: float) -> bytes:
        """An SVG as PNG with `scale` times the pixels."""
        import vl_convert

        return bytes(vl_convert.svg_to_png(svg.decode("utf-8"), scale=scale))

    def script(self) -> bytes:
        """What draws Vega-Lite in a browser, as JavaScript that loads nothing."""
        import vl_convert

        snippet = "window.vegaEmbed = vegaEmbed;"
        return str(vl_convert.javascript_bundle(snippet)).encode("utf-8")


class _DrawingBeside:
    """Draws in another process, which is started with the first picture."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._process: subprocess.Popen[bytes] | None = None
        self._guard = threading.Lock()
        self._ended = False

    def svg(self, spec: str) -> bytes:
        """Vega-Lite as SVG, without loading anything."""
        return self._drawn("svg", spec)

    def png(self, svg: bytes, scale: float) -> bytes:
        """An SVG as PNG with `scale` times the pixels."""
        return self._drawn("png", svg, scale)

    def script(self) -> bytes:
        """What draws Vega-Lite in a browser, as JavaScript that loads nothing."""
        return self._drawn("script")

    def _drawn(self, kind: str, *what: Any) -> bytes:
        process = self._running()
        to_process, from_process = process.stdin, process.stdout
        if to_process is None or from_process is None:
            raise RuntimeError("the drawing process has no input or output")
        try:
            pickle.dump((kind, what), to_process)
            to_process.flush()
            picture, fault = pickle.load(from_process)
        except (EOFError, OSError, pickle.UnpicklingError) as error:
            process.kill()
            process.communicate()
            with self._guard:
                self._process = None  # the next picture starts another
            raise DrawingFault("the process that draws has ended") from error
        if fault:
            raise DrawingFault(fault)
        return bytes(picture)

    def _running(self) -> subprocess.Popen[bytes]:
        with self._guard:  # one that ends meanwhile waits for the start, and ends what it started
            if self._ended:
                raise RuntimeError("the drawing has ended")
            self._process = self._process or subprocess.Popen(
                [sys.executable, __file__],
                env=_environment(self._folder),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
            )
            return self._process

    def end(self) -> None:
        """End the process, also one that another thread is just starting."""
        with self._guard:
            self._ended = True
        if self._process is not None:
            self._process.kill()
            self._process.communicate()


@contextmanager
def drawing_process() -> Iterator[Drawing]:
    """Draws in a process of its own, which ends with the context; of one thread at a time."""
    with tempfile.TemporaryDirectory() as folder:
        beside = _DrawingBeside(Path(folder))
        try:
            yield beside
        finally:
            beside.end()


class SharedDrawing:
    """Draws in one process for all threads of this one, a picture at a time; ends with this one."""

    def __init__(self) -> None:
        self._turn = threading.Lock()
        self._drawing: Drawing | None = None

    def svg(self, spec: str) -> bytes:
        """Vega-Lite as SVG, without loading anything."""
        with self._turn:
            return self._begun().svg(spec)

    def png(self, svg: bytes, scale: float) -> bytes:
        """An SVG as PNG with `scale` times the pixels."""
        with self._turn:
            return self._begun().png(svg, scale)

    def script(self) -> bytes:
        """What draws Vega-Lite in a browser, as JavaScript that loads nothing."""
        with self._turn:
            return self._begun().script()

    def _begun(self) -> Drawing:
        if self._drawing is None:
            process = drawing_process()
            self._drawing = process.__enter__()
            atexit.register(process.__exit__, None, None, None)
        return self._drawing


def _environment(folder: Path) -> dict[str, str]:
    """The environment of the process, in which Liberation Sans is that of vl-convert.

    vl-convert opens the file of a system font anew for every letter. The same font of its own is in
    memory, with which pictures take a third of the time. Other fonts, such as those with Chinese
    letters, stay in use.
    """
    environment = dict(os.environ)
    if sys.platform != "linux" or "FONTCONFIG_FILE" in environment:
        return environment
    folders = [part for root in _font_folders() for part in folders_without_liberation(root)]
    if folders:  # with none, vl-convert looks into all again
        lines = "".join(f"<dir>{escape(str(font_folder))}</dir>" for font_folder in folders)
        settings = folder / "fonts.conf"
        text = f'<?xml version="1.0"?><fontconfig>{lines}</fontconfig>'
        settings.write_text(text, encoding="utf-8")
        environment["FONTCONFIG_FILE"] = str(settings)
    return environment


def _font_folders() -> list[Path]:
    """The folders of fonts of this computer."""
    named: list[str] = [*_FONT_FOLDERS]
    for name in _FONT_SETTINGS:
        try:
            text = Path(name).expanduser().read_text(encoding="utf-8", errors="replace")
        except OSError:
            continue
        named += re.findall(r"<dir>\s*([/~][^<]*?)\s*</dir>", text)
    return [
        path
        for name_of_folder in dict.fromkeys(named)
        if (path := Path(name_of_folder).expanduser()).is_dir()
    ]


def folders_without_liberation(folder: Path) -> list[Path]:
    """The folder, or those within it that together hold all its fonts but Liberation ones."""
    try:
        inner = sorted(folder.iterdir())
    except OSError:
        return [folder]
    fonts = [path.name for path in inner if path.suffix.lower() in (".ttf", ".otf", ".ttc", ".otc")]
    if any(name.startswith(_LETTERS) for name in fonts):
        return [] if all(name.startswith(_FAMILY) for name in fonts) else [folder]
    folders = [path for path in inner if path.is_dir()]
    parts = [
        part
        for path in folders
        for part in ([path] if path.is_symlink() else folders_without_liberation(path))
    ]
    return [folder] if fonts or parts == folders else parts


def main() -> None:
    """Draw what comes until the input ends."""
    orders, pictures = sys.stdin.buffer, sys.stdout.buffer
    here = _DrawingHere()
    while True:
        try:
            kind, what = pickle.load(orders)
        except EOFError:
            return
        try:
            done: tuple[bytes, str] = (getattr(here, kind)(*what), "")
        except ValueError as error:
            done = (b"", str(error))
        pickle.dump(done, pictures)
        pictures.flush()


if __name__ == "__main__":
    main()
