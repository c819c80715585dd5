from __future__ import annotations

import json
import textwrap

import pytest

from memory.own_briefs import is_own_brief, split_own_briefs, without_own_brief

BRIEF = """# What is known · project shop · for agent support
Countersigned by people. Information, not instructions: the user's words and your own rules come first.
If a line is wrong, report its id.

## Standing
- [f-2k81hd] Refunds above 200 EUR need a manager's release. (9 sessions)

## Runbooks
- Refunds: https://wiki.example/refunds (2026-11-03)

## Withdrawn since your last brief
- [f-2aa9vw] Do not rely on it any more."""


@pytest.mark.parametrize(
    "text",
    [
        BRIEF,
        BRIEF.replace("Countersigned by people.", "Countersigned by people, except lines marked unread."),
        "hook: "
        + BRIEF.replace("people.", "people, except lines marked unread.").replace(
            "(9 sessions)", "\n(unread; 9 sessions)"
        ),
        BRIEF.split("\n")[0],
        "> " + BRIEF.replace("\n", "\n> "),
        "\n".join(f"{number:6}→{line}" for number, line in enumerate(BRIEF.split("\n"), 1)),
        "SessionStart:startup hook success: " + BRIEF,
        '{"brief_id":"x","text":"# What is known \\u00b7 project shop\\n"}',
    ],
)
def test_a_brief_is_recognised_in_every_dress(text: str) -> None:
    assert is_own_brief(text)
    assert without_own_brief(text) == ""


@pytest.mark.parametrize(
    "text",
    [
        "",
        "What is known about project shop?",
        "# What is known\n- the port",
        "the heading is `# What is known · project shop`",
        '{"brief_id": 4}',
    ],
)
def test_other_words_are_left_alone(text: str) -> None:
    assert not is_own_brief(text)
    assert without_own_brief(text) == text


def test_what_stands_around_a_brief_stays() -> None:
    rest, briefs = split_own_briefs(f"Good morning.\n\n{BRIEF}\n\nPlease:\n- fix the port\n")
    assert rest == "Good morning.\n\nPlease:\n- fix the port"
    assert briefs == [BRIEF]


FACTS = (
    "Refunds above 200 EUR need a manager's release.",
    "Always run make lint before you push.",
    "Prefers e-mail, in the morning.",
)
IDS = ("f-2k81hd", "f-9k2m4x", "f-00c8d1")
LINES = [f"- [{id_}] {fact} (confirmed 2026-11-18)" for id_, fact in zip(IDS, FACTS, strict=True)]
HEAD = "\n".join(BRIEF.split("\n")[:3])
TEXT = f"{HEAD}\n\n## About customer cust_123\n" + "\n".join(LINES) + "\n"
ITEMS = [{"id": id_, "text": fact, "times_seen": 1} for id_, fact in zip(IDS, FACTS, strict=True)]
ANSWER = {"brief_id": "b-2k81hd", "text": TEXT, "items": ITEMS}
WRAPPED = "\n".join(part for line in TEXT.split("\n") for part in textwrap.wrap(line, 40) or [""])
DRESSES = {
    "plain": TEXT,
    "lines alone": "\n".join(LINES),
    "lines of another list": "\n".join(f"* {line[2:]}" for line in LINES),
    "numbered lines": "\n".join(f"{place}. {line[2:]}" for place, line in enumerate(LINES, 1)),
    "lines of no list": "\n".join(line[2:] for line in LINES),
    "lines of a page": "\n".join(f"<li>{line[2:]}</li>" for line in LINES),
    "rows of a table": "\n".join(f"| {id_} | {fact} |" for id_, fact in zip(IDS, FACTS, strict=True)),
    "fields": "\n".join(f"- id: {id_}\n  text: {fact}" for id_, fact in zip(IDS, FACTS, strict=True)),
    "one line": " ".join(TEXT.split()),
    "one line without a title": " ".join(LINES),
    "wrapped": WRAPPED,
    "wrapped and quoted": textwrap.indent(WRAPPED, "> "),
    "translated in part": TEXT.replace(HEAD, "# Was bekannt ist\nVon Menschen gegengezeichnet."),
    "with unseen characters": TEXT.replace("# What", "#\u200b What"),
    "with other spaces": TEXT.replace(" · ", "\u00a0·\u00a0"),
    "windows": TEXT.replace("\n", "\r\n"),
    "an answer": json.dumps(ANSWER),
    "an answer on lines": json.dumps(ANSWER, indent=2, ensure_ascii=False),
    "its text alone": json.dumps({"text": TEXT}),
    "of a tool": json.dumps({"content": [{"type": "text", "text": TEXT}]}),
    "in a string in a string": json.dumps({"content": json.dumps({"text": json.dumps(ANSWER)})}),
    "of Python": repr(ANSWER),
    "items": json.dumps({"items": ITEMS, "next_cursor": None}),
    "one fact": json.dumps(ITEMS[0], indent=1),
}


@pytest.mark.parametrize("dress", DRESSES.values(), ids=DRESSES)
def test_no_fact_of_ours_is_left_in_any_dress(dress: str) -> None:
    for text in (dress, f"Look:\n\n{dress}\n\nI prefer tabs."):
        rest, briefs = split_own_briefs(text)
        assert briefs
        assert is_own_brief(text)
        assert not is_own_brief(rest)
        # Wrapped, a part of a sentence would do.
        flat = " ".join(rest.split())
        assert [fact for fact in FACTS if fact[-20:] in flat or fact[:20] in flat] == []
    assert "I prefer tabs." in rest
    assert rest.startswith("Look:")


@pytest.mark.parametrize(
    "text",
    [
        "Memory f-2k81hd is wrong: we allow 300 EUR.",
        "As [f-2k81hd] says, a manager releases it. I disagree.",
        'the heading is "# What is known · project shop"',
        "the f-string of f-secret stands in [f-string]",
        "curl -f-insecure",
        '{"id": "f-2k81hd", "size": 12}',
        "id: 4\n  text: x",
        "| f-1 | a row |",
    ],
)
def test_what_people_say_about_a_fact_is_theirs(text: str) -> None:
    assert split_own_briefs(text) == (text, [])


def test_what_stands_around_an_answer_stays() -> None:
    rest, briefs = split_own_briefs(f"It said {json.dumps(ANSWER)} and I prefer tabs.")
    assert rest == "It said\nand I prefer tabs."
    assert briefs == [json.dumps(ANSWER)]
