"""From an empty installation to a first brief: in the browser only, and with the lines it gives to copy."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from tests.browser import axe, terminal
from tests.config.processes import Up, wait_until

pytestmark = [pytest.mark.browser, pytest.mark.process, pytest.mark.timeout(300)]
PASSWORD = "a ruled line of my own"


def printed_code(up: Up) -> str:
    found = [line for line in up.lines if "one-time code" in line]
    assert found, up.lines
    return found[0].rsplit(" ", 1)[1]


def copied(page: Page, name: str) -> str:
    """What the button beside the lines puts on the clipboard."""
    page.locator(f"[data-copy='#{name}']").click()
    expect(page.locator(f"[data-copy='#{name}']")).to_have_text("Copied")
    return str(page.evaluate("navigator.clipboard.readText()"))


def test_an_empty_installation_reaches_its_first_brief_in_the_browser_only(
    start_up: Callable[..., Up], page: Page
) -> None:
    up = start_up()
    home = f"http://localhost:{up.port}"

    # The only thing read on the server: the code.
    page.goto(home)
    expect(page).to_have_url(f"{home}/welcome")
    assert axe.faults(page) == []
    page.get_by_label("one-time code").fill(printed_code(up))
    page.get_by_label("Your e-mail").fill("ada@example.com")
    page.get_by_label("Your name").fill("Ada")
    page.get_by_label("A password").fill(PASSWORD)
    page.get_by_label("The same again").fill(PASSWORD)
    page.get_by_role("button", name="Sign in as the first").click()

    expect(page.get_by_role("heading", name="The first project")).to_be_visible()
    assert axe.faults(page) == []
    page.get_by_label("Name", exact=True).fill("Shop")
    page.get_by_label("Short name").fill("shop")
    page.get_by_role("button", name="Make the project").click()

    expect(page.get_by_role("heading", name="Get started")).to_be_visible()
    expect(page.locator(".todo > .done")).to_have_count(0)
    page.get_by_label("Name").fill("claude-code")
    page.get_by_role("button", name="Connect it and issue a key").click()

    assert axe.faults(page) == []
    me, send, brief = (copied(page, name) for name in ("issued-me", "start-send", "start-brief"))
    assert re.search(r"Bearer cs_[0-9a-f]{8}_[0-9a-f]{40}", me)
    assert terminal.run(me)[0]["agent"] == "claude-code"
    assert terminal.run(brief)[0]["text"] == ""
    received, _ = terminal.run(send)
    assert (received["accepted"], received["dropped"]) == (2, {})

    # The worker reads it, and what it found waits.
    def waits() -> bool:
        page.goto(f"{home}/p/shop/review")
        return page.get_by_role("button", name="Approve").count() > 0

    assert wait_until(waits, 90), page.locator("main").inner_text()
    # Her first sitting begins with practice, which may be skipped.
    page.get_by_role("button", name="Skip practice").click()
    expect(page.get_by_role("button", name="Skip practice")).to_have_count(0)
    sentence = page.locator(".fact").inner_text()
    assert "tests" in sentence
    # Unapproved, it reaches nobody.
    assert terminal.run(brief)[0]["items"] == []
    page.keyboard.press("a")
    expect(page.get_by_role("heading", name="Done.")).to_be_visible()

    answer = terminal.run(brief)[0]
    assert sentence in answer["text"]
    assert [item["text"] for item in answer["items"]] == [sentence]

    page.goto(f"{home}/p/shop/start")
    expect(page.locator(".todo > .done")).to_have_count(5)
    assert "cs_" not in page.content()
