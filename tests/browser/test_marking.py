"""Marking words in a transcript by mouse, remembering them by key; and the same without JavaScript."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from tests.browser import axe
from tests.browser.conftest import House

pytestmark = [pytest.mark.browser, pytest.mark.process, pytest.mark.xdist_group("house"), pytest.mark.timeout(300)]

# Of the first turn of the seeded talk.
WORDS = "do I actually see"


def mark(page: Page, nth: int, words: str) -> None:
    """Draws the mouse over `words` in the nth turn that can be quoted."""
    box = page.evaluate(
        """([nth, words]) => {
            const turn = document.querySelectorAll("[data-o]")[nth];
            const walker = document.createTreeWalker(turn, NodeFilter.SHOW_TEXT);
            while (walker.nextNode()) {
                const at = walker.currentNode.data.indexOf(words);
                if (at < 0) continue;
                const range = document.createRange();
                range.setStart(walker.currentNode, at);
                range.setEnd(walker.currentNode, at + words.length);
                turn.scrollIntoView({block: "center"});
                const {left, right, top, bottom} = range.getBoundingClientRect();
                return {left, right, middle: (top + bottom) / 2};
            }
        }""",
        [nth, words],
    )
    page.mouse.move(box["left"] + 1, box["middle"])
    page.mouse.down()
    page.mouse.move(box["right"] - 1, box["middle"], steps=8)
    page.mouse.up()


def test_marked_words_are_remembered_with_one_key(house: House) -> None:
    page = house.browser_of("rita")
    page.goto(house.home + house.looks["talk"])
    button = page.get_by_role("button", name="Remember this")
    expect(button).to_be_hidden()
    mark(page, 0, WORDS)
    expect(button).to_be_visible()
    assert not axe.faults(page)
    page.keyboard.press("r")
    expect(page.get_by_role("heading", name="Remember this")).to_be_visible()
    quoted = page.get_by_label("The words it rests on").input_value()
    assert quoted == WORDS
    assert not axe.faults(page)
    page.get_by_label("The sentence").fill("Marked by hand.")
    page.get_by_role("button", name="Countersign it").click()
    expect(page.get_by_role("heading", name="Marked by hand.")).to_be_visible()
    expect(page.locator("mark").first).to_have_text(quoted)


def test_a_click_elsewhere_takes_the_button_away(house: House) -> None:
    page = house.browser_of("rita")
    page.goto(house.home + house.looks["talk"])
    button = page.get_by_role("button", name="Remember this")
    mark(page, 0, WORDS)
    expect(button).to_be_visible()
    page.locator("h1").click()
    expect(button).to_be_hidden()


def test_without_javascript_every_turn_has_a_link(house: House) -> None:
    page = house.browser_of("rita", java_script_enabled=False)
    page.goto(house.home + house.looks["talk"])
    page.get_by_role("link", name="Remember this").first.click()
    expect(page.get_by_role("heading", name="Remember this")).to_be_visible()
    assert page.get_by_label("The words it rests on").input_value()
