"""From a pasted sentence to absent from the next brief, by keyboard; and a pause that every web process hears."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.browser import axe, layout
from tests.browser.conftest import House
from tests.browser.seed_stop import WRONG
from tests.config.processes import REPOSITORY, free_port, status, wait_until

pytestmark = [pytest.mark.browser, pytest.mark.process, pytest.mark.xdist_group("house"), pytest.mark.timeout(300)]
MOST_PRESSES = 8


def brief(home: str, key: str) -> dict[str, Any]:
    body = json.dumps({"subjects": ["customer:cust_7"], "max_tokens": 900}).encode()
    request = urllib.request.Request(
        f"{home}/api/v1/briefs",
        body,
        {"Authorization": f"Bearer {key}", "Content-Type": "application/json"},
    )
    with urllib.request.urlopen(request, timeout=30) as answer:
        found: dict[str, Any] = json.load(answer)
    return found


class Keyboard:
    """Counts what is pressed."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.presses = 0

    def press(self, key: str) -> None:
        self.presses += 1
        self.page.keyboard.press(key)

    def paste(self, words: str) -> None:
        """One press: what the clipboard holds comes in whole."""
        self.page.evaluate("words => navigator.clipboard.writeText(words)", words)
        self.press("ControlOrMeta+v")


@pytest.fixture
def page(house: House) -> Page:
    page = house.browser_of("rita")
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    return page


@pytest.mark.parametrize("way", ["the line of a brief", "an old wording"])
def test_from_a_pasted_sentence_to_absent_from_the_next_brief(house: House, page: Page, way: str) -> None:
    told = brief(house.home, house.keys["stop"])
    item = next(item for item in told["items"] if "Refunds above 200" in item["text"] or "asks first" in item["text"])
    line = next(line for line in told["text"].split("\n") if item["id"] in line)
    if way == "an old wording":
        # Served as it was; edited since.
        page.goto(f"{house.home}/facts/{item['id']}")
        page.get_by_text("Edit the sentence or its end").click()
        page.get_by_label("The sentence").fill("Somebody asks first when it is much money.")
        page.get_by_role("button", name="Save", exact=True).click()
        expect(page.locator("h1")).to_have_text("Somebody asks first when it is much money.")
        line = WRONG
    page.goto(f"{house.home}/p/stop/review")
    keys = Keyboard(page)
    keys.press("/")
    expect(page.get_by_role("searchbox")).to_be_focused()
    keys.paste(line)
    keys.press("Enter")
    expect(page.locator("[data-result]").first).to_be_focused()
    keys.press("Enter")
    expect(page).to_have_url(re.compile(f"/facts/{item['id']}"))
    keys.press("x")
    keys.press("1")
    expect(page.locator(".kind b")).to_have_text("Withdrawn")
    assert keys.presses <= MOST_PRESSES
    after = brief(house.home, house.keys["stop"])
    assert item["id"] not in [one["id"] for one in after["items"]]
    assert item["id"] in after["retracted"]
    page.locator(".hist").get_by_role("button", name="Undo").first.click()
    expect(page.locator(".kind b")).to_have_text("Approved")


def test_results_are_walked_by_the_arrow_keys(house: House, page: Page) -> None:
    page.goto(f"{house.home}/find")
    expect(page.locator("#q")).to_be_focused()
    page.keyboard.type("refunds")
    page.keyboard.press("Enter")
    first = page.locator("[data-result]").first
    expect(first).to_be_focused()
    page.keyboard.press("ArrowUp")
    expect(page.locator("#q")).to_be_focused()
    page.keyboard.press("ArrowDown")
    expect(first).to_be_focused()
    for width in (1280, 390):
        page.set_viewport_size({"width": width, "height": 800})
        assert not axe.faults(page)
        assert not layout.too_wide(page)
        if folder := os.environ.get("COUNTERSIGN_TEST_PICTURES"):
            page.screenshot(path=f"{folder}/found-{width}.png")


def test_a_sentence_is_found_and_withdrawn_without_scripts(house: House) -> None:
    page = house.browser_of("rita", java_script_enabled=False)
    page.goto(f"{house.home}/p/stop/memory")
    page.get_by_role("searchbox").fill("gift cards are paid out")
    page.get_by_role("searchbox").press("Enter")
    page.get_by_role("link", name="Gift cards are paid out in cash.").click()
    page.get_by_role("link", name="Withdraw", exact=False).first.click()
    page.get_by_role("button", name="Not true").click()
    expect(page.locator(".kind b")).to_have_text("Withdrawn")
    page.locator(".hist").get_by_role("button", name="Undo").first.click()
    expect(page.locator(".kind b")).to_have_text("Approved")


@pytest.fixture
def second_web(house: House) -> Iterator[str]:
    """A second web process on the same installation, with its own memory of keys."""
    port = free_port()
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("COUNTERSIGN_")}
    settings = {"COUNTERSIGN_DATA": str(house.up.data_dir), "DJANGO_SETTINGS_MODULE": "config.settings"}
    web = subprocess.Popen(
        [sys.executable, "manage.py", "web", "--port", str(port), "--workers", "1"],
        cwd=REPOSITORY,
        env=inherited | settings,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        assert wait_until(lambda: status(port) == 200)
        yield f"http://localhost:{port}"
    finally:
        web.terminate()
        web.wait(timeout=30)


def test_a_pause_is_heard_by_the_next_call_of_every_web_process(house: House, page: Page, second_web: str) -> None:
    key = house.keys["stop"]
    for home in (house.home, second_web, house.home, second_web):
        assert not brief(home, key)["paused"]
    page.goto(f"{house.home}{house.looks['stop-fact']}")
    page.keyboard.press("p")
    page.get_by_role("button", name="Briefs to support").click()
    expect(page.locator(".strip")).to_contain_text("Briefs to support are paused since")
    expect(page.locator(".strip")).to_contain_text("by Rita")
    # The first call of each process after the pause, and some more: `up` runs two workers on one port.
    for home in (second_web, *[house.home] * 4):
        found = brief(home, key)
        assert (found["paused"], found["text"], found["items"]) == (True, "", [])
    page.goto(house.home)
    expect(page.locator(".strip")).to_contain_text("stop: briefs to support are paused since")
    page.locator(".strip").get_by_role("button", name="Resume").click()
    expect(page).to_have_url(f"{house.home}/")
    expect(page.locator(".strip")).to_have_count(0)
    for home in (second_web, *[house.home] * 4):
        assert not brief(home, key)["paused"]
