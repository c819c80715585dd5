"""Every payload in every field, on every page, in a real browser: text stays text, and nothing it says happens."""

from __future__ import annotations

from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Page, expect

from tests.browser import layout
from tests.browser.conftest import House
from tests.browser.payloads import PAYLOADS

pytestmark = [pytest.mark.browser, pytest.mark.process, pytest.mark.xdist_group("house"), pytest.mark.timeout(300)]

LISTS = (
    "/",
    "/p/hostile/review",
    "/p/hostile/memory?view=approved",
    "/p/hostile/memory?view=proposed",
    "/p/hostile/memory?view=rejected",
    "/p/hostile/sessions",
    "/p/hostile/briefs",
    "/p/hostile/people",
    "/p/hostile/agents",
    "/p/hostile/start",
    "/p/hostile/health",
)
# Elements no page of ours has, and attributes none of ours may carry.
FOREIGN = (
    "[data-trap], iframe, object, embed, base, img, video, audio, math, style, animate, hx-partial, meta[http-equiv],"
    " script:not([src]), link[rel=prefetch], [onload], [onerror], [onfocus], [ontoggle], [onbegin],"
    " form:not([action^='/']):not([method]):not([role]), [href^='javascript:'], [href^='data:'],"
    " [href^='http'], [href^='//'], [href^='/trap'], [src^='/trap'], [action^='/trap'], [hx-get^='/trap'],"
    " [hx-post^='/trap'], [data-hx-post], [data-hx-get]"
)


def faults(page: Page, address: str) -> list[str]:
    found = []
    if foreign := page.locator(FOREIGN).count():
        found.append(f"{address}: {foreign} foreign elements, such as {page.locator(FOREIGN).first.evaluate(SHORT)}")
    if (ran := page.evaluate("window.trap ?? null")) is not None:
        found.append(f"{address}: script {ran} ran")
    return found + [f"{address}: {element} makes the page scroll sideways" for element in layout.too_wide(page)]


SHORT = "element => element.outerHTML.slice(0, 120)"


def cards(house: House, half: int) -> list[str]:
    """Every second card: each is opened once, on one of the two widths."""
    return [address for address in house.hostile if "card=" in address][half::2]


def others(house: House) -> list[str]:
    return [address for address in house.hostile if "card=" not in address]


def is_trap(url: str) -> bool:
    parts = urlsplit(url)
    return parts.path.startswith("/trap") or parts.hostname != "localhost"


def watched(house: House, width: int) -> tuple[Page, list[str]]:
    page = house.browser_of("rita", width=width, height=844)
    sprung: list[str] = []
    page.context.on("request", lambda request: sprung.append(request.url) if is_trap(request.url) else None)
    page.on("dialog", lambda dialog: (sprung.append(f"dialog {dialog.message}"), dialog.dismiss()))
    return page, sprung


def test_no_payload_becomes_more_than_text(house: House) -> None:
    assert len(PAYLOADS) >= 40
    page, sprung = watched(house, 1280)
    found: list[str] = []
    for address in (*LISTS, *cards(house, 0), *others(house)):
        answer = page.goto(house.home + address)
        assert answer is not None
        assert answer.status == 200, address
        found += faults(page, address)
    assert not found, "\n".join(found)
    assert sprung == []


def test_on_a_phone_no_payload_breaks_the_layout(house: House) -> None:
    page, sprung = watched(house, 390)
    found: list[str] = []
    for address in (*LISTS, *cards(house, 1), *others(house)):
        page.goto(house.home + address)
        found += faults(page, address)
    assert not found, "\n".join(found)
    assert sprung == []


def test_the_panels_and_what_people_type_stay_text_too(house: House) -> None:
    page, sprung = watched(house, 1280)
    found: list[str] = []
    for address in house.hostile[:48:8]:
        for panel in ("edit", "reject", "scope"):
            page.goto(f"{house.home}{address}&panel={panel}")
            found += faults(page, f"{address} {panel}")
    for payload in PAYLOADS[:42:7]:
        page.goto(f"{house.home}/p/hostile/memory")
        page.locator("#q").fill(payload)
        page.locator("#q").press("Enter")
        expect(page.locator(".chip").first).to_be_visible()
        found += faults(page, f"search {payload[:30]}")
    assert not found, "\n".join(found)
    assert sprung == []


def test_the_cards_work_in_the_midst_of_it(house: House) -> None:
    page, sprung = watched(house, 1280)
    page.goto(f"{house.home}/p/hostile/review")
    for _ in range(6):
        before = page.locator("article.sheet").get_attribute("id") or ""
        page.keyboard.press("x")
        expect(page.locator(".reasons")).to_be_visible()
        page.keyboard.press("8")
        expect(page.locator(f"#{before}")).to_have_count(0, timeout=20_000)
        expect(page.locator("h1")).to_be_focused()
        assert faults(page, before) == []
    # A sentence that hides characters cannot be approved.
    page.goto(f"{house.home}/p/looks/review?{house.looks['hidden'].partition('?')[2]}")
    expect(page.get_by_role("button", name="Approve")).to_be_disabled()
    expect(page.locator(".hidden-char").first).to_have_text("U+202E RIGHT-TO-LEFT OVERRIDE")
    assert sprung == []
