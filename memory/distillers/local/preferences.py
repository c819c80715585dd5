"""What the user wants from now on, in the user's own words: lasting wishes, not orders for this once."""

from __future__ import annotations

import re
from collections.abc import Iterator

from memory.distillers.local import wishes
from memory.distillers.local.sentences import ONE_OFF, Sentence
from memory.distillers.local.session import Session
from memory.distillers.local.wording import as_sentence, fits, plain, topic, without_openers
from memory.distillers.local.words import any_of
from memory.languages import language_of
from memory.lint import faults
from memory.transcript import Candidate, Quote

_POLITE_QUESTION = re.compile(r"(?:can|could|would|will) you please (?:always|never|stop)\b", re.IGNORECASE)
_TOLD_TO_AGENT = any_of(
    r"^(?:can|could|would|will) you please\s+",
    r"^(?:please|kindly|just)\s+",
    r"^you (?:should|must|need to|have to)\s+(?=always|never|only)",
    r"^you (?:may|can|should)\s+(?=call|phone|ring|contact|reach|text|e-?mail|write|message|notify|only)",
    r"^(?:i|we)(?:'d| would)? (?:like|want|need) you to\s+(?=always|never|only|stop)",
)
_SPLITS = any_of(
    r",\s*(?=please\s+(?:always|never)\b)",
    r"(?:,\s*|\s+)(?:and|but|also)\s+(?:also\s+)?(?=(?:please\s+)?(?:never|always|don't|do not"
    r"|no longer|stop|avoid|use"
    r"|prefer|keep|write|put|add|run|call|only|we (?:never|always|only|don't))\b)",
    r"(?:,\s*|\s+)(?:y|e)\s+(?=(?:no|nunca|siempre|\w+(?:me|nos))\b)",
    r"(?:,\s*|\s+)und\s+(?=(?:nie|niemals|immer|bitte|kein|keine)\b)",
    r"(?:,\s*|\s+)et\s+(?=(?:ne|jamais|toujours)\b)",
)
_DIAGNOSIS = re.compile(
    r"\b(?:medical|condition|illness|disease|diagnos\w*|stroke|cancer|disab\w+|depress\w+|pregnan\w+"
    r"|surgery|hospital|therap\w+|medication|diabet\w+|epilep\w+|hiv|allerg\w+)\b",
    re.IGNORECASE,
)
_QUOTED = re.compile(r"[\"“„«]([^\"”“»]*)[\"”“»]")
_TOPICS = (
    ("package_manager", re.compile(r"\b(?:uv|pip|poetry|conda|pipenv|npm|pnpm|yarn|bun)\b", re.IGNORECASE)),
    ("commit_messages", re.compile(r"\bcommit messages?\b|\bcommits\b", re.IGNORECASE)),
    (
        "language",
        re.compile(
            r"\b(?:english|spanish|german|french|chinese|japanese|italian|portuguese|español|inglés|deutsch"
            r"|englisch|français|anglais)\b|中文|日本語",
            re.IGNORECASE,
        ),
    ),
    (
        "form_of_address",
        re.compile(
            r"\b(?:usted|tutea\w*|siezen|duzen|vouvoye\w*|tutoye\w*|formal(?:ly)?|first name|last name)\b",
            re.IGNORECASE,
        ),
    ),
    (
        "contact",
        re.compile(r"\b(?:call|phone|ring|e-?mail|text|contact|sms|letter|post|reach|write to)\b", re.IGNORECASE),
    ),
)


def read(session: Session) -> Iterator[Candidate]:
    for sentence in session.said_by_user:
        if not (sentence.is_firm or _POLITE_QUESTION.match(sentence.text)) or ONE_OFF.search(
            wishes.FRAME.sub("", without_openers(sentence.text))
        ):
            continue
        if _DIAGNOSIS.search(sentence.text):
            continue  # a wish tied to a diagnosis is for a person to write down, without the diagnosis
        for wish, quote in _wishes(sentence):
            if (candidate := _candidate(session, wish, quote)) is not None:
                yield candidate


def _wishes(sentence: Sentence) -> Iterator[tuple[str, Quote]]:
    """The lasting wishes in one sentence, each with where it says so; a frame such as "from now on" holds for all."""
    body = without_openers(sentence.text)
    framed = wishes.FRAME.match(body) is not None or wishes.FRAME_END.search(body) is not None
    body = wishes.FRAME_END.sub("", wishes.FRAME.sub("", body))
    for piece in re.split(r";\s+", body):
        lasting = framed
        for part in _SPLITS.split(piece):
            clause = without_openers(part.strip(" ,;"))
            bare = _QUOTED.sub(" ", clause)
            if not clause or wishes.ONLY_LOOKS_SO.search(bare):
                continue
            if (lasting and _is_order(bare)) or _is_lasting(bare):
                yield clause, _quote(sentence, clause)
                lasting = lasting or not wishes.WISH.search(bare)  # "always do A and do B": it holds for both


def _quote(sentence: Sentence, clause: str) -> Quote:
    """The clause where it stands, or the whole sentence when the clause alone would hide the frame."""
    found = sentence.text.find(clause)
    if found < 0 or _is_lasting(clause) is False:
        return sentence.quote()
    start = sentence.start + found
    return Quote(sentence.seen.ref, start, start + len(clause), clause)


def _is_lasting(clause: str) -> bool:
    lasting = (wishes.ORDER, wishes.WISH, wishes.HOUSE_RULE, wishes.CONTACT, wishes.REFUSAL)
    return any(pattern.search(clause) for pattern in lasting)


def _is_order(clause: str) -> bool:
    """Under a frame anything counts but a mere report ("from now on the job runs hourly" is no wish)."""
    return not re.match(r"(?:the|a|an|it|they|he|she|there|this|that)\b", clause, re.IGNORECASE)


def _candidate(session: Session, wish: str, quote: Quote) -> Candidate | None:
    language = language_of(wish) or session.language
    about = (
        "customer" if session.is_support or (not session.is_coding and _is_to_customer(wish, language)) else "person"
    )
    who = "customer" if about == "customer" else "user"
    text = as_sentence(_in_third_person(wish, who) if language == "en" else wish, language)
    if not fits(text) or faults(text):
        return None
    return Candidate("user_preference", f"user_preference:{_key(wish)}", {"wish": text}, text, (quote,), about)


def _is_to_customer(wish: str, language: str) -> bool:
    """How to reach or address somebody, where no tool shows what kind of session it is."""
    return wishes.CONTACT.search(wish) is not None or (
        language != "en" and re.search(r"\w(?:me|nos)\b|\b(?:mir|uns|moi|nous)\b", wish, re.IGNORECASE) is not None
    )


def _in_third_person(wish: str, who: str) -> str:
    """ "call me only in the afternoon" becomes "call the customer only in the afternoon"."""
    text = _TOLD_TO_AGENT.sub("", plain(wish).rstrip(" ?"))
    text = re.sub(r"\bI(?:'d| would) (?:always |much )?prefer\b", f"the {who} prefers", text)
    text = re.sub(r"\bI(?:'d| would)\b", f"the {who} would", text)
    text = re.sub(r"\bI(?:'m| am)\b", f"the {who} is", text)
    text = re.sub(r"\bI(?:'ve| have)\b", f"the {who} has", text)
    text = re.sub(r"\bI (?:don't|do not)\b", f"the {who} does not", text)
    text = re.sub(
        r"\bI ((?:always|never|only|really|strongly|usually|generally|explicitly) )?([a-z]+)\b",
        lambda hit: f"the {who} {hit[1] or ''}{_third(hit[2])}",
        text,
    )
    text = re.sub(r"\b(?:me|myself)\b", f"the {who}", text)
    text = re.sub(r"\b[Mm]y\b", f"the {who}'s", text)
    return re.sub(r"^the ", "The ", text)


def _third(verb: str) -> str:
    if verb in ("can", "could", "may", "might", "must", "should", "will", "would", "did", "had", "was"):
        return verb
    return verb + ("es" if verb.endswith(("s", "sh", "ch", "x", "z")) else "s")


def _key(wish: str) -> str:
    for name, pattern in _TOPICS:
        if pattern.search(wish):
            if name in ("package_manager", "language", "form_of_address"):
                return name
            rest = pattern.sub(" ", wish)
            return f"{name}.{topic(rest, 2)}"
    return topic(wish)
