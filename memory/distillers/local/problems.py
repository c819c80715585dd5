"""A customer's problem that was taken up under a number, and whether it was still open at the end."""

from __future__ import annotations

import re
from collections.abc import Iterator

from memory.distillers.local.sentences import Sentence
from memory.distillers.local.session import Session
from memory.distillers.local.wording import as_sentence, fits, plain, segment, without_openers
from memory.distillers.local.words import any_of
from memory.lint import faults
from memory.transcript import Candidate

_TAKEN_UP = re.compile(
    r"\b(?:I|[Ww]e)(?:'ve| have)? (?:just |now )?(?:opened|created|filed|raised|logged|registered"
    r"|escalated)\b.{0,40}?"
    r"\b(?P<kind>ticket|case|incident|bug|issue|report)\b.{0,20}?(?P<number>#?[A-Z]{0,6}-?\d{3,})"
)
_COMPLAINT = any_of(
    r"\b(?:does(?:n't| not)|do(?:n't| not)|can(?:'t|not)|won't|never|no longer|stopped) \w+",
    r"\b(?:wrong|broken|crash\w*|fail\w*|error|slow|missing|late|stuck|reboot\w*|freez\w*|lost|damaged"
    r"|leak\w*|grey|empty|twice|down)\b",
)
_WISH = any_of(r"\b(?:please|want|wish|prefer|would like|instead)\b")
_SOLVED = any_of(
    r"\b(?:works (?:again|now|fine)|is (?:fixed|solved|resolved|gone)|fixed it|solved it"
    r"|that (?:did it|worked)|problem solved)\b"
)


def read(session: Session) -> Iterator[Candidate]:
    if session.is_coding:
        return
    for said in session.said_by_assistant:
        hit = _TAKEN_UP.search(said.text)
        complaint = _complaint_before(session, said)
        if hit is None or complaint is None:
            continue
        number = hit["number"]
        solved = next((one for one in session.said_by_user if one.at > said.at and _SOLVED.search(one.text)), None)
        state = "solved" if solved else "open"
        what = as_sentence(_of_the_customer(complaint.text)).rstrip(".")
        text = (
            f"{what} ({hit['kind']} {number}, {state} on {session.moment((solved or said).seen).date().isoformat()})."
        )
        if not fits(text) or faults(text):
            continue
        quotes = (complaint.quote(), said.quote(), *((solved.quote(),) if solved else ()))
        yield Candidate(
            "problem", f"problem:{segment(number)}", {"state": state, "number": number}, text, quotes, "customer"
        )


def _complaint_before(session: Session, said: Sentence) -> Sentence | None:
    firm = [one for one in session.said_by_user if one.at < said.at and one.is_firm]
    complaints = [one for one in firm if _COMPLAINT.search(one.text) and not _WISH.search(one.text)]
    return complaints[-1] if complaints else None


def _of_the_customer(complaint: str) -> str:
    text = plain(without_openers(complaint))
    text = re.sub(r"\b[Mm]y\b", "the customer's", text)
    text = re.sub(r"\bI can(?:'t|not)\b", "the customer cannot", text)
    text = re.sub(r"\bI (?:do not|don't)\b", "the customer does not", text)
    text = re.sub(r"\bI(?:'m| am)\b", "the customer is", text)
    text = re.sub(r"\bI(?:'ve| have)\b", "the customer has", text)
    text = re.sub(r"\bI ([a-z]+)\b", lambda hit: f"the customer {hit[1]}{'' if hit[1].endswith('ed') else 's'}", text)
    return re.sub(r"\b(?:me|us)\b", "the customer", text)
