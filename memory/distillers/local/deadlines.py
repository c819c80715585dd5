"""What ends, changes or begins on a day that a person named: "the old host goes away next Friday"."""

from __future__ import annotations

import re
from collections.abc import Iterator

from memory.distillers.local import dates
from memory.distillers.local.sentences import Sentence
from memory.distillers.local.session import Session
from memory.distillers.local.wording import as_sentence, fits, plain, topic, without_openers
from memory.distillers.local.words import any_of
from memory.languages import language_of
from memory.lint import faults
from memory.transcript import Candidate

_HAPPENS = re.compile(
    r"^(?P<what>(?:[Tt]he|[Oo]ur|[Mm]y|[Aa]ll) [\w'’./ -]{3,50}?) (?P<verb>(?:will )?(?:goes?|go) (?:away|live"
    r"|offline)|(?:will )?(?:ends?|expires?"
    r"|lapses?|renews?|runs? out|closes?|opens?|switches?|changes?|stops? working)|(?:is|are|gets?"
    r"|will be) (?:being )?(?:shut down|switched off"
    r"|turned off|taken down|retired|decommissioned|replaced|removed|frozen|deprecated|migrated|renewed"
    r"|upgraded))\b(?P<rest>.*)$"
)
# Nobody has to know of these but those who go there.
_PASSING = any_of(
    r"\b(?:meeting|call|appointment|flight|trip|holidays?|vacation|game|film|movie|concert|party|course|class"
    r"|sprint|demo|shift|show|train"
    r"|bus|lunch|dinner|talk|conference|match|exam|test|build|run|job|task|session|cat|dog|kids?)\b"
)
_PARTS = re.compile(r";\s+|,?\s+(?:and|but)\s+(?=(?:the|our|my)\b)|,\s+(?=(?:the|our|my)\b)", re.IGNORECASE)


def read(session: Session) -> Iterator[Candidate]:
    for said in session.said_by_user:
        if not said.is_firm or language_of(said.text) != "en":
            continue
        for part in _PARTS.split(without_openers(said.text)):
            if (candidate := _candidate(session, said, part.strip())) is not None:
                yield candidate


def _candidate(session: Session, said: Sentence, part: str) -> Candidate | None:
    hit = _HAPPENS.match(part)
    said_at = session.moment(said.seen)
    if hit is None or _PASSING.search(hit["what"]) or (when := dates.find(part, said_at)) is None:
        return None
    if when.start < hit.start("rest") or when.is_over_soon(said_at):
        return None
    theirs = "the user's" if session.is_coding else "the customer's"
    what = re.sub(r"^(?:my|our)\b", theirs if not session.is_coding else "the", hit["what"], flags=re.IGNORECASE)
    text = as_sentence(plain(f"{what} {hit['verb']} on {when.shown(said_at)}"))
    if not fits(text) or faults(text):
        return None
    kind, about = (
        ("environment", "repo") if session.is_coding or not session.is_support else ("customer_fact", "customer")
    )
    due = when.due(said_at)
    return Candidate(
        kind,
        f"{kind}:{topic(what)}.date",
        {"on": when.day.isoformat(), "what": plain(f"{what} {hit['verb']}")},
        text,
        (said.quote(),),
        about,
        expires_at=due + dates.KEPT_AFTER_DUE,
    )
