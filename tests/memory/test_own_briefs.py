from __future__ import annotations

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
