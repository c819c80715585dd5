"""The desk by keyboard alone, without scripts, and with two people at one card."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import House

pytestmark = [pytest.mark.browser, pytest.mark.process, pytest.mark.xdist_group("house"), pytest.mark.timeout(300)]


def where_focus_is(page: Page) -> str:
    return str(page.evaluate("document.activeElement.tagName"))


def count_mice(page: Page) -> None:
    page.evaluate("""() => { window.mice = 0;
        for (const kind of ['mousedown', 'pointerdown', 'touchstart'])
            addEventListener(kind, () => { window.mice += 1 }, true) }""")


def test_ten_cards_are_cleared_with_one_key_each(house: House) -> None:
    page = house.browser_of("rita")
    page.goto(f"{house.home}/p/ten/review")
    count_mice(page)
    for number in range(1, 11):
        expect(page.locator("h1")).to_have_text(f"Card {number}: write on line {number}.")
        page.keyboard.press("a")
        if number < 10:
            expect(page.locator("h1")).to_have_text(f"Card {number + 1}: write on line {number + 1}.")
            expect(page.locator(".top .n").first).to_have_text(str(10 - number))
            expect(page.locator(".pile")).to_contain_text(f"{number} of 10")
        expect(page.locator("h1")).to_be_focused()
        expect(page.locator("#say")).to_contain_text(f"Approved. {10 - number} left.")
    expect(page.locator("h1")).to_have_text("Done. 10 approved.")
    expect(page.locator(".top .n").first).to_be_hidden()
    assert where_focus_is(page) == "H1"
    assert page.evaluate("window.mice") == 0


def test_each_key_does_what_its_button_says(house: House) -> None:
    page = house.browser_of("rita")
    page.goto(f"{house.home}/p/every/review")
    sentence, say = page.locator("h1"), page.locator("#say")

    # E: the sentence becomes a field where it stands; letters are letters there, and Esc leaves it as it was.
    page.keyboard.press("e")
    expect(page.locator("#sentence")).to_be_focused()
    page.keyboard.type("axsu")
    page.keyboard.press("Escape")
    expect(sentence).to_have_text("Card 1: write on line 1.")
    expect(sentence).to_be_focused()
    page.keyboard.press("e")
    expect(page.locator("#sentence")).to_be_focused()
    page.keyboard.press("Control+a")
    page.keyboard.type("Write on line one.")
    page.keyboard.press("Control+Enter")
    expect(say).to_contain_text("Approved.")
    expect(page.locator(".last")).to_contain_text("Write on line one.")
    expect(sentence).to_have_text("Card 2: write on line 2.")

    # X and a digit; Esc before it.
    page.keyboard.press("x")
    expect(page.locator(".reasons")).to_be_visible()
    expect(sentence).to_be_focused()
    page.keyboard.press("Escape")
    expect(page.locator(".reasons")).to_be_hidden()
    expect(page.locator("html[data-busy]")).to_have_count(0)
    page.keyboard.type("x2")  # faster than the panel comes
    expect(say).to_contain_text("Rejected, too vague.")
    expect(sentence).to_have_text("Card 3: write on line 3.")

    # U brings it back, as it was.
    page.keyboard.press("u")
    expect(sentence).to_have_text("Card 2: write on line 2.")
    expect(say).to_contain_text("Undone")

    # W and the digits of agents: everyone and some exclude each other.
    page.keyboard.press("w")
    expect(page.locator(".scope")).to_be_visible()
    expect(page.get_by_label("everyone")).to_be_checked()
    page.keyboard.press("1")
    expect(page.get_by_label("sales")).to_be_checked()
    expect(page.get_by_label("everyone")).not_to_be_checked()
    page.keyboard.press("Control+Enter")
    expect(page.locator(".terms")).to_contain_text("sales only")
    expect(page.locator(".aside")).to_contain_text("does not see it")
    expect(sentence).to_be_focused()

    # S: later. J and K: to the next card and back, deciding nothing.
    page.keyboard.press("s")
    expect(say).to_contain_text("Later.")
    expect(sentence).to_have_text("Card 3: write on line 3.")
    page.keyboard.press("j")
    expect(sentence).to_have_text("Card 4: write on line 4.")
    expect(sentence).to_be_focused()

    # ?: what the keys do now. A key does nothing behind the sheet.
    page.keyboard.press("?")
    expect(page.locator("#keys")).to_be_visible()
    listed = page.locator("#keys dt").all_inner_texts()
    assert {"A", "E", "X", "W", "S", "U", "J", "K", "O", "/", "?"} <= set(listed)
    page.keyboard.press("a")
    page.keyboard.press("Escape")
    expect(page.locator("#keys")).to_be_hidden()
    expect(sentence).to_have_text("Card 4: write on line 4.")
    page.keyboard.press("k")
    expect(sentence).to_have_text("Card 3: write on line 3.")
    expect(page.locator(".pile")).to_contain_text("2 of 6")

    # /: search.
    page.keyboard.press("/")
    expect(page.get_by_role("searchbox")).to_be_focused()
    page.keyboard.type("line one")
    page.keyboard.press("Enter")
    expect(page.locator("tbody")).to_contain_text("Write on line one.")

    # O: the transcript, at the quote.
    page.goto(f"{house.home}/p/every/review")
    page.keyboard.press("o")
    page.wait_for_url(re.compile(r"/sessions/s-\w+#o\d+$"))
    expect(page.locator("mark")).to_be_in_viewport()
    expect(page.locator("mark")).to_contain_text("Write to me on line 3")


def test_keys_can_be_turned_off_and_stay_off(house: House) -> None:
    page = house.browser_of("rita")
    page.goto(f"{house.home}/p/plain/review?card=")
    before = page.locator("h1").inner_text()
    page.keyboard.press("?")
    page.get_by_role("button", name="Turn keys off").click()
    page.get_by_role("button", name="Close").click()
    for _ in range(2):
        page.keyboard.press("a")
        expect(page.locator(".acts kbd").first).to_be_hidden()
        expect(page.locator("h1")).to_have_text(before)
        page.reload()
    # Without the keys every button is still reached with Tab.
    for _ in range(60):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.textContent").strip().startswith("Approve"):
            break
    else:
        pytest.fail("Tab never reached Approve.")


def test_cards_are_cleared_without_scripts(house: House) -> None:
    page = house.browser_of("rita", java_script_enabled=False)
    page.goto(f"{house.home}/p/plain/review")
    expect(page.locator("h1")).to_have_text("Card 1: write on line 1.")
    page.get_by_role("button", name="Approve").click()
    expect(page.locator("h1")).to_have_text("Card 2: write on line 2.")

    page.get_by_role("link", name="Reject").click()
    page.get_by_role("button", name="Not true").click()
    expect(page.locator("h1")).to_have_text("Card 3: write on line 3.")
    expect(page.locator(".last")).to_contain_text("Rejected")

    page.locator(".acts").get_by_role("button", name="Undo").click()
    expect(page.locator("h1")).to_have_text("Card 2: write on line 2.")

    page.locator(".acts").get_by_role("link", name="Edit").click()
    page.locator("#sentence").fill("Write on line two.")
    page.get_by_role("button", name="Save and approve").click()
    expect(page.locator("h1")).to_have_text("Card 3: write on line 3.")

    # What nothing could untick is refused in words, and nothing is lost.
    page.get_by_role("link", name="Who sees it").first.click()
    page.get_by_label("sales").check()
    page.get_by_role("button", name="Save who sees it").click()
    expect(page.get_by_role("alert").filter(has_text="Tick everyone, or only those")).to_be_visible()
    page.get_by_label("everyone").uncheck()
    page.get_by_label("sales").check()
    page.get_by_role("button", name="Save who sees it").click()
    expect(page.locator(".terms")).to_contain_text("sales only")

    page.get_by_role("button", name="Later").click()
    page.get_by_role("button", name="Approve").click()
    expect(page.locator("h1")).to_have_text("Done. 3 approved, 1 put off.")
    # A refused form says so here too (Chromium logs the status of the page itself).
    house.complaints[:] = [words for words in house.complaints if "status of 422" not in words]


def test_the_second_of_two_people_is_told_and_loses_nothing(house: House) -> None:
    first, second = house.browser_of("olga"), house.browser_of("rita")
    for page in (first, second):
        page.goto(f"{house.home}/p/race/review")
        expect(page.locator("h1")).to_have_text("Card 1: write on line 1.")
    first.keyboard.press("e")
    expect(first.locator("#sentence")).to_be_focused()
    first.locator("#sentence").fill("Write on line 1, in the morning.")
    with first.expect_response(re.compile("/decisions$")) as answer:
        first.keyboard.press("Control+Enter")
    assert answer.value.status == 200

    with second.expect_response(re.compile("/decisions$")) as answer:
        second.keyboard.press("a")
    assert answer.value.status == 409
    main = second.locator("#desk")
    expect(main).to_contain_text(re.compile("Olga decided this card (just now|\\d+ s ago), while you had it open\\."))
    expect(main).to_contain_text("Your decision was not counted.")
    expect(main.locator("ins").last).to_contain_text("in the morning")
    expect(main.locator(".signed")).to_have_text("Olga")
    expect(main.locator("mark")).to_be_visible()
    expect(second.locator("h1")).to_be_focused()
    second.keyboard.press("a")
    expect(second.locator("h1")).to_have_text("Card 2: write on line 2.")
    # Chromium logs the status of every refused request.
    house.complaints[:] = [words for words in house.complaints if "status of 409" not in words]


def test_a_viewer_looks_and_finds_nothing_to_press(house: House) -> None:
    page = house.browser_of("vera")
    page.goto(f"{house.home}/p/race/review")
    expect(page.locator(".acts")).to_contain_text("You can look.")
    expect(page.locator(".acts button")).to_have_count(0)
    before = page.locator("h1").inner_text()
    for key in ("a", "x", "e", "s", "u"):
        page.keyboard.press(key)
    expect(page.locator("h1")).to_have_text(before)
