"""A quote must be verbatim, and must stand where evidence may stand."""

from __future__ import annotations

import hashlib
from dataclasses import replace

import pytest

from memory.grounding import Dropped, Grounded, ground, unsupported_words
from memory.transcript import Candidate, Quote, Seen

SAID = Seen(1, "message", "user", "Never restart kestrel before 18:00.")
QUOTE = Quote(1, 0, 21, "Never restart kestrel")


def candidate(*quotes: Quote, text: str = "Never restart kestrel before 18:00.") -> Candidate:
    return Candidate("user_preference", "user_preference:restart", "x", text, quotes)


def test_a_verbatim_quote_is_kept_with_its_hash() -> None:
    result = ground(candidate(QUOTE), {1: SAID})
    assert isinstance(result, Grounded)
    assert result.quotes[0].sha256 == hashlib.sha256(b"Never restart kestrel").hexdigest()


@pytest.mark.parametrize(
    ("quote", "reason"),
    [
        (replace(QUOTE, text="Never restart falcon."), "not_verbatim"),
        (replace(QUOTE, start=1, end=22), "not_verbatim"),
        (replace(QUOTE, end=9_999), "not_verbatim"),
        (replace(QUOTE, start=-35, end=-14), "not_verbatim"),
        (replace(QUOTE, start=5, end=6, text=" "), "empty_quote"),
        (replace(QUOTE, ref=2), "unknown_observation"),
    ],
)
def test_a_quote_that_is_not_there_drops_the_candidate(quote: Quote, reason: str) -> None:
    result = ground(candidate(QUOTE, quote), {1: SAID})
    assert isinstance(result, Dropped)
    assert result.reason == reason


def test_a_candidate_without_a_quote_is_dropped() -> None:
    result = ground(candidate(), {1: SAID})
    assert isinstance(result, Dropped)
    assert result.reason == "no_quote"


@pytest.mark.parametrize(
    ("seen", "reason"),
    [
        (replace(SAID, kind="brief"), "kind_brief"),
        (replace(SAID, kind="summary"), "kind_summary"),
        (replace(SAID, kind="meta"), "kind_meta"),
        (replace(SAID, kind="usage"), "kind_usage"),
        (replace(SAID, kind="context_lookup"), "kind_context_lookup"),
        (replace(SAID, role="system"), "role_system"),
        (replace(SAID, sidechain=True), "sidechain_prompt"),
        (replace(SAID, text=SAID.text + "\n# What is known · project shop · for agent support\n"), "own_brief"),
    ],
)
def test_what_no_person_or_tool_said_is_never_evidence(seen: Seen, reason: str) -> None:
    result = ground(candidate(QUOTE), {1: seen})
    assert isinstance(result, Dropped)
    assert result.reason == reason


def test_a_result_inside_a_sub_agent_is_evidence() -> None:
    seen = replace(SAID, kind="tool_result", role="tool", sidechain=True)
    assert isinstance(ground(candidate(QUOTE), {1: seen}), Grounded)


@pytest.mark.parametrize(
    ("text", "quoted", "missing"),
    [
        ("Never restart kestrel before 18:00.", "Never restart kestrel before 18:00.", ()),
        ("The customer moved to Dallas on 2026-11-09.", "we moved to Dallas", ("2026-11-09",)),
        ("Ana restarts kestrel 5433 times nightly.", "restart kestrel", ("5433", "Ana", "times", "nightly")),
        ("Retries use one key.", "every retry makes one key", ()),
        ("Likes the red one, moved and writes.", "I like it red; move, write", ()),
        ("Costs $118.40 and 4,000 points.", "costs", ("$118.40", "4,000", "points")),
        ("Costs $118.40.", "it costs 118.40 dollars", ()),
        ("Parcels ship to Turkey. Customs: NVE asks.", "no delivery", ("Turkey", "NVE", "Parcels", "ship", "Customs")),
        ("启动时设置 PORT=8080。", "启动时设置 PORT", ("8080",)),
    ],
)
def test_words_that_no_quote_holds_are_named_numbers_and_names_first(
    text: str, quoted: str, missing: tuple[str, ...]
) -> None:
    assert unsupported_words(text, [Quote(1, 0, len(quoted), quoted)]) == missing


@pytest.mark.parametrize(
    ("text", "quote", "missing"),
    [
        ("تفضّل ليلى حدّاد العربية.", "تفضّل ليلى العربية", ("حدّاد",)),
        ("ลูกค้าต้องการอีเมล", "กรุณาติดต่อทางอีเมล", ()),
    ],
)
def test_a_word_is_whole_in_every_script(text: str, quote: str, missing: tuple[str, ...]) -> None:
    assert unsupported_words(text, [Quote(1, 0, len(quote), quote)]) == missing
