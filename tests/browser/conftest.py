"""A real Chromium and real installations: `up` in a data folder of its own, as people run it."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, sync_playwright

from tests.config.processes import Up

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
# As root there is no sandbox; the rest keeps it from calling home and from looking for a graphics card.
ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


@pytest.fixture(scope="session")
def chromium() -> Iterator[Browser]:
    if CHROMIUM is None:
        sentence = "NOT RUN: no Chromium on this machine (Debian: apt-get install chromium)."
        if os.environ.get("CI") == "true":
            pytest.fail(sentence)
        pytest.skip(sentence)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        yield browser
        browser.close()


@pytest.fixture
def context(chromium: Browser) -> Iterator[BrowserContext]:
    """A browser of one person: cookies of its own, and a clipboard that can be read."""
    context = chromium.new_context(viewport={"width": 1280, "height": 800}, reduced_motion="reduce")
    context.grant_permissions(["clipboard-read", "clipboard-write"])
    context.set_default_timeout(30_000)
    yield context
    context.close()


@pytest.fixture
def page(context: BrowserContext) -> Page:
    return context.new_page()


@pytest.fixture
def start_up(tmp_path: Path) -> Iterator[Callable[..., Up]]:
    """Starts an installation in an empty data folder, ready; all are ended with the test."""
    running: list[Up] = []

    def start(*arguments: str, **environment: str) -> Up:
        folder = tmp_path / f"data {len(running)}"
        folder.mkdir()
        # As root the server runs as another user, who must get through here.
        for part in (folder, *folder.parents):
            if part == Path(tmp_path.anchor) or part.stat().st_uid != os.getuid():
                break
            part.chmod(part.stat().st_mode | 0o055)
        running.append(Up(folder, *arguments, **environment))
        return running[-1].wait_ready()

    yield start
    for up in running:
        up.end()
