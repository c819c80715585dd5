"""Every page of the desk in both themes and widths: what axe finds, what does not fit, what is hidden."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Literal

import pytest
from playwright.sync_api import Page, ViewportSize, expect

from tests.browser import axe, layout
from tests.browser.conftest import House

pytestmark = [pytest.mark.browser, pytest.mark.process, pytest.mark.xdist_group("house"), pytest.mark.timeout(300)]

# Set to a folder, it keeps a picture of every page, to be looked at.
PICTURES = os.environ.get("COUNTERSIGN_TEST_PICTURES", "")
# Set to a pattern, only the pages whose names match are opened: for whoever works on one of them.
ONLY = os.environ.get("COUNTERSIGN_TEST_PAGES", "")

CARDS = (
    "promise",
    "changes",
    "terminal",
    "arabic",
    "chinese",
    "long",
    "wide",
    "hidden",
    "private",
    "mismatch",
    "often",
    "conflict",
    "same",
    "standing",
    "still",
    "complaint",
    "cluster",
    "cluster-live",
    "drawn",
)
# A sentence and a quote of hundreds of letters without a space may be scrolled.
FITTING = set(CARDS) - {"wide"}
OTHERS = (
    "imported",
    "rejected",
    "approved",
    "replaced",
    "transcript",
    "talk",
    "brief",
    "subject",
    "subject-proposed",
    "simulated",
    "simulated-why",
    "served",
    "impact",
    "let-in",
    "stop-fact",
    "stop-withdraw",
    "stop-pause",
    "stop-origin",
    "config",
    "config-empty",
    "risky",
    "risky-open",
    "personal",
    "japanese",
    "thai",
    "token",
    "lines",
    "encoded",
    "like",
    "gone",
    "leased",
    "before",
    "given",
    "two",
    "two-open",
)
PAGES = {
    "pile-list": "/p/looks/review?as=list",
    "pile-held": "/p/many/review/held",
    "pile-held-due": "/p/looks/review/held?what=due",
    "pile-held-none": "/p/unconnected/review/held",
    "find": "/find",
    "agents": "/p/stop/agents",
    "memory": "/p/looks/memory",
    "proposed": "/p/looks/memory?view=proposed&q=postgres&type=environment&agent=support",
    "memory-many": "/p/many/memory",
    "memory-many-proposed": "/p/many/memory?view=proposed",
    "decided": "/p/many/review/decided",
    "decided-empty": "/p/unheard/review/decided",
    "no-match": "/p/looks/memory?q=zebra",
    "subjects": "/p/told/subjects",
    "subjects-empty": "/p/unconnected/subjects",
    "sessions": "/p/looks/sessions",
    "sessions-none": "/p/looks/sessions?state=failed",
    "briefs": "/p/looks/briefs",
    "unconnected": "/p/unconnected/review",
    "unheard": "/p/unheard/review",
    "talking": "/p/talking/review",
    "forgotten": "/p/forgotten/review",
    "memory-empty": "/p/unheard/memory",
    "sessions-empty": "/p/unheard/sessions",
    "briefs-empty": "/p/unheard/briefs",
    "new": "/p/looks/memory/new",
    "policy": "/p/looks/policy",
    "practice": "/p/looks/practice",
    "practice-speech": "/p/looks/practice?n=2",
    "practice-reject": "/p/looks/practice?n=3&panel=reject",
    "practice-told": "/p/looks/practice?n=3&answer=reject",
    "practice-told-wrong": "/p/looks/practice?n=2&answer=approve",
    "profile": "/profile",
    "types": "/p/looks/types",
    "distiller": "/p/looks/distiller",
    "spending": "/p/looks/spending",
    "spending-empty": "/p/unheard/spending",
    "runs": "/p/looks/runs",
    "runs-empty": "/p/unheard/runs",
    "scorecard": "/p/looks/scorecard",
    "scorecard-empty": "/p/unheard/scorecard",
    "transfer": "/p/kinds/transfer",
    "insights": "/p/history/insights",
    "insights-new": "/p/looks/insights",
    "insights-empty": "/p/unheard/insights",
    "notices": "/p/together/notices",
    "notices-member": "/p/looks/notices",
    "saved-view": "/p/together/memory?agent=support&type=fix",
    "save-view": "/p/together/memory?type=fix",
    "filtered": "/p/kinds/memory/filtered",
    "filtered-empty": "/p/unheard/memory/filtered",
}
SIZES: tuple[ViewportSize, ...] = ({"width": 1280, "height": 800}, {"width": 390, "height": 844})
# The order in which a page is looked at: each step changes one thing.
ORDER: tuple[tuple[Literal["light", "dark"], tuple[ViewportSize, ...]], ...] = (("light", SIZES), ("dark", SIZES[::-1]))
HAS_THEME = {"light": re.compile(r"^\s*js\s*$"), "dark": re.compile(r"\bdark\b")}
# So many tests share the pages, so that none of them comes near its limit of time on a busy machine.
PARTS = 4
# Pixels from the top where the bar at the foot of a card begins, at 800.
BAR = 743


def addresses(house: House) -> dict[str, str]:
    found = {name: house.looks[name] for name in (*CARDS, *OTHERS)} | PAGES
    for panel in ("edit", "reject", "note", "scope", "later", "same"):
        found[f"panel-{panel}"] = f"{house.looks['promise']}&panel={panel}"
    return {name: address for name, address in found.items() if re.search(ONLY, name)}


def faults(page: Page, name: str) -> list[str]:
    found = [f"{name}: {fault}" for fault in axe.faults(page)]
    width, height = page.evaluate("[innerWidth, document.documentElement.scrollHeight]")
    found += [f"{name}: {element} makes the page scroll sideways" for element in layout.too_wide(page)]
    if width == 1280 and name in FITTING and height > 800:
        found.append(f"{name}: a card of {height} pixels does not fit a screen of 800")
    if width == 1280 and name in FITTING:
        for mark in page.locator("mark:visible").all():
            box = mark.bounding_box()
            if box is None or box["y"] + box["height"] > BAR:
                found.append(f"{name}: a quote is not wholly visible")
    return found


@pytest.mark.parametrize("part", range(PARTS))
def test_every_page_is_whole_and_readable(house: House, part: int) -> None:
    """Each page is loaded once, as a person sees it who follows the system: it is made narrow, and then dark."""
    page = house.browser_of("rita", theme="system")
    found: list[str] = []
    for name, address in list(addresses(house).items())[part::PARTS]:
        page.emulate_media(color_scheme="light")
        page.set_viewport_size(SIZES[0])
        answer = page.goto(house.home + address)
        assert answer is not None
        assert answer.status == 200, name
        for theme, sizes in ORDER:
            page.emulate_media(color_scheme=theme)
            expect(page.locator("html")).to_have_class(HAS_THEME[theme])
            for size in sizes:
                layout.resize(page, size["width"], size["height"])
                found += [f"{fault} ({size['width']} wide, {theme})" for fault in faults(page, name)]
                if PICTURES:
                    page.screenshot(path=Path(PICTURES) / f"{name}-{size['width']}-{theme}.png")
    assert not found, "\n".join(found)


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_the_theme_that_a_person_chose_holds_against_the_system(house: House, theme: str) -> None:
    page = house.browser_of("rita", theme=theme)
    page.emulate_media(color_scheme="light" if theme == "dark" else "dark")
    page.goto(house.home + house.looks["promise"])
    expect(page.locator("html")).to_have_class(HAS_THEME[theme])
    assert not faults(page, theme)


@pytest.mark.parametrize("width", [1280, 390])
def test_the_first_rows_of_a_table_are_seen_where_its_columns_are_told(house: House, width: int) -> None:
    page = house.browser_of("rita", width=width)
    page.goto(f"{house.home}/p/kinds/transfer")
    table = (
        "Number;Remark;Client\n1;Answers go out in German.;customer:cust_77\n2;Bills go out by post.;customer:cust_78\n"
    )
    page.get_by_label("File").set_input_files({"name": "n.csv", "mimeType": "text/csv", "buffer": table.encode()})
    page.get_by_role("button", name="Bring them in").click()
    shown = page.get_by_role("region", name="The first rows")
    expect(shown.get_by_text("Bills go out by post.")).to_be_visible()
    frame, last = shown.bounding_box(), shown.locator("tr").last.bounding_box()
    assert frame is not None
    assert last is not None
    assert last["y"] + last["height"] <= frame["y"] + frame["height"]
    assert not faults(page, "columns")


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_a_link_that_is_the_main_button_is_readable(house: House, theme: str) -> None:
    page = house.browser_of("rita", theme=theme)
    decided = house.looks["approved"].rpartition("/")[2]
    for address, status, words in (
        (f"/p/looks/review?card={decided}&panel=edit", 409, "Next card"),
        ("/password/reset/key/1-gone-already", 200, "Send a new link"),
    ):
        answer = page.goto(house.home + address)
        assert answer is not None
        assert answer.status == status
        button = page.get_by_role("link", name=words)
        expect(button).to_be_visible()
        assert not axe.faults(page)
        button.hover()
        assert not axe.faults(page)
    house.complaints[:] = [words for words in house.complaints if "status of 409" not in words]


def test_the_sentence_is_the_largest_and_darkest_thing_on_a_card(house: House) -> None:
    page = house.browser_of("rita")
    page.goto(house.home + house.looks["promise"])
    size = "element => parseFloat(getComputedStyle(element).fontSize)"
    sentence = page.locator("h1").evaluate(size)
    assert sentence == 22
    assert all(other.evaluate(size) < sentence for other in page.locator("#desk :not(h1, h1 *)").all())
    dark = page.locator("h1").evaluate("element => getComputedStyle(element).color")
    assert dark == page.locator("body").evaluate("element => getComputedStyle(element).color")


def test_the_numbers_of_a_card_add_up(house: House) -> None:
    page = house.browser_of("rita")
    page.goto(house.home + house.looks["promise"])
    waiting = int(page.locator(".top .n").first.inner_text())
    done, _, total = page.locator(".pile .nowrap").inner_text().split(" · ")[0].partition(" of ")
    assert int(total) - int(done) == waiting
    page.goto(f"{house.home}/p/looks/memory?view=proposed")
    expect(page.locator(".views [aria-current] span")).to_have_text(str(waiting))
    expect(page.locator("tbody tr")).to_have_count(waiting)


def test_the_tokens_of_a_brief_add_up(house: House) -> None:
    page = house.browser_of("rita")
    page.goto(house.home + house.looks["brief"])
    lines = [int(cost) for cost in page.locator(".lines .r span:last-child").all_inner_texts()]
    shares = page.locator(".budget dd").all_inner_texts()
    free, _, budget = shares[-1].partition(" of ")
    assert sum(lines) == sum(int(share) for share in shares[:-1]) == int(budget) - int(free)


def test_a_quote_in_the_middle_of_a_long_result_is_shown_and_the_rest_folded(house: House) -> None:
    page = house.browser_of("rita")
    page.goto(house.home + house.looks["terminal"])
    shown = page.locator(".term").inner_text()
    assert "connection to server at localhost, port 5432 failed" in shown
    assert "… 40 lines" in shown
    assert "exit 1" in shown
    assert "module_3.py" not in shown


def test_a_quote_that_is_not_in_its_source_cannot_be_approved(house: House) -> None:
    page = house.browser_of("rita")
    page.goto(house.home + house.looks["mismatch"])
    expect(page.get_by_role("button", name="Approve")).to_be_disabled()
    expect(page.locator(".flag").first).to_contain_text("The quote is not in its source.")


def test_a_memory_is_withdrawn_and_brought_back_on_its_page(house: House) -> None:
    page = house.browser_of("rita")
    page.goto(house.home + house.looks["approved"])
    page.get_by_role("link", name="Withdraw X").click()
    page.get_by_role("button", name="Out of date soon").click()
    expect(page.locator(".kind b")).to_have_text("Withdrawn")
    expect(page.locator("tbody").first).to_contain_text("No")
    page.locator(".hist").get_by_role("button", name="Undo").click()
    expect(page.locator(".kind b")).to_have_text("Approved")
