"""Every payload in every field, on every page, in a real browser: text stays text, and nothing it says happens.

The pages are read from the address configuration, so that a new one cannot be forgotten. Each is loaded once with the
payloads, and a few of each kind once more in a twin project whose words are the same but for the characters that
make markup: both are built of the same nodes, or a payload became one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from urllib.parse import quote, urlsplit

import pytest
from playwright.sync_api import Error, Page, ViewportSize, expect

from tests.browser import layout
from tests.browser.conftest import House
from tests.browser.payloads import PAYLOADS
from tests.test_guards import addresses

pytestmark = [pytest.mark.browser, pytest.mark.process, pytest.mark.xdist_group("house"), pytest.mark.timeout(900)]

# Elements no page of ours has, and attributes none of ours may carry.
FOREIGN = (
    "[data-trap], iframe, object, embed, base, img, video, audio, math, style, animate, hx-partial, meta[http-equiv],"
    " template[shadowrootmode], foreignObject, script:not([src]), link[rel=prefetch], [onload], [onerror], [onfocus],"
    " [ontoggle], [onbegin], [ping], [background], form:not([action^='/']):not([method]):not([role]),"
    " [href^='javascript:'], [href^='data:'], [href^='//'], [href^='/trap'], [src^='/trap'], [action^='/trap'],"
    " [hx-get^='/trap'], [hx-post^='/trap'], [hx-put], [data-hx-post], [data-hx-get]"
)
SHORT = "element => element.outerHTML.slice(0, 120)"
# What a page is built of: each element with its class and the names of its attributes. Left out is what a finding adds
# (a box, a flag, an underline), for the twin has fewer findings, and what a brief would hold: its tokens are others.
NODES = """(within) => {
    const told = ".box, .flag, .masked, #impact, script";
    const all = [...document.querySelectorAll(within)].filter((one) => !one.closest(told) && one.tagName !== "U");
    const names = (one) => one.getAttributeNames().sort().join(" ");
    return all.map((one) => [one.tagName, one.getAttribute("class") ?? "", names(one)].join("|"));
}"""
EVERYWHERE = "body *"
# Where agents' texts stand at length: here the two pages are built alike, node by node.
TEXTS = "article.sheet *, .lines *, .talk *"
# What stands inside an agent's words: marks of ours, and nothing else.
INSIDE = (
    "bdi :not(mark, u, del, ins, span.box, span.gap, span.nowrap, span.masked, span.box bdi, code, sup, sup *, mark *)"
)
# Pages without a word of anybody, and the ones that end the session they are opened in.
WORDLESS = {
    "healthz",
    "readyz",
    "api/v1/openapi.json",
    "sign-in",
    "sign-out",
    "welcome",
    "account/inactive",
}
# Pages of the whole installation: for an operator.
OPERATORS = {"health", "projects/new"}
# Lists take these besides, and so repeat what was asked.
ASKED = {
    "p/<slug:slug>/memory": [
        "?view=approved",
        "?view=proposed",
        "?view=rejected",
        "?view=ended",
        "?q={}",
        "?subject={}",
    ],
    "p/<slug:slug>/review": ["?as=list", "?card={}", "?words={}"],
    "p/<slug:slug>/memory/new": ["?text={}"],
    "find": ["?q={}"],
}
# How many of a route's first and of its last addresses are opened in the twin too: what lies between is built alike.
FIRST, LAST = 2, 7
FORMATS = ("jsonl", "json", "csv", "md")


def routes() -> list[str]:
    """The routes of the product without anchors, the agents' API apart: it answers to a key."""
    found = [route.replace("^", "").replace("$", "") for route in addresses()]
    return [route for route in found if not route.startswith(("api/", "password/"))]


def visits(route: str, project: dict[str, object], words: str) -> list[str]:
    """The addresses at which a page with this route is opened in a project; [] where nobody knows one."""
    slug, known = str(project["slug"]), project["addresses"]
    assert isinstance(known, dict)
    made = list(known.get(route, []))
    if not made and re.fullmatch(r"(?:[^<]|<slug:slug>|<slug:agent>|<str:name>)*", route):
        filled = route.replace("<slug:slug>", slug).replace("<slug:agent>", "support").replace("<str:name>", "odd")
        made = [f"/{filled}"]
    if not made:
        whose = {"facts/<str:short_id>": "facts/<str:short_id>", "sessions/<str:short_id>": "sessions/<str:short_id>"}
        for start, first in whose.items():
            if route.startswith(f"{start}/"):
                made = [known[first][0] + route.removeprefix(start)]
        if route.startswith("briefs/<str:short_id>/"):
            made = [known["briefs/<str:short_id>"][0] + route.removeprefix("briefs/<str:short_id>")]
        if route.startswith("imports/<str:short_id>/"):
            made = [known["imports/<str:short_id>"][0] + route.removeprefix("imports/<str:short_id>")]
    plain = f"/{route.replace('<slug:slug>', slug)}"
    # Half a letter cannot be written in an address.
    asked = quote(words.encode("utf-8", "replace"))
    return made + [plain + ask.format(asked) for ask in ASKED.get(route, [])]


def is_trap(url: str) -> bool:
    parts = urlsplit(url)
    return parts.path.startswith("/trap") or parts.hostname != "localhost"


def watched(house: House, who: str = "rita") -> tuple[Page, list[str]]:
    page = house.browser_of(who)
    sprung: list[str] = []
    page.context.on("request", lambda request: sprung.append(request.url) if is_trap(request.url) else None)
    page.on("dialog", lambda dialog: (sprung.append(f"dialog {dialog.message}"), dialog.dismiss()))
    return page, sprung


WIDE, NARROW = ViewportSize(width=1280, height=800), ViewportSize(width=390, height=844)
# All that is asked of a page at once: [foreign elements, elements in words, what a script left].
LOOK = """([foreign, inside]) => {
    const short = (words) => [...document.querySelectorAll(words)].map((element) => element.outerHTML.slice(0, 120));
    return [short(foreign), short(inside), window.trap ?? null];
}"""


def faults(page: Page, address: str, sizes: Sequence[ViewportSize] = (NARROW, WIDE)) -> list[str]:
    """What is wrong with the page; it keeps the last of the sizes. What fits a phone seldom fails to fit a desk."""
    found = []
    foreign, inside, ran = page.evaluate(LOOK, [FOREIGN, INSIDE])
    if foreign:
        found.append(f"{address}: {len(foreign)} foreign elements, such as {foreign[0]}")
    if inside:
        found.append(f"{address}: {len(inside)} elements in words, such as {inside[0]}")
    if ran is not None:
        found.append(f"{address}: script {ran} ran")
    for size in sizes:
        layout.resize(page, size["width"], size["height"])
        sideways = layout.too_wide(page)
        found += [f"{address}: {element} makes the page scroll sideways, {size['width']} wide" for element in sideways]
    return found


def differences(mine: list[str], twins: list[str], address: str) -> Iterator[str]:
    """The first node in which the texts of the two pages are built otherwise."""
    if mine == twins:
        return
    for place, (one, other) in enumerate(zip(mine, twins, strict=False)):
        if one != other:
            yield f"{address}: node {place} is {one}, in the twin {other}"
            return
    yield f"{address}: {len(mine)} nodes, in the twin {len(twins)}"


def nodes(page: Page, within: str) -> list[str]:
    found: list[str] = page.evaluate(NODES, within)
    return found


def open_page(page: Page, url: str) -> int:
    """Opens an address as a person does; the status. A download, and what only a POST may ask, is not shown."""
    try:
        shown = page.goto(url)
    except Error as refused:
        # A file is kept, not shown.
        if "Download is starting" in refused.message:
            return 404
        # Chromium shows a page of its own for a status without a body.
        if "ERR_HTTP_RESPONSE_CODE_FAILURE" in refused.message:
            page.wait_for_url("chrome-error://chromewebdata/")
            # Or the next one of its kind would be taken for this one, while its own page is still to come.
            page.goto("about:blank")
            return page.request.get(url, max_redirects=0).status
        raise
    assert shown is not None
    return shown.status


@pytest.fixture(autouse=True)
def statuses_are_no_complaints(house: House) -> Iterator[None]:
    """Addresses that only take a POST are opened here too, and Chromium writes each such answer to the console."""
    yield
    expected = re.compile(r"the server responded with a status of (404|405|409|422)\b")
    house.complaints[:] = [words for words in house.complaints if not expected.search(words)]


def test_there_are_payloads_enough() -> None:
    assert len(set(PAYLOADS)) >= 60


def test_every_page_has_a_visit(house: House) -> None:
    """A new address fails here until its place in a hostile project is known."""
    page = house.browser_of("rita")
    missing = []
    for route in routes():
        if route in WORDLESS or visits(route, house.hostile, "x"):
            continue
        # What only takes a POST shows no page of its own.
        filled = re.sub(r"<slug:slug>", "hostile", re.sub(r"<(?!slug:slug)[^>]+>", "1", route))
        if page.request.get(f"{house.home}/{filled}", max_redirects=0).status != 405:
            missing.append(route)
    assert missing == []


def test_no_payload_becomes_more_than_text(house: House) -> None:
    page, sprung = watched(house)
    twin, _ = watched(house)
    twin.set_viewport_size(NARROW)
    found: list[str] = []
    shown = 0
    here: dict[str, str] = {}
    there: set[str] = set()
    operator, _ = watched(house, "hostile")
    for address in (f"/{route}" for route in routes() if route in OPERATORS):
        assert open_page(operator, house.home + address) == 200
        found += faults(operator, address)
    for route in routes():
        if route in WORDLESS or route in OPERATORS:
            continue
        words = PAYLOADS[len(route) % len(PAYLOADS)]
        mine = visits(route, house.hostile, words)
        theirs = visits(route, house.twin, words)
        for number, (address, other) in enumerate(zip(mine, theirs, strict=True)):
            status = open_page(page, house.home + address)
            if status != 200 or page.url == "about:blank":
                if status not in (302, 404, 405, 409, 422):
                    found.append(f"{address}: {status}")
                continue
            shown += 1
            compared = number < FIRST or number >= len(mine) - LAST
            found += faults(page, address, (WIDE, NARROW) if compared else (NARROW,))
            shapes = nodes(page, EVERYWHERE)
            here |= dict.fromkeys(shapes, address)
            # A shape that the twin has not shown yet is looked for where its own words stand.
            if not (compared or set(shapes) - there) or open_page(twin, house.home + other) != 200:
                continue
            there |= set(nodes(twin, EVERYWHERE))
            # What is looked for is found in other places there: markup is no word to the search.
            if not ("?" in address and route in ASKED and "card=f-" not in address):
                found += differences(nodes(page, TEXTS), nodes(twin, TEXTS), address)
    assert shown > 60
    # No element of a kind that no harmless page has.
    found += [f"{here[shape]}: {shape} is on no page of the twin" for shape in sorted(here.keys() - there)]
    # In ASCII: half a letter would end the whole run.
    assert not found, ascii("\n".join(found))
    assert sprung == []


def test_no_export_and_no_answer_of_the_api_becomes_a_page(house: House) -> None:
    page, sprung = watched(house)
    base = f"{house.home}/p/hostile/memory/export"
    seen = 0
    for kind in FORMATS:
        for view in ("approved", "proposed"):
            answer = page.request.get(f"{base}?format={kind}&view={view}")
            if answer.status == 404:
                continue
            seen += 1
            assert answer.headers["content-disposition"].startswith("attachment")
            assert answer.headers["x-content-type-options"] == "nosniff"
            assert not answer.headers["content-type"].startswith("text/html")
    assert seen >= 4
    # An agent's answer, opened in a browser's window: one block of text.
    context = house.chromium.new_context(extra_http_headers={"Authorization": f"Bearer {house.hostile['key']}"})
    context.on("request", lambda request: sprung.append(request.url) if is_trap(request.url) else None)
    window = context.new_page()
    fact = house.hostile["addresses"]["facts/<str:short_id>"][-4].rpartition("/")[2]
    for address in (f"facts/{fact}", "facts?key=note:*", "brief?max_tokens=4000", "me"):
        answered = window.goto(f"{house.home}/api/v1/{address}")
        assert answered is not None
        assert answered.headers["content-type"].startswith(("application/json", "application/problem+json"))
        assert window.locator(FOREIGN).count() == 0
        assert window.evaluate("window.trap ?? null") is None
        # Chromium shows JSON in one block, beside a box of its own.
        assert window.locator("body > pre").count() == 1
        assert window.locator("pre *").count() == 0
    context.close()
    assert sprung == []


def test_the_panels_stay_text_too(house: House) -> None:
    page, sprung = watched(house)
    found: list[str] = []
    cards = house.hostile["addresses"]["p/<slug:slug>/review"]
    for address in cards[:70:23]:
        for panel in ("edit", "reject", "scope", "later", "same", "before", "note"):
            page.goto(f"{house.home}{address}&panel={panel}")
            found += faults(page, f"{address} {panel}")
    assert not found, "\n".join(found)
    assert sprung == []


def test_the_cards_work_in_the_midst_of_it(house: House) -> None:
    page, sprung = watched(house)
    for address in house.hostile["addresses"]["p/<slug:slug>/review"][2:8]:
        page.goto(house.home + address)
        before = page.locator("article.sheet").get_attribute("id") or ""
        page.keyboard.press("x")
        expect(page.locator(".reasons")).to_be_visible()
        page.keyboard.press("8")
        expect(page.locator(f"#{before}")).to_have_count(0, timeout=20_000)
        expect(page.locator("h1")).to_be_focused(timeout=20_000)
        assert faults(page, before) == []
    # A sentence that hides characters cannot be approved.
    page.goto(f"{house.home}/p/looks/review?{house.looks['hidden'].partition('?')[2]}")
    expect(page.get_by_role("button", name="Approve")).to_be_disabled()
    expect(page.locator(".box").first).to_have_text("U+202E right-to-left override")
    assert sprung == []
