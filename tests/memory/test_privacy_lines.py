"""The classifier against labelled lines of our own: the gates it must hold, and what it must leave alone."""

import random
import re
import string
from pathlib import Path

import pytest
from detect_secrets.core.scan import scan_line
from detect_secrets.settings import transient_settings

from memory.privacy import clean_text

LINES = Path(__file__).parent / "data" / "privacy_lines.tsv"
LETTERS = {
    "alnum": string.ascii_letters + string.digits,
    "hex": "0123456789abcdef",
    "upper": string.ascii_uppercase + "234567",
    "digits": "123456789",
}
# Categories that tell of a wrong detection when a line is labelled with another.
CATEGORIES = ("secret", "contact", "payment", "health")


def filled(template: str, seed: int) -> str:
    """Bodies of invented secrets are made up here, so that the file holds nothing a scanner would report."""
    source = random.Random(seed)

    def body(match: re.Match[str]) -> str:
        made = "".join(source.choice(LETTERS[match[1]]) for _ in range(int(match[2])))
        return made if match[1] in ("digits", "upper") or int(match[2]) < 8 else made[:-2] + "7a"

    return re.sub(r"\{(alnum|hex|upper|digits)(\d+)\}", body, template)


def labelled() -> list[tuple[str, str]]:
    rows = [line.split("\t", 1) for line in LINES.read_text("utf-8").splitlines()]
    return [(label, filled(text, seed)) for seed, (label, text) in enumerate(rows)]


def found(text: str) -> set[str]:
    return {finding.category for finding in clean_text(text).findings}


CASES = labelled()


def recall(category: str) -> tuple[float, list[str]]:
    texts = [text for label, text in CASES if label == category]
    missed = [text for text in texts if category not in found(text)]
    return 1 - len(missed) / len(texts), missed


@pytest.mark.parametrize(
    ("category", "least"), [("secret", 0.95), ("payment", 1.0), ("contact", 0.9), ("health", 0.85)]
)
def test_recall_holds_its_gate(category: str, least: float) -> None:
    reached, missed = recall(category)
    assert reached >= least, missed


def test_at_most_one_clean_line_in_a_hundred_is_flagged() -> None:
    clean = [text for label, text in CASES if label == "none"]
    flagged = {text: sorted(found(text)) for text in clean if found(text)}
    assert len(flagged) <= len(clean) / 100, flagged


def test_no_line_is_given_a_graver_category_than_its_own() -> None:
    wrong = {text: found(text) for label, text in CASES if label != "none" and found(text) - {label}}
    # An address of a remote with a token in it, and a card holder's mail, may well be two things at once.
    assert len(wrong) <= 2, wrong


def test_what_detect_secrets_knows_by_its_shape_we_replace() -> None:
    """The oracle: a line it reports after our cleaning still holds a secret."""
    shapes = [
        "ArtifactoryDetector",
        "AWSKeyDetector",
        "AzureStorageKeyDetector",
        "BasicAuthDetector",
        "DiscordBotTokenDetector",
        "GitHubTokenDetector",
        "GitLabTokenDetector",
        "JwtTokenDetector",
        "MailchimpDetector",
        "NpmDetector",
        "OpenAIDetector",
        "PrivateKeyDetector",
        "PypiTokenDetector",
        "SendGridDetector",
        "SlackDetector",
        "SquareOAuthDetector",
        "StripeDetector",
        "TelegramBotTokenDetector",
        "TwilioKeyDetector",
    ]
    secrets = [text for label, text in CASES if label == "secret"]
    with transient_settings({"plugins_used": [{"name": name} for name in shapes]}):
        known = [text for text in secrets if list(scan_line(text))]
        left = [text for text in secrets if list(scan_line(clean_text(text).text))]
    assert len(known) >= 15
    assert not left
