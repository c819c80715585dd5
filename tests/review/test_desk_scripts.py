"""keys.js and desk.js in a real Chromium, under the policy the pages are served with. Nothing leaves the browser: every
address of `http://desk.test` is answered from this file and from `static/`."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, Route, expect

STATIC = Path(__file__).resolve().parents[2] / "static"
HOME = "http://desk.test/"
POLICY = (
    "default-src 'none'; script-src 'self' 'nonce-n1'; style-src 'self'; img-src 'self' data:; font-src 'self'; "
    "connect-src 'self'; require-trusted-types-for 'script'; trusted-types htmx"
)
SWAP = 'hx-target="#card" hx-swap="outerHTML"'

pytestmark = pytest.mark.browser


def card(number: int, announce: str = "") -> str:
    return f"""<article id="card" class="sheet" data-announce="{announce}"><h1 data-land>Card {number}</h1>
<form hx-post="/decide" {SWAP} hx-nonce="n1"><button data-key="a">Approve <kbd></kbd></button></form></article>"""


AWAITED = """<div id="impact" aria-busy="true" data-quiet hx-get="/figures" hx-trigger="load" hx-swap="outerHTML"
hx-nonce="n1">…</div></article>"""


PAGE = f"""<!doctype html><html lang="en" class="" data-theme="light"><head><meta charset="utf-8"><title>Desk</title>
<link rel="stylesheet" href="/vendor/basecoat.css"><link rel="stylesheet" href="/app.css">
<script src="/theme.js"></script>
<meta name="htmx-config" content='{{"extensions": "hx-csp", "includeIndicatorCSS": false,
 "noSwap": [204, 304, "400", "403", "404", "5xx"]}}'>
<script src="/vendor/htmx.js" nonce="n1"></script><script src="/vendor/hx-csp.js" nonce="n1"></script>
<script src="/vendor/tinykeys.js" defer></script><script src="/keys.js" defer></script>
<script src="/desk.js" defer></script></head><body hx-headers:inherited='{{"X-CSRFToken": "t1"}}' hx-nonce="n1">
<p id="say" role="status"></p><p id="trouble" role="alert" data-figures="Nicht berechnet"
 data-forbidden="Nicht gezählt: Rolle"
 data-gone="Nicht gezählt: fort" data-failed="Nicht gezählt: kaputt" data-silent="Nicht gezählt: stumm" hidden></p>
<main id="main">{card(0)}</main>
<textarea id="words"></textarea><input type="search" id="find" data-key="/" data-key-label="Find">
<button id="reason" data-key="1">Not true</button><button id="back" data-key="Escape">Back</button>
<button id="save" data-key="$mod+Enter">Save</button><button id="batch" data-key="Shift+A">Approve 7</button>
<button id="shut" data-key="s" disabled>Later</button><button id="gone" data-key="u" hidden>Undo</button>
<button id="conflict" hx-post="/conflict" {SWAP} hx-nonce="n1">Conflict</button>
<button id="awaits" hx-post="/awaits" {SWAP} hx-nonce="n1">Figures later</button>
<button id="broken" hx-post="/broken" {SWAP} hx-nonce="n1">Broken</button>
<button id="injected" hx-post="/decide" {SWAP}>Injected</button>
<button id="frame" data-key="w">Frame</button><button id="panel" data-key="w">Panel</button>
<div id="over" popover><p>Until when?</p></div><button id="field" hx-get="/field" {SWAP} hx-nonce="n1">Field</button>
<dialog id="keys" data-words="This sheet" data-keep="/profile/keys"><dl></dl>
<form method="dialog"><button>Close</button>
<button type="button" data-keys-switch data-on="Turn keys on" data-off="Turn keys off"></button></form></dialog>
</body></html>"""


class Desk:
    """The page, and what reached the server."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.decided = 0
        self.held: list[Route] = []
        self.hold = False
        page.route(HOME + "**", self._answer)
        page.goto(HOME)
        page.evaluate("""() => { window.pressed = []; document.addEventListener('click', (event) => {
            const button = event.target.closest('[data-key]'); if (button) pressed.push(button.id || 'approve') }) }""")

    def _answer(self, route: Route) -> None:
        path = route.request.url.removeprefix(HOME)
        headers = {"Content-Security-Policy": POLICY}
        if path == "decide" and self.hold:
            self.held.append(route)
        elif path == "decide":
            self.decided += 1
            body = card(self.decided, announce="Approved. 4 left. U to undo.")
            route.fulfill(body=body, content_type="text/html", headers=headers)
        elif path == "awaits":
            # Each answer has a nonce of its own; that of the page, in an answer, would be somebody's guess.
            fresh = {"Content-Security-Policy": POLICY.replace("n1", "n2")}
            body = card(50).replace("</article>", AWAITED).replace("n1", "n2")
            route.fulfill(body=body, content_type="text/html", headers=fresh)
        elif path == "figures":
            self.held.append(route)
        elif path == "conflict":
            body = card(90, announce="Ana was first.")
            route.fulfill(status=409, body=body, content_type="text/html", headers=headers)
        elif path == "broken":
            route.fulfill(status=500, body="<h1>Traceback</h1>", content_type="text/html", headers=headers)
        elif path == "field":
            body = '<article id="card"><h1 data-land>Card</h1><input id="note" data-land></article>'
            route.fulfill(body=body, content_type="text/html", headers=headers)
        elif path == "profile/keys":
            route.fulfill(status=204)
        elif path:
            route.fulfill(path=STATIC / path)
        else:
            # The server writes what the cookie says into the page, as review/pages/frame.py does.
            is_off = any(cookie["value"] == "off" for cookie in self.page.context.cookies() if cookie["name"] == "keys")
            body = PAGE.replace('class=""', 'class="keys-off"') if is_off else PAGE
            route.fulfill(body=body, content_type="text/html", headers=headers)

    def figures(self, status: int = 200) -> None:
        """The figures beside the card arrive."""
        headers = {"Content-Security-Policy": POLICY}
        body = '<div id="impact">+31 tokens</div>'
        self.held.pop(0).fulfill(status=status, body=body, content_type="text/html", headers=headers)

    def pressed(self) -> Any:
        return self.page.evaluate("pressed.splice(0)")

    def press(self, key: str, code: str, shift: bool = False) -> None:
        """A press as a keyboard with another layout sends it."""
        self.page.evaluate(
            """([key, code, shiftKey]) => document.activeElement.dispatchEvent(
                new KeyboardEvent('keydown', {key, code, shiftKey, bubbles: true, cancelable: true}))""",
            [key, code, shift],
        )

    def focus_is_on(self, selector: str) -> None:
        expect(self.page.locator(selector)).to_be_focused()


@pytest.fixture(scope="module")
def window(chromium: Browser) -> Iterator[BrowserContext]:
    context = chromium.new_context()
    yield context
    context.close()


@pytest.fixture
def desk(window: BrowserContext) -> Iterator[Desk]:
    """A page that remembers nothing of the test before."""
    page = window.new_page()
    yield Desk(page)
    page.evaluate("localStorage.clear(), sessionStorage.clear()")
    page.close()
    window.clear_cookies()


def test_a_key_clicks_its_button_and_the_focus_goes_to_the_new_card(desk: Desk) -> None:
    desk.page.keyboard.press("a")
    expect(desk.page.locator("h1")).to_have_text("Card 1")
    desk.focus_is_on("h1")
    expect(desk.page.locator("#say")).to_have_text("Approved. 4 left. U to undo.")
    expect(desk.page.locator("#card kbd")).to_have_text("A")


def test_keys_rest_in_a_field_but_for_escape_and_saving(desk: Desk) -> None:
    desk.page.locator("#words").focus()
    for key in ("a", "1", "/", "?", "Escape", "Control+Enter"):
        desk.page.keyboard.press(key)
    assert desk.pressed() == ["back", "save"]
    expect(desk.page.locator("#words")).to_have_value("a1/?")


def test_keys_rest_with_a_modifier_on_a_shut_button_and_on_a_hidden_one(desk: Desk) -> None:
    for key in ("Control+a", "Alt+a", "Meta+a", "s", "u"):
        desk.page.keyboard.press(key)
    assert desk.pressed() == []


def test_shift_makes_another_key(desk: Desk) -> None:
    desk.page.keyboard.press("Shift+A")
    assert desk.pressed() == ["batch"]


def test_a_layout_without_the_letter_is_read_by_place(desk: Desk) -> None:
    desk.press("ф", "KeyA")
    assert desk.pressed() == ["approve"]
    expect(desk.page.locator("h1")).to_have_text("Card 1")
    desk.press("&", "Digit1")  # French: the digits are behind Shift
    assert desk.pressed() == ["reason"]
    desk.press("1", "Digit1", shift=True)  # and typed so
    assert desk.pressed() == ["reason"]


@pytest.mark.parametrize(
    ("script", "a", "w", "s"),
    [
        ("Russian", "ф", "ц", "ы"),
        ("Greek", "α", "ς", "σ"),
        ("Arabic", "ش", "ص", "س"),
        ("Hebrew", "ש", "'", "ד"),
        ("Korean", "ㅁ", "ㅈ", "ㄴ"),
    ],
)
def test_letters_of_other_scripts_are_read_by_place(desk: Desk, script: str, a: str, w: str, s: str) -> None:
    desk.press(a, "KeyA")
    expect(desk.page.locator("h1")).to_have_text("Card 1")
    desk.press(w, "KeyW")
    desk.press(s, "KeyS")  # shut
    assert desk.pressed() == ["approve", "panel"]


def test_a_french_keyboard_counts_by_what_is_printed_on_it(desk: Desk) -> None:
    desk.press("z", "KeyW")
    desk.press("w", "KeyZ")
    assert desk.pressed() == ["panel"]
    desk.press("/", "Period", shift=True)
    desk.focus_is_on("#find")


def test_letters_with_marks_of_a_latin_keyboard_are_no_keys_by_place(desk: Desk) -> None:
    for letter, code in (("ğ", "KeyW"), ("ı", "KeyA"), (",", "KeyW")):
        desk.press(letter, code)
    assert desk.pressed() == []


def test_capital_letters_by_caps_lock_are_the_same_keys(desk: Desk) -> None:
    desk.press("W", "KeyW")
    assert desk.pressed() == ["panel"]


def test_of_two_with_one_key_the_later_has_it(desk: Desk) -> None:
    desk.page.keyboard.press("w")
    assert desk.pressed() == ["panel"]


def test_keys_rest_while_a_popover_is_open(desk: Desk) -> None:
    desk.page.evaluate("document.getElementById('over').showPopover()")
    desk.page.keyboard.press("w")
    assert desk.pressed() == []
    desk.page.evaluate("document.getElementById('over').hidePopover()")
    desk.page.keyboard.press("w")
    assert desk.pressed() == ["panel"]


def test_a_field_that_a_panel_brings_has_the_focus_before_the_heading(desk: Desk) -> None:
    desk.page.locator("#field").click()
    desk.focus_is_on("#note")


def test_a_key_held_down_decides_once(desk: Desk) -> None:
    for _ in range(4):
        desk.page.keyboard.down("a")  # the second and later ones repeat
        expect(desk.page.locator("h1")).to_have_text("Card 1")
    desk.page.keyboard.up("a")
    assert desk.decided == 1


def test_on_a_latin_layout_the_letter_counts_and_not_its_place(desk: Desk) -> None:
    desk.press("q", "KeyA")
    assert desk.pressed() == []
    desk.press("a", "KeyQ")
    assert desk.pressed() == ["approve"]


def test_a_second_press_never_decides_a_card_nobody_saw(desk: Desk) -> None:
    desk.hold = True
    desk.page.keyboard.press("a")
    expect(desk.page.locator("html[data-busy]")).to_have_count(1)
    desk.page.keyboard.press("a")
    assert desk.pressed() == ["approve"]
    expect(desk.page.locator("#card .over")).to_have_count(1)  # the skeleton, once it takes long
    desk.held[0].fulfill(body=card(1), content_type="text/html", headers={"Content-Security-Policy": POLICY})
    expect(desk.page.locator("h1")).to_have_text("Card 1")
    expect(desk.page.locator(".over")).to_have_count(0)


def test_the_sheet_lists_the_keys_that_are_bound_now(desk: Desk) -> None:
    desk.page.keyboard.press("?")
    rows = desk.page.locator("#keys dt").all_inner_texts()
    assert rows == ["A", "/", "1", "Esc", "Ctrl ↵", "⇧A", "W", "?"]
    assert desk.page.locator("#keys dd").all_inner_texts()[:2] == ["Approve", "Find"]
    desk.page.keyboard.press("a")
    assert desk.pressed() == []


def test_keys_can_be_switched_off_and_stay_off(desk: Desk) -> None:
    desk.page.keyboard.press("?")
    with desk.page.expect_request(HOME + "profile/keys") as sent:
        desk.page.locator("[data-keys-switch]").click()
    # Kept with the person as well, by the token of the page.
    assert (sent.value.post_data, sent.value.headers["x-csrftoken"]) == ("keys=off", "t1")
    desk.page.keyboard.press("Escape")
    desk.page.keyboard.press("a")
    assert desk.pressed() == []
    expect(desk.page.locator("#card kbd")).to_be_hidden()
    assert {cookie["name"]: cookie["value"] for cookie in desk.page.context.cookies()}["keys"] == "off"
    desk.page.reload()
    desk.page.keyboard.press("a")
    expect(desk.page.locator("h1")).to_have_text("Card 0")


def test_a_conflict_is_shown_and_a_broken_server_is_said(desk: Desk) -> None:
    desk.page.locator("#conflict").click()
    expect(desk.page.locator("h1")).to_have_text("Card 90")
    desk.focus_is_on("h1")
    desk.page.locator("#broken").click()
    expect(desk.page.locator("#trouble")).to_have_text("Nicht gezählt: kaputt")
    expect(desk.page.locator("h1")).to_have_text("Card 90")


def test_figures_that_come_later_take_neither_keys_nor_focus(desk: Desk) -> None:
    with desk.page.expect_request(HOME + "figures"):
        desk.page.locator("#awaits").click()
    desk.focus_is_on("h1")
    expect(desk.page.locator("html[data-busy]")).to_have_count(0)
    desk.page.keyboard.press("w")
    assert desk.pressed() == ["panel"], "on their way they hold no key up"
    desk.page.evaluate("document.activeElement.blur()")
    desk.figures()
    expect(desk.page.locator("#impact")).to_have_text("+31 tokens")
    expect(desk.page.locator(".over")).to_have_count(0)
    assert desk.page.evaluate("document.activeElement === document.body")


def test_figures_that_do_not_come_are_said_of_the_card_in_front_alone(desk: Desk) -> None:
    with desk.page.expect_request(HOME + "figures"):
        desk.page.locator("#awaits").click()
    desk.page.keyboard.press("a")
    expect(desk.page.locator("h1")).to_have_text("Card 1")
    with desk.page.expect_response(HOME + "figures"):
        desk.figures(500)
    with desk.page.expect_request(HOME + "figures"):
        desk.page.locator("#awaits").click()
    expect(desk.page.locator("#trouble")).to_be_hidden()
    desk.figures(500)
    expect(desk.page.locator("#trouble")).to_have_text("Nicht berechnet")
    expect(desk.page.locator("h1")).to_have_text("Card 50")


def test_markup_without_the_nonce_does_nothing(desk: Desk) -> None:
    desk.page.locator("#injected").click()
    desk.page.keyboard.press("a")
    expect(desk.page.locator("h1")).to_have_text("Card 1")
    assert desk.decided == 1
