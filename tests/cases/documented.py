"""Choices that a case leaves to us, and limits it calls documented: each must stand in the documents."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from memory.models import MAX_ATTEMPTS
from memory.privacy import TEXT_LIMIT

DOCS = Path(__file__).resolve().parents[2] / "docs"


@dataclass(frozen=True, slots=True)
class Choice:
    """A page, and the words that stand on it."""

    page: str
    words: str


# By the kind of the case whose `rule`, `order_by` or `or_documented` asks for it.
CHOICES = {
    "capture_silent_loss": Choice("api.md", "503 means not promised"),
    "double_approve": Choice("api.md", "the first decides, the second gets 409"),
    "edit_superseded": Choice("api.md", "the first decides, the second gets 409"),
    "huge_tool_output": Choice("api.md", "head and tail are kept"),
    "idle_resume": Choice("api.md", "More observations open it again"),
    "key_prefix": Choice("api.md", "a prefix only by whole segments"),
    "like_wildcards": Choice("api.md", "`%` and `_` are letters"),
    "namespace_prefix": Choice("api.md", "a prefix only by whole segments"),
    "retry_double_insert": Choice("api.md", "a batch with a `batch_id` gets its first answer again"),
    "search_query_edge": Choice("api.md", "without a word in it finds nothing"),
    "secrets": Choice("api.md", "Secrets are replaced before anything is stored"),
    "token_budget": Choice("api.md", "by leaving whole facts out"),
    "tool_id_reuse": Choice("importers.md", "the nearest one before it with that id"),
    "unicode_nfc": Choice("api.md", "ids of subjects are trimmed, in NFC"),
    "clock_skew": Choice("api.md", "in the order they were received"),
    "dst": Choice("architecture.md", "every schedule is in UTC"),
    "id_case_whitespace": Choice("api.md", "trimmed and case-folded"),
    "ttl_boundary": Choice("api.md", "it holds while now < `expires_at`"),
    "ttl_timezone": Choice("api.md", "it holds while now < `expires_at`"),
}
# By a word of what is wanted: the limit, the page that names it, and how it is written there.
LIMITS = {
    "per-observation cap": (4 * TEXT_LIMIT, Choice("api.md", f"{TEXT_LIMIT:,} characters")),
    "max_attempts": (MAX_ATTEMPTS, Choice("architecture.md", "three starts")),
}


def says(choice: Choice) -> bool:
    """Whether the page says it, however its lines are broken."""
    page = " ".join((DOCS / choice.page).read_text().split())
    return choice.words.casefold() in page.casefold()


def number_of(wanted: str) -> int:
    """The number that a case calls by its name. It must be in the documents."""
    for name, (number, choice) in LIMITS.items():
        if name in wanted:
            assert says(choice), f"docs/{choice.page} does not name the limit: {choice.words}"
            return number
    raise AssertionError(f"this runner knows no number called {wanted!r}")


def chosen(kind: str) -> None:
    """Holds when the choice that this kind of case asks for is documented."""
    choice = CHOICES.get(kind)
    assert choice is not None, f"no documented choice for cases of the kind {kind}"
    assert says(choice), f"docs/{choice.page} does not say: {choice.words}"
