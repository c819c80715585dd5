"""Many at once in a real browser: ticks and their bar, by mouse, by key, and without JavaScript."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.browser import axe, layout
from tests.browser.conftest import House

pytestmark = [pytest.mark.browser, pytest.mark.process, pytest.mark.xdist_group("house"), pytest.mark.timeout(300)]
PICTURES = os.environ.get("COUNTERSIGN_TEST_PICTURES")


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 390])
def test_the_bar_stands_on_the_table_while_something_is_ticked(house: House, theme: str, width: int) -> None:
    page = house.browser_of("rita", theme=theme, width=width, height=900)
    page.goto(f"{house.home}/p/many/memory")
    bar = page.locator(".bulk")
    expect(bar).to_be_hidden()
    for line in (1, 2, 6):
        page.locator("tbody input[type=checkbox]").nth(line).check()
    expect(bar).to_be_visible()
    expect(page.locator("[data-ticked]")).to_have_text("3 ticked")
    names = ["bare"]
    for name in ("Who sees it", "Lives until", "Withdraw"):
        names.append(name)
    for name in names:
        if name != "bare":
            bar.locator("summary", has_text=name).click()
        assert axe.faults(page) == [], name
        assert layout.too_wide(page) == [], name
        if PICTURES:
            page.screenshot(path=Path(PICTURES) / f"ticked-{name.split()[0].lower()}-{width}-{theme}.png")
        if name != "bare":
            bar.locator("summary", has_text=name).click()
    page.locator("tbody input[type=checkbox]:checked").first.uncheck()
    expect(page.locator("[data-ticked]")).to_have_text("2 ticked")
    if PICTURES:
        page.locator(".filter > summary").click()
        page.screenshot(path=Path(PICTURES) / f"filter-{width}-{theme}.png")


def test_many_are_withdrawn_and_brought_back_without_javascript(house: House) -> None:
    page = house.browser_of("rita", java_script_enabled=False)
    page.goto(f"{house.home}/p/many-bare/memory")
    expect(page.locator(".bulk")).to_be_hidden()
    for line in (0, 1):
        page.locator("tbody input[type=checkbox]").nth(line).check()
    page.locator(".bulk summary", has_text="Withdraw").click()
    page.get_by_role("button", name="Out of date soon").click()
    expect(page.locator(".notice.success")).to_have_text("2 withdrawn.")
    expect(page.locator("tbody tr")).to_have_count(9)
    page.get_by_role("button", name="Undo that").click()
    expect(page.locator(".notice.success")).to_contain_text("Undone: 2 memories")
    expect(page.locator("tbody tr")).to_have_count(11)


def test_near_duplicates_are_answered_by_key_and_one_key_takes_it_back(house: House) -> None:
    page = house.browser_of("rita")
    page.goto(house.home + house.looks["cluster-key"])
    expect(page.locator("h1")).to_contain_text("Klarna is offered only to customers")
    else_said = page.locator(".tickable li", has_text="refunds take 5 working days")
    expect(else_said.locator("input")).not_to_be_checked()
    expect(else_said.locator(".left-out")).to_contain_text("says something else, comes back as its own card")
    line = page.locator(".tickable li", has_text="No Klarna outside the UK, also")
    expect(line.locator(".left-out")).to_be_hidden()
    line.locator("input").uncheck()
    expect(line.locator(".left-out")).to_be_visible()
    line.locator("input").check()
    expect(page.locator(".tickable li.out input")).to_be_disabled()
    # The keys are for the card again, not for a field.
    page.locator("h1").click()
    page.keyboard.press("x")
    expect(page.locator(".fan .leaf")).to_be_visible()
    page.keyboard.press("Escape")
    page.keyboard.press("a")
    expect(page.locator("#say")).to_contain_text("1 approved, 2 merged")
    page.keyboard.press("u")
    expect(page.locator("#say")).to_contain_text("Undone: 3 memories")
