"""Practice by keyboard and without scripts, the review policy as its owner sees it, and what a rule let in."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.browser import axe, layout
from tests.browser.conftest import House
from tests.browser.test_pages import PICTURES

pytestmark = [pytest.mark.browser, pytest.mark.process, pytest.mark.xdist_group("house"), pytest.mark.timeout(300)]


def whole(page: Page, name: str, width: int, theme: str) -> list[str]:
    if PICTURES:
        page.screenshot(path=Path(PICTURES) / f"{name}-{width}-{theme}.png", full_page=width == 390)
    found = [f"{name}: {fault}" for fault in axe.faults(page)]
    return found + [f"{name}: {element} makes the page scroll sideways" for element in layout.too_wide(page)]


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 390])
def test_the_policy_of_an_owner_is_whole_and_readable(house: House, theme: str, width: int) -> None:
    page = house.browser_of("olga", theme=theme, width=width)
    page.goto(f"{house.home}/p/trust/policy")
    found = whole(page, "policy-owner", width, theme)
    page.goto(house.home + house.looks["let-in-unseen"])
    found += whole(page, "let-in-unseen", width, theme)
    page.goto(f"{house.home}/profile")
    found += whole(page, "profile-pace", width, theme)
    assert not found, "\n".join(found)


def test_an_owner_changes_a_level_and_notes_an_ending(house: House) -> None:
    page = house.browser_of("olga")
    page.goto(f"{house.home}/p/trust/policy")
    expect(page.locator(".strip")).to_contain_text("“On arrival” for error has ended")
    expect(page.locator("#level-fix")).to_contain_text("Olga’s rule of")
    page.get_by_label("Environment: One by one").check()
    page.get_by_role("button", name="Keep these").click()
    expect(page.locator(".notice:visible").first).to_contain_text("Kept: 1 change.")
    expect(page.get_by_label("Environment: One by one")).to_be_checked()
    page.get_by_role("button", name="I have seen it").click()
    expect(page.locator(".strip")).to_have_count(0)


def test_what_was_drawn_looks_like_a_new_card_and_its_page_says_what_it_is(house: House) -> None:
    page = house.browser_of("rita")
    page.goto(house.home + house.looks["drawn"])
    expect(page.locator(".kind b")).to_have_text("New")
    expect(page.get_by_role("button", name="Approve")).to_be_enabled()
    expect(page.locator("#desk")).not_to_contain_text("arrival")
    page.goto(house.home + house.looks["let-in"])
    expect(page.locator(".sign")).to_contain_text("On arrival, by Olga’s rule of")
    expect(page.locator(".sign")).to_contain_text("Looked at by Rita")


def test_practice_is_done_by_keys_alone_and_leads_to_the_real_pile(house: House) -> None:
    page = house.browser_of("nina")
    page.goto(f"{house.home}/p/trust/review")
    expect(page).to_have_url(f"{house.home}/p/trust/practice")
    for number, keys, told in ((1, "a", "Right"), (2, "a", "Look again"), (3, "x8", "Right")):
        expect(page.locator(".pile")).to_contain_text(f"{number} of 3")
        for key in keys:
            page.keyboard.press(key)
        expect(page.locator(".told")).to_contain_text(told)
        expect(page.locator("#say")).to_contain_text(told)
        expect(page.locator("h1")).to_be_focused()
        page.keyboard.press("a")
    page.wait_for_url(f"{house.home}/p/trust/review")
    expect(page.locator(".notice:visible").first).to_contain_text("From here on the cards are real.")
    page.goto(f"{house.home}/p/trust/review")
    expect(page).to_have_url(f"{house.home}/p/trust/review")


def test_practice_works_without_scripts_and_can_be_skipped(house: House) -> None:
    page = house.browser_of("rita", java_script_enabled=False)
    page.goto(f"{house.home}/p/trust/practice?n=3")
    page.get_by_role("link", name=re.compile("Reject")).click()
    page.get_by_role("button", name="An instruction").click()
    expect(page.locator(".told")).to_contain_text("it is an instruction in a page")
    page.get_by_role("button", name=re.compile("To the real cards")).click()
    expect(page).to_have_url(f"{house.home}/p/trust/review")
    page.goto(f"{house.home}/p/trust/practice")
    page.get_by_role("button", name="Skip practice").click()
    expect(page).to_have_url(f"{house.home}/p/trust/review")
