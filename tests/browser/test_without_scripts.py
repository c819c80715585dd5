"""JavaScript off: signing in, every decision, and the settings, by forms and links alone."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import House
from tests.factories import PASSWORD

pytestmark = [pytest.mark.browser, pytest.mark.process, pytest.mark.xdist_group("house"), pytest.mark.timeout(300)]


@pytest.fixture
def page(house: House) -> Page:
    context = house.chromium.new_context(viewport={"width": 1280, "height": 800}, java_script_enabled=False)
    context.set_default_timeout(30_000)
    page = context.new_page()
    page.goto(f"{house.home}/p/bare/review")
    page.get_by_label("Your e-mail").fill("nora@example.com")
    page.get_by_label("Your password").fill(PASSWORD)
    page.get_by_role("button", name="Sign in").click()
    page.wait_for_url(f"{house.home}/p/bare/review")
    return page


def take_up(page: Page, house: House, words: str) -> None:
    """The card with these words, from the list of what waits."""
    page.goto(f"{house.home}/p/bare/memory?view=proposed&q={words.replace(' ', '+')}")
    page.locator("tbody .s").first.click()
    expect(page.locator("#desk h1")).to_be_visible()


def test_every_decision_is_made_without_scripts(house: House, page: Page) -> None:
    bar, last = page.locator(".acts"), page.locator(".last")
    take_up(page, house, "Card 1:")
    bar.get_by_role("button", name="Approve").click()
    expect(last).to_contain_text("Approved: Card 1")

    take_up(page, house, "Card 2:")
    bar.get_by_role("link", name="Reject").click()
    bar.get_by_role("button", name="Too vague").click()
    expect(last).to_contain_text("Rejected: Card 2")

    take_up(page, house, "Card 3:")
    bar.get_by_role("link", name="Reject").click()
    bar.get_by_role("link", name="Something else").click()
    page.get_by_label("Why, in a few words").fill("a joke")
    bar.get_by_role("button", name="Reject").click()
    expect(last).to_contain_text("Rejected: Card 3")
    bar.get_by_role("button", name="Undo").click()
    expect(page.locator("h1")).to_have_text("Card 3: write on line 3.")

    bar.get_by_role("link", name="Edit").click()
    page.get_by_label("The sentence").fill("Write on line three.")
    bar.get_by_role("button", name="Save", exact=True).click()
    expect(page.locator("h1")).to_have_text("Write on line three.")

    bar.get_by_role("link", name="Who sees it").click()
    bar.get_by_label("everyone").uncheck()
    bar.get_by_label("sales").check()
    bar.get_by_role("button", name="Save who sees it").click()
    expect(page.locator(".terms")).to_contain_text("sales only")

    take_up(page, house, "Card 4:")
    bar.get_by_role("link", name="Later").first.click()
    bar.get_by_role("button", name="In a month").click()
    expect(last).to_contain_text("Put off: Card 4")

    take_up(page, house, "Call in the evening")
    page.get_by_label("More", exact=True).click()
    bar.get_by_role("link", name="Same thing as").click()
    page.get_by_placeholder("Look for its words").fill("invoice")
    bar.get_by_role("button", name="Look").click()
    expect(bar.locator("li")).to_have_count(1)
    page.get_by_placeholder("Look for its words").fill("")
    bar.get_by_role("button", name="Look").click()
    bar.get_by_role("button", name="Wants to be called in the evening.").click()
    expect(last).to_contain_text("Merged: Call in the evening")

    take_up(page, house, "within 45 days")
    expect(page.locator(".kind b")).to_have_text("Conflict")
    bar.locator("form", has=page.locator("[value=keep_second]")).get_by_role("button").click()
    expect(last).to_contain_text("Approved: Pays within 45 days.")


def test_settings_are_changed_without_scripts(house: House, page: Page) -> None:
    page.goto(f"{house.home}/p/bare/people")
    page.get_by_label("Role of Ben").select_option("reviewer")
    page.locator("tr", has_text="ben@example.com").get_by_role("button", name="Change").click()
    expect(page.get_by_label("Role of Ben")).to_have_value("reviewer")

    page.goto(f"{house.home}/p/bare/agents")
    page.get_by_role("button", name="Issue the key").click()
    expect(page.locator("main")).to_contain_text("cs_")

    page.goto(f"{house.home}/p/bare/agents")
    page.get_by_role("button", name="Pause all briefs").click()
    expect(page.locator(".strip")).to_contain_text("paused")
    page.goto(f"{house.home}/p/bare/agents")
    page.get_by_role("button", name="Resume all briefs").click()
    expect(page.locator(".strip")).to_have_count(0)

    page.goto(f"{house.home}/profile")
    page.get_by_label("Theme").select_option("dark")
    page.get_by_role("button", name="Keep these").click()
    expect(page.locator("html.dark")).to_have_count(1)
