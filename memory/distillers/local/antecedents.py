"""What "it" stands for: the thing the sentence before was about, as another reader would name it."""

from __future__ import annotations

import re

from memory.distillers.local.sentences import Sentence
from memory.distillers.local.session import Session

# How many observations back a thing may have been named.
REACH = 6

_SUBJECT = re.compile(
    r"^(?:(?:hi|hello|ok|sorry|well|yes|no)[,.!]? )?(?P<whose>[Mm]y|[Oo]ur|[Yy]our"
    r"|[Tt]he) (?P<what>[a-z][\w-]*(?: (?!is\b|was\b|has\b|had\b|does\b"
    r"|did\b|do\b|are\b|were\b|have\b|will\b|can\b|won't\b|isn't\b|doesn't\b|keeps\b|never\b|still\b"
    r"|always\b)[\w#-]+){0,5}?) "
    r"(?:is|was|has|had|does|did|do|are|were|have|will|can|won't|isn't|doesn't|keeps|never|still|always|\w+s)\b"
)
_VAGUE = re.compile(r"\b(?:problem|issue|thing|question|reason|way|fact|point|time|team)\b", re.IGNORECASE)
_OBJECT = re.compile(r"(?<=\w )(?:it|them|that|this)\b(?!')|^(?:it|this)\b(?!')", re.IGNORECASE)


def named_before(session: Session, sentence: Sentence) -> str:
    """The last thing that stood as the subject of a sentence before this one ("the customer's bag"), or ""."""
    said = (*session.said_by_user, *session.said_by_assistant)
    place = (sentence.at, sentence.start)
    earlier = [one for one in said if sentence.at - REACH <= one.at and (one.at, one.start) < place]
    for one in sorted(earlier, key=lambda found: (found.at, found.start), reverse=True):
        hit = _SUBJECT.match(one.text)
        if hit is None or _VAGUE.search(hit["what"]):
            continue
        whose = "the" if hit["whose"].casefold() == "the" else _owner(session, one, hit["whose"].casefold())
        return f"{whose} {hit['what']}"
    return ""


def resolved(session: Session, sentence: Sentence, text: str) -> str:
    """`text`, taken from the sentence, with its first "it" replaced by what it stands for; unchanged where unknown."""
    hit = _OBJECT.search(text)
    named = named_before(session, sentence) if hit else ""
    if hit is None or not named:
        return text
    told = named[0].upper() + named[1:] if hit.start() == 0 and text[0].isupper() else named
    return text[: hit.start()] + told + text[hit.end() :]


def _owner(session: Session, sentence: Sentence, whose: str) -> str:
    is_theirs = (sentence.seen.role == "user") == (whose in ("my", "our"))
    return ("the user's" if session.is_coding else "the customer's") if is_theirs else "the"
