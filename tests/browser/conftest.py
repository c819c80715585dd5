"""A real Chromium and real installations: `up` in a data folder of its own, as people run it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect

from tests.config.processes import REPOSITORY, Up
from tests.factories import PASSWORD

# What is expected comes at once on a machine that is free; a machine that is not gets time.
expect.set_options(timeout=20_000)


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


@dataclass
class House:
    """One installation that all desk tests share, each in a project of its own, and the browsers in it."""

    up: Up
    chromium: Browser
    keys: dict[str, str]
    looks: dict[str, str]
    # A project full of payloads and its harmless twin (tests/browser/seed_hostile.py).
    hostile: dict[str, Any]
    twin: dict[str, Any]
    signed_in: dict[str, Any] = field(default_factory=dict)
    opened: list[BrowserContext] = field(default_factory=list)
    # What a page asked for elsewhere, and what it complained about: both stay empty.
    strayed: list[str] = field(default_factory=list)
    complaints: list[str] = field(default_factory=list)

    @property
    def home(self) -> str:
        return f"http://localhost:{self.up.port}"

    def sign_in(self, page: Page, name: str) -> None:
        """By the form, as a person does."""
        page.goto(f"{self.home}/sign-in")
        page.get_by_label("Your e-mail").fill(f"{name}@example.com")
        page.get_by_label("Your password").fill(PASSWORD)
        page.get_by_role("button", name="Sign in").click()
        page.wait_for_url(f"{self.home}/")

    def browser_of(
        self, name: str, *, theme: str = "light", width: int = 1280, height: int = 800, **options: Any
    ) -> Page:
        """A page of somebody who is signed in, in a browser of their own. The form is filled once a person."""
        if name not in self.signed_in:
            context = self.chromium.new_context()
            self.sign_in(context.new_page(), name)
            self.signed_in[name] = context.storage_state()
            context.close()
        context = self.chromium.new_context(
            storage_state=self.signed_in[name],
            viewport={"width": width, "height": height},
            reduced_motion="reduce",
            **options,
        )
        self.opened.append(context)
        context.set_default_timeout(30_000)
        context.add_cookies([{"name": "theme", "value": theme, "url": self.home}])
        context.on("request", lambda request: self._look(request.url))
        context.on("console", lambda message: self.complaints.append(message.text) if message.type == "error" else None)
        return context.new_page()

    def _look(self, url: str) -> None:
        if not url.startswith(self.home):
            self.strayed.append(url)

    def manage(self, *words: str) -> str:
        """Runs a command of the product on this installation, as its operator would."""
        return _python(self.up, "manage.py", *words)


def _python(up: Up, *words: str) -> str:
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("COUNTERSIGN_")}
    settings = {"COUNTERSIGN_DATA": str(up.data_dir), "DJANGO_SETTINGS_MODULE": "config.settings"}
    done = subprocess.run(
        [sys.executable, *words], cwd=REPOSITORY, env=inherited | settings, capture_output=True, text=True, timeout=240
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="session")
def house(chromium: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    folder = tmp_path_factory.mktemp("house")
    for part in (folder, *folder.parents):
        if part == Path(folder.anchor) or part.stat().st_uid != os.getuid():
            break
        part.chmod(part.stat().st_mode | 0o055)
    up = Up(folder).wait_ready()
    try:
        yield House(up, chromium, **json.loads(_python(up, "-m", "tests.browser.seed").splitlines()[-1]))
    finally:
        up.end()


@pytest.fixture(autouse=True)
def nothing_strays(request: pytest.FixtureRequest) -> Iterator[None]:
    """No page asks for anything outside its origin or complains on the console, whatever a test is about."""
    yield
    if "house" in request.fixturenames:
        house: House = request.getfixturevalue("house")
        while house.opened:
            house.opened.pop().close()
        strayed, complaints = list(house.strayed), list(house.complaints)
        house.strayed.clear()
        house.complaints.clear()
        assert strayed == []
        assert complaints == []
