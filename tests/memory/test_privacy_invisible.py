"""What nobody sees neither hides a secret, nor passes a reviewer, nor makes two names look alike."""

from __future__ import annotations

import secrets
import sys
import unicodedata

import pytest

from memory import brief, privacy, rendering
from memory.models import BadSubject
from memory.models.subject import split
from memory.privacy import invisible

# Zero width, direction, tag, filler, variation, unassigned but ignored, blank, soft hyphen.
UNSEEN = [
    "\u200b",
    "\u2060",
    "\u202e",
    "\U000e0041",
    "\u3164",
    "\ufe0f",
    "\U000e0080",
    "\u2065",
    "\ufff3",
    "\u2800",
    "\xad",
    "\u034f",
    "\ufeff",
]


def a_secret() -> str:
    # Made here, so that no scanner finds one in the source.
    return "gh" + "p_" + secrets.token_hex(18)


def hidden(secret: str, unseen: str) -> str:
    return f"{secret[:3]}{unseen}{secret[3:9]}{unseen}{unseen}{secret[9:]}"


@pytest.mark.parametrize("unseen", UNSEEN, ids=[f"U+{ord(letter):04X}" for letter in UNSEEN])
def test_no_unseen_character_hides_a_secret(unseen: str) -> None:
    secret = a_secret()
    clean = privacy.clean_text(f"Use the key {hidden(secret, unseen)} for deploys.")
    assert clean.text == "Use the key [secret: github-token] for deploys."
    assert [finding.category for finding in clean.findings] == ["secret"]
    assert privacy.clean_json({"a": [hidden(secret, unseen)]}).value == {"a": ["[secret: github-token]"]}
    assert privacy.clean_text(clean.text).text == clean.text


def test_a_card_number_is_seen_through_too() -> None:
    text = "My card is 41\u200b11 1111\u2060 1111 111\u31641, thanks."
    (finding,) = privacy.clean_text(text).findings
    assert (finding.category, text[finding.start : finding.end][0], text[: finding.end][-1]) == ("payment", "4", "1")


@pytest.mark.parametrize("text", ["数据 🚀 é", "👩‍🚀 says ❤️", "मेरी प्राथमिकता क्ष‍", "سلام‌دنیا", "a\tb\nc", ""])
def test_texts_that_hold_no_secret_are_left_as_they_are(text: str) -> None:
    assert privacy.clean_text(text).text == text


@pytest.mark.parametrize("unseen", UNSEEN, ids=[f"U+{ord(letter):04X}" for letter in UNSEEN])
def test_what_is_decided_about_holds_nothing_unseen(unseen: str) -> None:
    assert rendering.one_line(f"Ad{unseen}min {unseen} ok") == "Admin ok"
    assert privacy.without_invisible(f"Ad{unseen}min\n") == "Admin\n"
    with pytest.raises(privacy.BadIdentifier, match="invisible"):
        privacy.clean_id(f"call{unseen}-7")
    with pytest.raises(BadSubject, match="invisible"):
        split(f"customer:c{unseen}1")


def test_a_secret_that_stands_whole_once_its_line_ends_are_folded_is_none_of_a_sentence() -> None:
    assert rendering.clean_line("The password:\n hunter22x9") == "The password: [secret: assigned-secret]"
    assert rendering.clean_line(" Prefers\n e-mail. ") == "Prefers e-mail."


def test_half_a_secret_is_none_of_a_task() -> None:
    secret = a_secret()
    padding = " " * (10 * brief.TASK_CHARS - 20)
    assert brief.cleaned_task(f"deploy {padding}{secret}") == "deploy"


def test_every_category_that_is_not_drawn_is_among_them() -> None:
    unseen = {"Cc", "Cf", "Cs", "Co", "Zl", "Zp"}
    missing = [
        f"U+{code:04X}"
        for code in range(sys.maxunicode + 1)
        if unicodedata.category(letter := chr(code)) in unseen
        and letter not in "\n\t"
        and not invisible.is_invisible(letter)
    ]
    assert missing == []
    assert not any(map(invisible.is_invisible, "\n\t aé数🚀\u00a0\u202f"))


def test_places_lead_back_to_the_text() -> None:
    text = "a\u200bb\U000e0041\U000e0042c"
    seen, places = invisible.seen_through(text)
    assert (seen, [text[place] for place in places]) == ("abc", ["a", "b", "c"])
    assert invisible.holds_invisible(text)
    assert not invisible.holds_invisible("abc\n\t数据 🚀")
