"""Cleaning: what may be stored at all, what is left of a long text, what stands in a secret's place."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.privacy import (
    BadIdentifier,
    Finding,
    classify,
    clean_id,
    clean_text,
    findings_from,
    mask,
    without_invisible,
    worst_category,
)

# Invented, and put together here so that no scanner stumbles over this file.
GITHUB = "ghp_" + "A1b2C3d4E5" * 4
PEM = "-----BEGIN RSA PRIVATE " + "KEY-----\n" + "MIIEow1bAAKCAQEA7b\n" * 3 + "Zk9=\n-----END RSA PRIVATE " + "KEY-----"


@pytest.mark.parametrize(
    ("raw", "stored"),
    [
        ("od: \x00\x00 PNG", "od:  PNG"),
        ("grep: binary \udc88\udc8f match", "grep: binary \ufffd\ufffd match"),
        ("\ud83d\ude80 from two halves", "🚀 from two halves"),
        ("\x1b[1;31mFAILED\x1b[0m tests", "FAILED tests"),
        ("\x1b]0;title\x07prompt", "prompt"),
        ("\x1b]8;;https://acme.io\x1b\\link\x1b]8;;\x1b\\", "link"),
        ("one\r\ntwo\rthree\tfour\n", "one\ntwo\nthree\tfour\n"),
        ("bell\x07 and delete\x7f and \x9bC1", "bell and delete and C1"),
        ("cafe\u0301", "café"),
        ("plain text stays", "plain text stays"),
        ("数据库 → 🚀", "数据库 → 🚀"),
    ],
)
def test_a_text_is_made_fit_to_store_and_read(raw: str, stored: str) -> None:
    cleaned = clean_text(raw)
    assert cleaned.text == stored
    assert cleaned.changed is (raw != stored)
    assert cleaned.original_length == len(raw)


def test_a_secret_is_replaced_and_the_rest_of_the_line_stays() -> None:
    cleaned = clean_text(f"export GITHUB_TOKEN={GITHUB} # for CI")
    assert cleaned.text == "export GITHUB_TOKEN=[secret: github-token] # for CI"
    (finding,) = cleaned.findings
    assert (finding.category, finding.rule) == ("secret", "github-token")
    assert cleaned.text[finding.start : finding.end] == "[secret: github-token]"


def test_a_secret_in_quoted_json_begins_right_behind_an_escape() -> None:
    aws = "AKIA" + "EXAMPLEEXAMPLE12"
    cleaned = clean_text(rf'"stdout": "done\n{GITHUB}\n{aws}\npass=Tr0ub4dor3"')
    assert cleaned.text == (
        r'"stdout": "done\n[secret: github-token]\n[secret: aws-access-key]\npass=[secret: assigned-secret]"'
    )


def test_the_address_around_a_password_stays_readable() -> None:
    cleaned = clean_text("postgres://app:hunter2-not-real@db.internal:5433/shop")
    assert cleaned.text == "postgres://app:[secret: url-password]@db.internal:5433/shop"


@pytest.mark.parametrize(
    "text",
    [
        PEM,
        PEM.replace("\n", "\\n"),
        PEM.replace("\n", "\n  "),
        "\n".join(f"{number:>6}→{line}" for number, line in enumerate(PEM.split("\n"), 1)),
        "-----BEGIN PRIVATE " + "KEY-----\nMIIB\n-----END PRIVATE " + "KEY-----",
        PEM[: PEM.index("Zk9=")],
    ],
    ids=["as it is", "in a JSON string", "indented", "with line numbers", "short", "cut before its end"],
)
def test_a_private_key_goes_as_a_whole(text: str) -> None:
    cleaned = clean_text(f"before\n{text}\nafter")
    assert "MII" not in cleaned.text
    assert "Zk9" not in cleaned.text
    assert cleaned.text.startswith("before\n")
    assert cleaned.text.endswith("after")
    assert [finding.rule for finding in cleaned.findings] == ["private-key"]


def test_two_rules_on_one_value_leave_one_placeholder_with_the_surer_name() -> None:
    cleaned = clean_text(f'Authorization: Bearer {GITHUB}\ntoken = "{GITHUB}"')
    assert cleaned.text == 'Authorization: Bearer [secret: github-token]\ntoken = "[secret: github-token]"'


def test_several_secrets_and_what_stands_between_them() -> None:
    key = "AKIA" + "EXAMPLEEXAMPLE12"
    cleaned = clean_text(f"{key} and ghp_{'b' * 36}, mail jane@acme.io")
    assert cleaned.text == "[secret: aws-access-key] and [secret: github-token], mail jane@acme.io"
    assert [finding.category for finding in cleaned.findings] == ["secret", "secret", "contact"]


def test_a_long_text_keeps_head_and_tail_and_says_what_was_cut() -> None:
    raw = "HEAD" + "x" * 50_000 + "TAIL"
    cleaned = clean_text(raw)
    assert len(cleaned.text) <= 16_000
    assert cleaned.text.startswith("HEAD")
    assert cleaned.text.endswith("TAIL")
    assert "\n[… 34,068 characters cut …]\n" in cleaned.text
    assert cleaned.original_length == len(raw)


def test_no_secret_is_cut_in_two_and_spans_still_fit() -> None:
    for shift in range(0, 60, 7):
        raw = "a " * (4_000 - shift // 2) + GITHUB + " b" * 6_000 + " " + GITHUB + " c" * (3_990 + shift)
        cleaned = clean_text(raw)
        assert "ghp_" not in cleaned.text
        assert "A1b2C3" not in cleaned.text
        for finding in cleaned.findings:
            assert cleaned.text[finding.start : finding.end] == "[secret: github-token]"


def test_a_long_run_of_combining_marks_costs_no_quadratic_time() -> None:
    cleaned = clean_text("a" + "\u0301\u0323" * 200_000)
    assert len(cleaned.text) < 40


def test_an_image_in_a_text_becomes_its_size() -> None:
    cleaned = clean_text("see data:image/png;base64," + "iVBORw0KGgo" * 40 + " here")
    assert cleaned.text == "see [image: 330 bytes] here"
    assert cleaned.findings == ()


# Words that rules look for, so that random texts do hit them.
fragments = st.sampled_from(
    [
        "password=",
        "hunter2x ",
        GITHUB,
        " ",
        "\n",
        "token: ",
        "'",
        '"',
        "\x1b[",
        "\x00",
        "\r",
        "é",
        "\u0301",
        "\udc88",
        "\ud83d",
        "://u:",
        "p4ss@h.io",
        "[secret: jwt]",
        "eyJhbGciOi.eyJzdWIiOi.c2lnbmF0dXJl",
        "I have ",
        "diabetes",
        ". ",
        "+49 30 901820",
        "4111 1111 1111 1111",
        "DE89 3704 0044 0532 0130 00",
        "a@b.co",
        "x" * 90,
        "bearer ",
        "-----BEGIN PRIVATE " + "KEY-----",
    ]
)
hostile = st.one_of(
    st.text(alphabet=st.characters(codec=None, exclude_categories=()), max_size=300),
    st.lists(fragments, max_size=25).map("".join),
)


@given(hostile)
def test_whatever_comes_in_can_be_stored_and_spans_lie_inside(raw: str) -> None:
    cleaned = clean_text(raw, limit=300)
    cleaned.text.encode("utf-8")
    assert not any(letter < " " and letter not in "\n\t" for letter in cleaned.text)
    assert unicodedata.is_normalized("NFC", cleaned.text)
    assert len(cleaned.text) <= 300
    end = 0
    for finding in cleaned.findings:
        assert end <= finding.start < finding.end <= len(cleaned.text)
        end = finding.end


@given(hostile)
def test_cleaning_twice_says_the_same_as_cleaning_once(raw: str) -> None:
    once = clean_text(raw)
    twice = clean_text(once.text)
    assert twice.text == once.text
    assert twice.findings == once.findings
    assert not twice.changed


@given(hostile)
def test_no_known_secret_survives(raw: str) -> None:
    assert GITHUB not in clean_text(f"{raw} {GITHUB} {raw}").text


def test_findings_survive_their_json_column() -> None:
    findings = classify("I have diabetes, write to jane@acme.io or call +49 30 901820")
    assert [finding.category for finding in findings] == ["health", "contact", "contact"]
    assert findings_from(finding.as_dict() for finding in reversed(findings)) == findings


def test_the_worst_category_is_named() -> None:
    contact = Finding(0, 3, "contact", "email", 0.9)
    health = Finding(5, 9, "health", "condition", 0.9)
    assert worst_category([contact, health]) == "health"
    assert worst_category([contact]) == "contact"
    assert worst_category([]) is None


def test_of_two_findings_on_one_span_the_graver_stays() -> None:
    # The last digits of a card look like a telephone number to some.
    findings = classify("phone or card: 4111 1111 1111 1111")
    assert [finding.category for finding in findings] == ["payment"]


def test_a_mask_hides_letters_and_digits_and_keeps_the_length() -> None:
    cleaned = clean_text(f"Jane, jane@acme.io, key {GITHUB}")
    masked = mask(cleaned.text, cleaned.findings)
    assert masked == "Jane, ••••@••••.••, key [secret: github-token]"
    assert mask(cleaned.text, cleaned.findings, ["payment"]) == cleaned.text


@pytest.mark.parametrize(
    ("raw", "stored"),
    [
        ("session-1", "session-1"),
        ("  s 1 \n", "s 1"),
        ("cafe\u0301", "café"),
        ("数据/1", "数据/1"),
        ("x" * 512, "x" * 512),
    ],
)
def test_an_id_is_trimmed_and_composed(raw: str, stored: str) -> None:
    assert clean_id(raw) == stored


@pytest.mark.parametrize(
    ("raw", "sentence"),
    [
        ("", "empty"),
        (" \t\n", "empty"),
        ("x" * 513, "512 bytes"),
        ("é" * 300, "512 bytes"),
        ("x" * 10_000_000, "512 bytes"),
        ("a\x00b", "control or invisible"),
        ("a\nb", "control or invisible"),
        ("a\u200bb", "control or invisible"),
        ("a\u202eb", "control or invisible"),
        ("a\ud800b", "control or invisible"),
        ("\ufeffa", "control or invisible"),
        ("a\u2028b", "control or invisible"),
        (GITHUB, "secret"),
    ],
)
def test_an_id_that_cannot_be_kept_is_refused_without_being_repeated(raw: str, sentence: str) -> None:
    with pytest.raises(BadIdentifier, match=sentence) as refusal:
        clean_id(raw)
    assert not raw.strip() or raw not in str(refusal.value)


def test_a_shorter_limit_may_be_asked_for() -> None:
    assert clean_id("x" * 20, max_bytes=20) == "x" * 20
    with pytest.raises(BadIdentifier, match="20 bytes"):
        clean_id("x" * 21, max_bytes=20)


def test_what_a_reviewer_cannot_see_is_taken_out() -> None:
    assert without_invisible("ad\u200bmin\u202e \U000e0041ok\n\tnext") == "admin ok\n\tnext"
    assert without_invisible("a\x00b") == "ab"
    assert without_invisible("数据 🚀 é") == "数据 🚀 é"
