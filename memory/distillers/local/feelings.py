"""What a customer said they felt, and about what, in their own plain words: never read out of a tone.

Proposed only where a project switched sentiment on; the reading drops it elsewhere.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from memory.distillers.local.session import Session
from memory.distillers.local.wording import as_sentence, fits, plain, segment
from memory.languages import language_of
from memory.lint import faults
from memory.transcript import Candidate

_FEELS = re.compile(
    r"\b(?:I(?:'m| am| was)|[Ww]e(?:'re| are| were)) (?:(?:really|very|so|quite|extremely|more than|just|honestly"
    r"|not) )*"
    r"(?P<feeling>disappointed|frustrated|angry|furious|upset|unhappy|annoyed|fed up|dissatisfied|worried"
    r"|delighted|thrilled"
    r"|very happy|pleased|impressed|grateful)\b"
    r"(?: (?P<link>with|about|by|that|at|over|because of) (?P<what>[^.!?,;]{4,90}))?"
)
_NEGATED = re.compile(
    r"\bnot (?:really |very |too )?(?:disappointed|frustrated|angry|furious|upset|unhappy|annoyed|worried)\b", re.I
)
_GOOD = frozenset({"delighted", "thrilled", "very happy", "pleased", "impressed", "grateful"})


def read(session: Session) -> Iterator[Candidate]:
    if session.is_coding:
        return
    for said in session.said_by_user:
        hit = _FEELS.search(said.text)
        if hit is None or not said.is_firm or language_of(said.text) != "en" or _NEGATED.search(said.text):
            continue
        feeling = hit["feeling"].casefold()
        about = _of_the_customer(f" {hit['link']} {hit['what']}") if hit["what"] else ""
        day = session.moment(said.seen).date().isoformat()
        text = as_sentence(f"On {day} the customer was {feeling}{about}")
        if not fits(text) or faults(text):
            continue
        value = {"feeling": feeling, "tone": "good" if feeling in _GOOD else "bad", "on": day}
        yield Candidate(
            "sentiment", f"sentiment:{segment(feeling)}", value, text, (said.quote(),), "customer", nature="sentiment"
        )


def _of_the_customer(what: str) -> str:
    text = re.sub(r"\b(?:my|our)\b", "the customer's", plain(what))
    text = re.sub(r"\b(?:me|us|I|we)\b", "the customer", text)
    return " " + re.sub(r"\b(?:your|you)\b", "the", text).strip()
