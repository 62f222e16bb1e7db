"""Debian's chromium, driven for tests and screenshots of the reports.

A development tool: it needs `playwright` (PyPI) and an installed chromium, and fetches no browser.
"""

from __future__ import annotations

import argparse
import io
import shutil
import tarfile
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

WIDTHS = (1280, 390)
SCHEMES = ("light", "dark")
AXE = "https://registry.npmjs.org/axe-core/-/axe-core-4.10.3.tgz"
_NAMES = ("chromium", "chromium-browser", "google-chrome")
_HEIGHT = 900


def chromium() -> str | None:
    """Where the browser is, or None where there is none."""
    return next((path for name in _NAMES if (path := shutil.which(name))), None)


@contextmanager
def browser(path: str) -> Iterator[Browser]:
    """A running browser without a window."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as driver:
        # Root may not use the sandbox, and a container has little shared memory.
        options = ["--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu"]
        running = driver.chromium.launch(executable_path=path, args=options)
        yield running
        running.close()


@contextmanager
def opened(running: Browser, file: Path, width: int = 1280, **context: Any) -> Iterator[Page]:
    """One file opened from the disk, in a fresh profile."""
    fresh = running.new_context(viewport={"width": width, "height": _HEIGHT}, **context)
    # A busy machine is no fault of the page.
    fresh.set_default_timeout(120_000)
    page = fresh.new_page()
    page.goto(file.resolve().as_uri())
    yield page
    fresh.close()


def screenshots(running: Browser, file: Path, out: Path) -> list[Path]:
    """The page at each width, light and dark: its first screen, and the whole of it."""
    out.mkdir(parents=True, exist_ok=True)
    made = []
    for width in WIDTHS:
        for scheme in SCHEMES:
            with opened(running, file, width, color_scheme=scheme) as page:
                for name, whole in (("first", False), ("whole", True)):
                    made.append(out / f"{file.stem}-{width}-{scheme}-{name}.png")
                    if whole:
                        # Chromium draws nothing beyond 16,384 pixels, and a page of a release
                        # that is captured whole takes minutes.
                        height = page.evaluate("document.documentElement.scrollHeight")
                        page.set_viewport_size({"width": width, "height": min(height, 12_000)})
                    page.screenshot(path=str(made[-1]))
    return made


def axe(cache: Path) -> str | None:
    """The script of axe-core, fetched once into a git-ignored cache; None where that fails."""
    kept = cache / "axe-4.10.3.min.js"
    if not kept.exists():
        try:
            with urllib.request.urlopen(AXE, timeout=30) as answer:
                packed = io.BytesIO(answer.read())
        except OSError:
            return None
        with tarfile.open(fileobj=packed) as archive:
            member = archive.extractfile("package/axe.min.js")
            assert member is not None
            cache.mkdir(parents=True, exist_ok=True)
            kept.write_bytes(member.read())
    return kept.read_text(encoding="utf-8")


def main() -> None:
    """Screenshots of the files given."""
    parser = argparse.ArgumentParser(description="screenshots of HTML reports")
    parser.add_argument("files", nargs="+", type=Path)
    parser.add_argument("--out", type=Path, default=Path("screenshots"))
    parser.add_argument("--picture", type=Path, help="only the first screen of the first file")
    given = parser.parse_args()
    path = chromium()
    if path is None:
        parser.error("there is no chromium here; install it (apt-get install chromium)")
    with browser(path) as running:
        if given.picture is not None:
            with opened(running, given.files[0], color_scheme="light") as page:
                page.screenshot(path=str(given.picture))
            return
        for file in given.files:
            for made in screenshots(running, file, given.out):
                print(made)


if __name__ == "__main__":
    main()
