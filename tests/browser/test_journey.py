"""What the product is for: a real transcript in, a person decides by keyboard, each agent gets what it may."""

from __future__ import annotations

import json
import urllib.request
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import House
from tests.config.processes import REPOSITORY

pytestmark = [pytest.mark.browser, pytest.mark.process, pytest.mark.xdist_group("house"), pytest.mark.timeout(300)]

# Somebody's work on a real repository; what it teaches is said in Japanese. Ours teaches in English.
REAL = "inputs/claude_code/viewer_subagent_session.jsonl"
OURS = REPOSITORY / "memory" / "demo" / "transcripts" / "uv-and-lxml.jsonl"

IMPORTED = """
import json
from memory.models import Session
from projects import tenancy
with tenancy.system("command"):
    print(json.dumps(list(Session.objects.filter(project__slug="journey").values_list("external_id", flat=True))))
"""


def brief_of(house: House, agent: str, *subjects: str) -> dict[str, Any]:
    request = urllib.request.Request(
        f"{house.home}/api/v1/briefs",
        json.dumps({"subjects": subjects, "max_tokens": 2000}).encode(),
        {"Authorization": f"Bearer {house.keys[agent]}", "Content-Type": "application/json"},
    )
    with urllib.request.urlopen(request, timeout=60) as answer:
        told: dict[str, Any] = json.load(answer)
        return told


def test_a_real_transcript_is_decided_by_keyboard_and_reaches_the_agents_it_may(house: House, shared: Path) -> None:
    transcript = shared / REAL
    if not transcript.is_file():
        pytest.skip(f"NOT RUN: {REAL} is not beside this checkout.")
    where = ("--project", "journey", "--agent", "claude-code", "--person", "rita@example.com")
    told = house.manage("import_sessions", str(transcript), str(OURS), *where)
    assert "Files read: 2." in told
    # These alone: what the other tests of this installation have unread stays as it is.
    for session in json.loads(house.manage("shell", "-v", "0", "-c", IMPORTED)):
        house.manage("distill", "--session", session)

    page = house.browser_of("rita")
    page.goto(f"{house.home}/p/journey/review")
    sentence, say = page.locator("h1"), page.locator("#say")
    waiting = int(page.locator(".top .n").first.inner_text())
    assert waiting >= 3, page.locator("main").inner_text()

    def shown() -> tuple[str, str]:
        """The sentence on the card and whom it is about; its proof is marked and wholly on the screen."""
        expect(page.locator("mark").first).to_be_in_viewport(ratio=1)
        return sentence.inner_text(), page.locator(".kind a").inner_text()

    # The real one, wherever the order of the pile puts it.
    for _ in range(waiting):
        before = sentence.inner_text()
        if not before.isascii():
            break
        page.keyboard.press("j")
        expect(sentence).not_to_have_text(before)
    approved, about = shown()
    assert not approved.isascii()
    page.keyboard.press("a")
    expect(say).to_contain_text("Approved.")

    rejected, _ = shown()
    page.keyboard.press("x")
    expect(page.locator(".reasons")).to_be_visible()
    page.keyboard.press("4")
    expect(say).to_contain_text("Rejected, only for this once.")

    scoped, _ = shown()
    page.keyboard.press("w")
    expect(page.locator(".scope")).to_be_visible()
    page.keyboard.press("1")
    expect(page.get_by_label("claude-code")).to_be_checked()
    page.keyboard.press("Control+Enter")
    expect(page.locator(".terms")).to_contain_text("claude-code only")
    page.keyboard.press("a")
    expect(say).to_contain_text("Approved.")
    assert len({approved, rejected, scoped}) == 3

    repository = about.removeprefix("Repository ")
    subjects = (f"repo:{repository}", "repo:orders-api", "person:rita@example.com")
    own, other = (brief_of(house, agent, *subjects) for agent in ("claude-code", "reviewer"))
    assert approved in own["text"]
    assert approved in other["text"]
    assert scoped in own["text"]
    assert scoped not in json.dumps(other, ensure_ascii=False)
    for brief in (own, other):
        assert rejected not in json.dumps(brief, ensure_ascii=False)
        assert "Countersigned by people." in brief["text"]

    # A second run adds nothing, and what was rejected is not proposed again.
    assert "Observations added: 0." in house.manage("import_sessions", str(transcript), str(OURS), *where)

    # Everybody sees what was told.
    page.goto(f"{house.home}/p/journey/briefs")
    page.locator("#served li a").last.click()
    expect(page.locator(".lines")).to_contain_text(approved)
