"""The agent's own explanations: the weakest evidence there is, so they count only beside results that bear them out."""

from __future__ import annotations

import re

from memory.distillers.local.sentences import Sentence
from memory.distillers.local.session import Session
from memory.distillers.local.words import words

_PLAN = re.compile(
    r"\b(?:let me|let's|i'll|i will|i'm going to|we'll|we will|going to|i need to|we need to|i should"
    r"|next,|now i|now let|i have|i've|trying to|checking|looking (?:at|for|into))\b"
    r"|^(?:我将|我需要|让我|これから|voy a|ich werde|je vais)",
    re.IGNORECASE,
)
_CONTRACT = re.compile(
    r"\b(?:expects?|requires?|needs?|accepts?|takes|returns|must(?: not)?|has to|have to"
    r"|only (?:works?|accepts?|runs?|supports?)|does(?:n't| not) (?:accept|support|allow|take|work"
    r"|exist|handle)|"
    r"do(?:n't| not) (?:accept|support|allow|work|exist)|refuses|rejects|wants|was (?:renamed|removed"
    r"|moved|dropped)|is (?:deprecated|case-sensitive|required|read-only|reserved|not supported)"
    r"|no longer|conflicts with|is incompatible)\b"
    r"|需要|必须|必要|しなければ|necesita|requiere|espera|braucht|erwartet|verlangt|attend|exige|nécessite",
    re.IGNORECASE,
)
_CAUSE = re.compile(
    r"\b(?:because|since|so that|due to|the (?:cause|reason|problem|culprit) (?:is|was)|caused by"
    r"|lacks?|lacked|is missing|are missing|was missing|is not installed|isn't installed|is not set"
    r"|isn't set|points? (?:at|to)|is published|listens?|defaults to)\b"
    r"|因为|由于|原因|ため|porque|weil|parce que",
    re.IGNORECASE,
)
_COMMON = words(
    "error failed failing with that this from have been does command file line missing needs required cannot"
)
_IDENTIFIER = re.compile(r"`[^`]+`|\b\w+_\w+\b|\b[a-z]+[A-Z]\w*\b|\b\w+\(\)|\b\w+\.\w+\b|\b[A-Z]\w*[a-z][A-Z]\w*\b")


def is_plan(sentence: Sentence) -> bool:
    """What the agent means to do, not what is so."""
    return _PLAN.search(sentence.text) is not None


def has_identifier(text: str) -> bool:
    return _IDENTIFIER.search(text) is not None


def _echoes(text: str, failing: str) -> bool:
    """Whether the explanation takes up a name from the failing output."""
    names = {word.strip(".,:") for word in re.findall(r"[\w+-][\w.+-]{3,}", text.casefold())}
    return bool(names & set(re.findall(r"[\w+-][\w.+-]{3,}", failing.casefold())) - _COMMON)


def _is_about_code(subject: str) -> bool:
    """Whether the words before the verb name the thing that demands something; "it" names nothing."""
    return has_identifier(subject) and re.search(r"\b(?:it|this|that|we|i|you)\s*$", subject, re.IGNORECASE) is None


def contract_explained(session: Session, after: int, until: int, *, of_code: bool, failing: str) -> Sentence | None:
    """The last firm sentence between two places that says what something expects, needs or no longer does."""
    found = None
    for sentence in session.said_by_assistant:
        if not after < sentence.at <= until or not sentence.is_firm or is_plan(sentence):
            continue
        contract = _CONTRACT.search(sentence.text)
        if of_code:
            says_why = contract is not None and _is_about_code(sentence.text[: contract.start()])
        else:
            says_why = (contract or _CAUSE.search(sentence.text)) is not None and (
                has_identifier(sentence.text) or (contract is not None and _echoes(sentence.text, failing))
            )
        if says_why:
            found = sentence
    return found


def naming(session: Session, literals: tuple[str, ...], after: int, until: int) -> Sentence | None:
    """The last firm sentence between two places that names one of the literals and says something of it."""
    found = None
    for sentence in session.said_by_assistant:
        if after < sentence.at <= until and sentence.is_firm and not is_plan(sentence):
            says = _CONTRACT.search(sentence.text) or _CAUSE.search(sentence.text)
            if says and any(re.search(rf"(?<!\w){re.escape(literal)}(?!\w)", sentence.text) for literal in literals):
                found = sentence
    return found
