"""Two people, two browsers, one card: one is counted, the other is told by whom, and keeps every word."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from playwright.sync_api import Page, Response, expect

from tests.browser import axe, layout
from tests.browser.conftest import House

pytestmark = [pytest.mark.browser, pytest.mark.process, pytest.mark.xdist_group("house"), pytest.mark.timeout(300)]

PICTURES = os.environ.get("COUNTERSIGN_TEST_PICTURES", "")


def is_decision(answer: Response) -> bool:
    return answer.request.method == "POST" and answer.url.endswith("/decisions")


def race(rita: Page, olga: Page, key: str) -> tuple[Page, Page, str]:
    """Both press a key at the same moment: the page that was counted, the other one, and the name of the winner."""
    with rita.expect_response(is_decision) as first, olga.expect_response(is_decision) as second:
        rita.keyboard.press(key)
        olga.keyboard.press(key)
    statuses = (first.value.status, second.value.status)
    assert sorted(statuses) == [200, 409]
    return (rita, olga, "Rita") if statuses[0] == 200 else (olga, rita, "Olga")


def forgive_the_409(house: House) -> None:
    """Chromium writes each answer of that kind to the console."""
    house.complaints[:] = [words for words in house.complaints if "status of 409" not in words]


@pytest.fixture
def both(house: House) -> tuple[Page, Page]:
    """Rita on the first card of a project, and Olga on the same one because she asked for it."""
    rita, olga = house.browser_of("rita"), house.browser_of("olga")
    rita.goto(f"{house.home}/p/at-once/review")
    card = rita.locator("article.sheet").get_attribute("id")
    assert card is not None
    olga.goto(f"{house.home}/p/at-once/review?card={card.removeprefix('fact-')}")
    expect(olga.locator("article.sheet")).to_have_id(card)
    return rita, olga


def test_two_browsers_race_on_a_card(house: House, both: tuple[Page, Page]) -> None:
    rita, olga = both
    expect(olga.locator(".company")).to_contain_text("Rita is on this card.")
    sentence = rita.locator("h1.fact").inner_text()
    counted, late, winner = race(rita, olga, "a")
    expect(counted.locator("h1.fact")).not_to_have_text(sentence)
    expect(late.locator("h1.fact")).to_have_text(sentence)
    expect(late.locator("h1.fact")).to_be_focused()
    expect(late.locator(".flag")).to_contain_text(f"{winner} decided this card")
    expect(late.locator(".flag")).to_contain_text("Your approval was not counted.")
    expect(late.locator(".sign .signed")).to_have_text(winner)
    expect(late.locator("#say")).to_contain_text(f"{winner} decided this card first. Your approval was not counted.")
    late.keyboard.press("a")
    expect(late.locator(".flag", has_text="decided this card")).to_have_count(0)
    forgive_the_409(house)


def test_the_words_of_the_second_stand_beside_and_go_in(house: House, both: tuple[Page, Page]) -> None:
    for page, words in zip(both, ("in the morning", "in the evening"), strict=True):
        page.keyboard.press("e")
        field = page.get_by_label("The sentence")
        expect(field).to_be_focused()
        field.fill(f"Write on the line {words}.")
    rita, olga = both
    _counted, late, winner = race(rita, olga, "Control+Enter")
    theirs, mine = ("in the morning", "in the evening") if late is olga else ("in the evening", "in the morning")
    expect(late.locator("h1.fact")).to_contain_text(f"Write on the line {theirs}.")
    expect(late.locator(".cmp ins").first).to_be_visible()
    expect(late.locator(".cmp del").first).to_be_visible()
    expect(late.locator(".aside")).to_contain_text(f"Write on the line {mine}.")
    expect(late.locator(".sign .signed")).to_have_text(winner)
    late.get_by_role("link", name="Put my words in").click()
    expect(late.get_by_label("The sentence")).to_have_value(f"Write on the line {mine}.")
    forgive_the_409(house)


def test_a_card_is_put_before_somebody_by_keyboard_and_mouse(house: House) -> None:
    page = house.browser_of("rita")
    page.goto(house.home + house.looks["given"])
    page.locator("summary[aria-label=More]").click()
    page.get_by_role("link", name="Put before …").click()
    expect(page.get_by_label("Put before")).to_be_focused()
    page.get_by_label("A note, if any").fill("A second look, please.")
    page.keyboard.press("Control+Enter")
    expect(page.locator("#say")).to_contain_text("Put before Olga.")
    page.goto(house.home + house.looks["given"])
    expect(page.locator(".company")).to_contain_text("With Olga: A second look, please.")
    page.get_by_role("button", name="Take it back").click()
    expect(page.locator(".company")).to_have_count(0)


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 390])
def test_what_the_second_sees_is_whole_and_readable(house: House, theme: str, width: int) -> None:
    """Also its picture, where a folder is set: the card, and the popovers of the list."""
    olga = house.browser_of("olga")
    olga.goto(f"{house.home}/p/late/review")
    card = (olga.locator("article.sheet").get_attribute("id") or "").removeprefix("fact-")
    late = house.browser_of("rita", theme=theme, width=width, height=800 if width == 1280 else 844)
    late.goto(f"{house.home}/p/late/review?card={card}&panel=edit")
    late.get_by_label("The sentence").fill("Write to me in the evening, never by telephone.")
    olga.goto(f"{house.home}/p/late/review?card={card}&panel=edit")
    olga.get_by_label("The sentence").fill("Write to me on the old line, mornings only.")
    with olga.expect_response(is_decision):
        olga.get_by_role("button", name="Save and approve").click()
    with late.expect_response(is_decision) as answer:
        late.get_by_role("button", name="Save and approve").click()
    assert answer.value.status == 409
    expect(late.locator(".flag")).to_contain_text("Olga decided this card")
    assert not axe.faults(late)
    assert not layout.too_wide(late)
    if PICTURES:
        late.screenshot(path=Path(PICTURES) / f"taken-{width}-{theme}.png")
    late.goto(f"{house.home}/p/together/memory?type=fix")
    late.get_by_text("Save this view").click()
    expect(late.get_by_label("Name")).to_be_visible()
    assert not axe.faults(late)
    assert not layout.too_wide(late)
    if PICTURES:
        late.screenshot(path=Path(PICTURES) / f"save-view-open-{width}-{theme}.png")
    forgive_the_409(house)
