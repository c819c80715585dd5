"""The desk by keyboard alone, without scripts, and with two people at one card."""

from __future__ import annotations

import json
import re

import pytest
from playwright.sync_api import Page, Route, expect

from tests.browser.conftest import House

pytestmark = [pytest.mark.browser, pytest.mark.process, pytest.mark.xdist_group("house"), pytest.mark.timeout(300)]


def where_focus_is(page: Page) -> str:
    return str(page.evaluate("document.activeElement.tagName"))


# What was approved in project fifty, in the order of the decisions.
DECIDED = """
import json
from memory.models import Decision
from projects import tenancy
with tenancy.system("command"):
    steps = Decision.objects.filter(project__slug="fifty", verb="approve").select_related("fact").order_by("pk")
    print(json.dumps([step.fact.text for step in steps]))
"""


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


def test_fifty_cards_are_cleared_by_keyboard_alone_in_the_order_shown(house: House) -> None:
    page = house.browser_of("rita")
    page.goto(f"{house.home}/p/fifty/review")
    count_mice(page)
    shown = []
    for left in range(49, -1, -1):
        sentence = page.locator("#desk h1")
        shown.append(sentence.inner_text())
        page.keyboard.press("a")
        expect(page.locator("#say")).to_have_text(f"Approved. {left} left. U to undo.")
        expect(sentence).not_to_have_text(shown[-1])
        # Never on the body, nor on what is gone: on the heading of the card that came.
        assert page.evaluate("document.querySelector('#desk h1') === document.activeElement")
    expect(page.locator("h1")).to_contain_text("50 approved")
    assert page.evaluate("window.mice") == 0
    assert sorted(shown) == sorted(f"Card {number}: write on line {number}." for number in range(1, 51))
    page.goto(f"{house.home}/p/fifty/memory?view=approved")
    expect(page.locator(".views [aria-current] span")).to_have_text("50")
    told = json.loads(house.manage("shell", "-v", "0", "-c", DECIDED))
    assert told == shown


def test_a_slow_server_and_a_held_key_decide_no_card_unseen(house: House) -> None:
    page = house.browser_of("rita")
    page.goto(f"{house.home}/p/slow/review")
    waiting: list[Route] = []
    page.route(re.compile("/decisions$"), lambda route: waiting.append(route))
    for number in range(1, 4):
        expect(page.locator("h1")).to_have_text(f"Card {number}: write on line {number}.")
        page.keyboard.down("a")
        for _ in range(5):
            page.keyboard.down("a")  # the keyboard repeats it
        page.keyboard.up("a")
        for key in ("a", "s", "a"):
            page.keyboard.press(key)  # an impatient reader
        expect(page.locator("#desk .over, #desk > .over")).to_have_count(1)
        assert len(waiting) == 1
        waiting.pop().continue_()
        expect(page.locator("h1")).to_have_text(f"Card {number + 1}: write on line {number + 1}.")
        expect(page.locator("h1")).to_be_focused()
        expect(page.locator("html[data-busy]")).to_have_count(0)
    expect(page.locator(".pile")).to_contain_text("3 of 6")


def test_something_else_asks_for_words_and_the_same_thing_for_the_other_memory(house: House) -> None:
    page = house.browser_of("rita")
    page.goto(house.home + house.looks["often"])
    sentence, say = page.locator("h1"), page.locator("#say")
    before = sentence.inner_text()
    page.keyboard.press("x")
    expect(page.locator(".reasons")).to_be_visible()
    page.keyboard.press("0")
    expect(page.locator("#note")).to_be_focused()
    page.keyboard.type("a joke, said in 0 earnest")
    page.keyboard.press("Escape")
    expect(page.locator(".reasons")).to_be_visible()
    page.keyboard.press("0")
    expect(page.locator("#note")).to_be_focused()
    page.keyboard.type("a joke")
    page.keyboard.press("Enter")
    expect(say).to_contain_text("Rejected, something else.")
    page.keyboard.press("u")
    expect(sentence).to_have_text(before)

    page.goto(f"{house.home}/p/bare-pair/review")
    expect(sentence).to_have_text("Call in the evening, please.")
    page.keyboard.press("d")
    expect(page.locator(".pick-one li")).to_have_count(2)
    expect(page.locator(".pick-one li").first).to_contain_text("Wants to be called in the evening.")
    expect(sentence).to_be_focused()
    page.keyboard.press("/")
    expect(page.locator("#words")).to_be_focused()
    page.keyboard.type("invoice")
    page.keyboard.press("Enter")
    expect(page.locator(".pick-one li")).to_have_count(1)
    expect(sentence).to_be_focused()
    page.keyboard.press("Escape")
    expect(page.locator(".pick-one")).to_have_count(0)
    page.keyboard.press("d")
    expect(page.locator(".pick-one li")).to_have_count(2)
    page.keyboard.press("1")
    expect(say).to_contain_text("Merged.")
    page.keyboard.press("u")
    expect(sentence).to_have_text("Call in the evening, please.")


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
    bar = page.locator(".acts")
    expect(bar.get_by_label("everyone")).to_be_checked()
    page.keyboard.press("1")
    expect(bar.get_by_label("sales")).to_be_checked()
    expect(bar.get_by_label("everyone")).not_to_be_checked()
    page.keyboard.press("Control+Enter")
    expect(page.locator(".terms")).to_contain_text("sales only")
    expect(page.locator(".aside")).to_contain_text("does not see it")
    expect(sentence).to_be_focused()

    # S and a digit: later. J and K: to the next card and back, deciding nothing.
    page.keyboard.press("s")
    expect(page.locator(".later")).to_contain_text("Next week")
    expect(sentence).to_be_focused()
    page.keyboard.press("Escape")
    expect(page.locator(".later")).to_be_hidden()
    expect(page.locator("html[data-busy]")).to_have_count(0)
    page.keyboard.type("s1")
    expect(say).to_contain_text("Later.")
    expect(sentence).to_have_text("Card 3: write on line 3.")
    page.keyboard.press("j")
    expect(sentence).to_have_text("Card 4: write on line 4.")
    expect(sentence).to_be_focused()

    # ?: what the keys do now. A key does nothing behind the sheet.
    page.keyboard.press("?")
    expect(page.locator("#keys")).to_be_visible()
    listed = page.locator("#keys dt").all_inner_texts()
    assert {"A", "D", "E", "X", "W", "S", "U", "J", "K", "O", "/", "?"} <= set(listed)
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
    expect(page.locator("main")).to_contain_text("Write on line one.")

    # O: the transcript, at the quote.
    page.goto(f"{house.home}/p/every/review")
    page.keyboard.press("o")
    page.wait_for_url(re.compile(r"/sessions/s-\w+\S*#o-?\w+$"))
    expect(page.locator("mark")).to_be_in_viewport()
    expect(page.locator("mark")).to_contain_text("Write to me on line 3")


def test_keys_can_be_turned_off_and_stay_off(house: House) -> None:
    page = house.browser_of("kim")
    page.goto(f"{house.home}/p/quiet/review")
    before = page.locator("h1").inner_text()
    page.keyboard.press("?")
    with page.expect_response(re.compile("/profile/keys$")) as kept:
        page.get_by_role("button", name="Turn keys off").click()
    assert kept.value.status == 204
    page.get_by_role("button", name="Close").click()
    for _ in range(2):
        page.keyboard.press("a")
        expect(page.locator(".acts kbd").first).to_be_hidden()
        expect(page.locator("h1")).to_have_text(before)
        page.reload()
    # Kept with the person: another browser of theirs has them off from the start.
    other = house.browser_of("kim", width=1000)
    other.goto(f"{house.home}/p/quiet/review")
    expect(other.locator("html.keys-off")).to_have_count(1)
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
    page.locator(".acts").get_by_role("link", name="Who sees it").first.click()
    bar = page.locator(".acts")
    bar.get_by_label("sales").check()
    bar.get_by_role("button", name="Save who sees it").click()
    expect(page.get_by_role("alert").filter(has_text="Tick everyone, or only those")).to_be_visible()
    bar.get_by_label("everyone").uncheck()
    bar.get_by_label("sales").check()
    bar.get_by_role("button", name="Save who sees it").click()
    expect(page.locator(".terms")).to_contain_text("sales only")

    page.get_by_role("link", name="Later").first.click()
    page.get_by_role("button", name="Tomorrow").click()
    page.get_by_role("button", name="Approve").click()
    expect(page.locator("h1")).to_have_text("Done. 2 approved, 1 edited, 1 put off.")
    # A refused form says so here too (Chromium logs the status of the page itself).
    house.complaints[:] = [words for words in house.complaints if "status of 422" not in words]


def test_the_second_of_two_people_is_told_and_loses_nothing(house: House) -> None:
    first, second = house.browser_of("olga"), house.browser_of("rita")
    first.goto(f"{house.home}/p/race/review")
    expect(first.locator("h1")).to_have_text("Card 1: write on line 1.")
    # Whoever comes second is shown another card first; this one they open by its address.
    card = str(first.locator("article").get_attribute("id")).removeprefix("fact-")
    second.goto(f"{house.home}/p/race/review?card={card}")
    expect(second.locator("h1")).to_have_text("Card 1: write on line 1.")
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
    expect(main).to_contain_text("not counted.")
    expect(main.locator("ins").last).to_contain_text("in the morning")
    expect(main.locator(".signed")).to_have_text("Olga")
    expect(main.locator("mark")).to_be_visible()
    expect(second.locator("h1")).to_be_focused()
    second.keyboard.press("a")
    expect(second.locator("h1")).not_to_contain_text("line 1")
    # Chromium logs the status of every refused request.
    house.complaints[:] = [words for words in house.complaints if "status of 409" not in words]


def test_a_viewer_looks_and_finds_nothing_to_press(house: House) -> None:
    page = house.browser_of("vera")
    page.goto(f"{house.home}/p/look/review")
    expect(page.locator(".acts")).to_contain_text("You can look.")
    expect(page.locator(".acts button")).to_have_count(0)
    before = page.locator("h1").inner_text()
    for key in ("a", "x", "e", "s", "u"):
        page.keyboard.press(key)
    expect(page.locator("h1")).to_have_text(before)
