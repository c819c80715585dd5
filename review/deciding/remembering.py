"""A memory that a person writes: by hand, or from words of a transcript that they marked."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db import transaction
from django.utils.translation import gettext as _

from memory import privacy, rendering
from memory.models import Evidence, Fact, Observation, Subject, quote_hash
from projects import audit
from projects.models import Membership
from review.deciding import decisions
from review.deciding.decisions import BadDecision, Outcome

CONTEXT_CHARACTERS = 200


@dataclass(frozen=True)
class Marked:
    """Words of one observation: `observation.text[start:end]`, in code points."""

    observation: Observation
    start: int
    end: int

    @property
    def quote(self) -> str:
        return self.observation.text[self.start : self.end]


def mark(observation: Observation, words: str) -> Marked | None:
    """Where `words`, as a page showed and a person marked them, stand in the observation; None where they do not.

    A browser folds white space and leaves out what is invisible, so both are passed over in comparing.
    """
    if not observation.may_be_evidence:
        return None
    exact = observation.text.find(words)
    if words.strip() and exact >= 0:
        return Marked(observation, exact, exact + len(words))
    wanted, _places = _plain(words)
    text, places = _plain(observation.text)
    at = text.find(wanted) if wanted else -1
    if at < 0:
        return None
    return Marked(observation, places[at], places[at + len(wanted) - 1] + 1)


def _plain(text: str) -> tuple[str, list[int]]:
    """The text without invisible characters and with single spaces, and where each of its characters stood."""
    kept: list[str] = []
    places: list[int] = []
    for place, char in enumerate(text):
        if privacy.is_invisible(char) and not char.isspace():
            continue
        if char.isspace():
            if not kept or kept[-1] == " ":
                continue
            char = " "
        kept.append(char)
        places.append(place)
    if kept and kept[-1] == " ":
        kept.pop()
        places.pop()
    return "".join(kept), places


@transaction.atomic
def remember(
    membership: Membership,
    *,
    subject: Subject,
    type: str,
    key: str,
    text: str,
    everyone: bool,
    agent_ids: list[int],
    now: datetime,
    marked: Marked | None = None,
    value: Any = None,
) -> Outcome:
    """Written by a person. A reviewer's is countersigned at once, a viewer's waits for a reviewer. Without a `value`
    the sentence is it.

    Raises BadDecision and NotAllowed; nothing of it stays then.
    """
    text = decisions.clean_sentence(text)
    terms: dict[str, Any] = {
        "subject": subject,
        "type": type,
        "key": key,
        "value": text if value is None else value,
        "text": text,
        "source": "manual",
        "person": membership.person,
        "everyone": everyone,
        "agent_ids": agent_ids,
        "findings": [finding.as_dict() for finding in privacy.clean_text(text).findings],
        "now": now,
    }
    if marked is not None:
        terms["valid_from"] = marked.observation.occurred_at
    fact, is_new = Fact.propose(**terms)
    if not is_new:
        raise BadDecision(_("The same memory waits in the pile already. Approve it there."), "text")
    if marked is not None:
        _cite(fact, marked, now)
    if membership.can_review:
        if Fact.objects.rivals_of(fact).exists():
            # The form does not show it, and whoever presses the button would replace it unseen.
            raise BadDecision(_("A live memory holds this key already. Edit that one, or choose another key."), "key")
        # Whoever marked words in a turn has read them there.
        return decisions.decide(membership, fact, "approve", fact.revision, {"opened": marked is not None}, now)
    audit.record(
        "fact.propose",
        membership.person,
        project_id=fact.project_id,
        object_kind="fact",
        object_ids=[fact.pk],
        now=now,
    )
    return Outcome(fact.decisions.get(), fact, _("Proposed"))


def _cite(fact: Fact, marked: Marked, now: datetime) -> None:
    before, after = _beside(marked.observation)
    Evidence.objects.create(
        project_id=fact.project_id,
        fact=fact,
        observation=marked.observation,
        start=marked.start,
        end=marked.end,
        quote=marked.quote,
        before=before,
        after=after,
        sha256=quote_hash(marked.quote),
        checked_at=now,
    )


def _beside(observation: Observation) -> tuple[str, str]:
    """The nearest turn before and after it, each on one line, shortened: they stay when the session is gone."""
    rows = Observation.objects.filter(session=observation.session_id).exclude(text="")
    before = rows.filter(seq__lt=observation.seq).order_by("-seq", "-pk").first()
    after = rows.filter(seq__gt=observation.seq).order_by("seq", "pk").first()
    return _line(before), _line(after)


def _line(row: Observation | None) -> str:
    line = rendering.one_line(row.text) if row is not None and row.may_be_evidence else ""
    return line if len(line) <= CONTEXT_CHARACTERS else f"{line[: CONTEXT_CHARACTERS - 1].rstrip()}…"
