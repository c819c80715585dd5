"""Signed out in the middle of an edit, refused, or second: what was typed stands there again."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import House
from tests.factories import PASSWORD

pytestmark = [pytest.mark.browser, pytest.mark.process, pytest.mark.xdist_group("house"), pytest.mark.timeout(300)]
WORDS = "Write on the second line, never before ten."


def own_browser(house: House, scripts: bool = True) -> Page:
    """A browser with a sign-in of its own: a test that signs out must not end the one all share."""
    context = house.chromium.new_context(
        viewport={"width": 1280, "height": 800}, reduced_motion="reduce", java_script_enabled=scripts
    )
    context.set_default_timeout(30_000)
    page = context.new_page()
    house.sign_in(page, "rita")
    return page


def sign_out(page: Page, home: str) -> None:
    page.goto(f"{home}/sign-out")
    page.get_by_role("button", name="Sign out").first.click()
    page.wait_for_url(re.compile("/sign-in"))


def sign_in_here(page: Page) -> None:
    page.get_by_label("Your e-mail").fill("rita@example.com")
    page.get_by_label("Your password").fill(PASSWORD)
    page.get_by_role("button", name="Sign in").click()


def open_edit(page: Page, home: str) -> None:
    page.goto(f"{home}/p/lost/review")
    page.locator(".acts").get_by_role("link", name="Edit").click()
    expect(page.locator("#sentence")).to_be_visible()
    page.locator("#sentence").fill(WORDS)


@pytest.mark.parametrize("scripts", [True, False])
def test_who_is_signed_out_in_another_tab_finds_the_words_after_signing_in(house: House, scripts: bool) -> None:
    page = own_browser(house, scripts)
    open_edit(page, house.home)
    sign_out(page.context.new_page(), house.home)
    if scripts:
        page.locator("#sentence").press("Control+Enter")
    else:
        page.get_by_role("button", name="Save and approve").click()
    page.wait_for_url(re.compile("/sign-in"))
    assert WORDS not in page.content()
    sign_in_here(page)
    expect(page.locator("#sentence")).to_have_value(WORDS)
    expect(page.locator(".notice.info")).to_contain_text("They were not counted yet.")
    page.context.close()


def test_a_page_from_before_another_sign_in_keeps_its_words(house: House) -> None:
    page = own_browser(house)
    open_edit(page, house.home)
    other = page.context.new_page()
    sign_out(other, house.home)
    sign_in_here(other)
    other.wait_for_url(f"{house.home}/")
    page.locator("#sentence").press("Control+Enter")
    expect(page.locator(".notice.info")).to_contain_text("They were not counted yet.")
    expect(page.locator("#sentence")).to_have_value(WORDS)
    # And one press is enough now.
    page.locator("#sentence").press("Control+Enter")
    expect(page.locator(".last")).to_contain_text(WORDS)
    page.locator(".last").get_by_role("button", name="Undo").click()
    expect(page.locator("#say")).to_contain_text("Undone")
    page.context.close()


def test_the_second_of_two_editors_has_their_words_in_the_409_card(house: House) -> None:
    first, second = house.browser_of("olga"), house.browser_of("rita")
    first.goto(f"{house.home}/p/lost/review")
    card = str(first.locator("article").get_attribute("id")).removeprefix("fact-")
    for page in (first, second):
        page.goto(f"{house.home}/p/lost/review?card={card}")
        page.keyboard.press("e")
        expect(page.locator("#sentence")).to_be_focused()
    first.locator("#sentence").fill("Write on line 1, in the morning.")
    second.locator("#sentence").fill(WORDS)
    with first.expect_response(re.compile("/decisions$")) as answer:
        first.keyboard.press("Control+Enter")
    assert answer.value.status == 200
    with second.expect_response(re.compile("/decisions$")) as answer:
        second.keyboard.press("Control+Enter")
    assert answer.value.status == 409
    card = second.locator("#desk")
    expect(card).to_contain_text("Olga decided this card")
    expect(card.locator(".aside")).to_contain_text("never before ten")
    expect(second.locator("h1")).to_be_focused()
    house.complaints[:] = [words for words in house.complaints if "status of 409" not in words]


@pytest.mark.parametrize("scripts", [True, False])
def test_a_refused_edit_on_a_memorys_own_page_keeps_the_words(house: House, scripts: bool) -> None:
    page = house.browser_of("rita", java_script_enabled=scripts)
    page.goto(house.home + house.looks["approved"])
    page.get_by_text("Edit the sentence or its end").click()
    page.locator("#text").fill(WORDS)
    page.locator("#no_end").uncheck()
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.locator(".notice.error")).to_contain_text("Choose its last day")
    expect(page.locator("#text")).to_have_value(WORDS)
    expect(page.locator("#no_end")).not_to_be_checked()
