"""How things are here, as a user said it: names, ports, hosts, settings, and what they asked to be noted."""

from __future__ import annotations

import re
from collections.abc import Iterator

from memory.distillers.local.sentences import ONE_OFF, Sentence
from memory.distillers.local.session import Session, quote
from memory.distillers.local.wording import as_sentence, fits, language_of, segment, topic, without_openers
from memory.lint import faults
from memory.transcript import Candidate

_NOTED = re.compile(
    r"^(?:please\s+)?(?:note|remember|keep in mind|bear in mind|make a note|write down|for the record"
    r"|be aware|fyi)\b(?:,|:|\s+that\b)?\s*(?!to\b)|^(?:ten en cuenta|recuerda) que\s+|^(?:merk dir"
    r"|beachte),?\s+(?:dass\s+)?|^(?:请)?(?:记住|注意)[：:，,]?",
    re.IGNORECASE,
)
_NOTED_END = re.compile(
    r"[,;–—-]?\s*\b(?:please\s+)?(?:note|remember|write|keep|record)\s+(?:that|this|it)(?:\s+(?:down"
    r"|in mind|for (?:later|next time)))?\s*[.!]*$|[,;]\s*for the record\s*[.!]*$",
    re.IGNORECASE,
)
_IS_SO = re.compile(
    r"^(?P<what>(?!(?:it|that|this|these|those|they|he|she|there|here|i|we|you|what|which|who|all|everything|something"
    r"|from|for|with|when|if|please|always|never|now|then|not|only|after|before|while|because|since|as|to|so) )"
    r"(?!(?:the|this|our|a) (?:bug|error|problem|issue|fix|failure|typo|change|test|line|question|answer|ticket|order)\b)(?:(?:the|our|this) )?[\w./-]+(?: [\w./-]+){0,5}?) (?P<verb>(?:is"
    r"|are) (?:called|named|now called|hosted (?:on|at)|served (?:from|on)|deployed (?:to|on)"
    r"|published on|reachable (?:at|on)|at|on|in)|runs? (?:on|at|in|under)|listens? on|lives? (?:on|at"
    r"|in)|uses?|needs?|requires?|points? (?:to|at)|go(?:es)? through)\s+(?P<where>.+)$",
    re.IGNORECASE,
)
_LITERAL = re.compile(
    r"\bport\s+\d{2,5}\b|[a-z]:\d{2,5}\b|:\d{4,5}\b|\b\d+\.\d+(?:\.\d+)*\b|\bhttps?://\S+"
    r"|\b[a-z0-9-]+(?:\.[a-z0-9-]+)*\.(?:internal|local|lan|example|com|net|org|io|dev|cloud|test)\b"
    r"|\b[A-Z][A-Z0-9]*_[A-Z0-9_]+\b|`[^`]+`|(?<!\w)(?:[.~]?/|[\w-]+/(?=[\w-]*[./]))[\w./-]+|\b(?:python|node|java|go|ruby"
    r"|php|postgres|postgresql|mysql|redis) ?\d+",
    re.IGNORECASE,
)
_CORRECTION = re.compile(r",?\s+(?:and )?(?:not|never)\s+\w", re.IGNORECASE)
_ASSIGNED = re.compile(r"\b([A-Z][A-Z0-9]*_[A-Z0-9_]+)\s*=\s*[\"'“”]?([\w.:/@+-]+)[\"'“”]?")
_SECRET_NAME = re.compile(r"TOKEN|SECRET|PASS|PWD|CREDENTIAL|API_?KEY|PRIVATE", re.IGNORECASE)
_VERB = re.compile(
    r"\b(?:is|are|was|were|has|have|must|should|needs?|runs?|lives?|uses?|goes|takes|comes|fails?"
    r"|works?|expires?|lasts?|belongs?|depends?|requires?|starts?|ends?|happens?|costs?|means?|es|son"
    r"|está|debe|ist|sind|muss|est|sont|doit)\b|是|在|です|ます",
    re.IGNORECASE,
)
_PERSONAL = re.compile(r"\b(?:i|i'm|i've|my|me|mine)\b", re.IGNORECASE)


def read(session: Session) -> Iterator[Candidate]:
    for sentence in session.said_by_user:
        if not sentence.is_firm or ONE_OFF.search(sentence.text):
            continue
        candidate = _setting(session, sentence) or _noted(session, sentence) or _is_so(session, sentence)
        if candidate is not None:
            yield candidate


def _setting(session: Session, sentence: Sentence) -> Candidate | None:
    """A setting the user asked for by name and value, and that the session then put in place."""
    hit = _ASSIGNED.search(sentence.text)
    if hit is None or _SECRET_NAME.search(hit[1]):
        return None
    name, value = hit[1], hit[2]
    done = next(
        (
            step
            for step in session.steps
            if step.at > sentence.at
            and step.outcome == "succeeded"
            and (step.is_edit or step.command)
            and name in step.call.text
            and value in step.call.text
        ),
        None,
    )
    if done is None:
        return None
    text = as_sentence(without_openers(sentence.text), language_of(sentence.text))
    if not fits(text) or faults(text):
        return None
    proof = quote(done.call, name)
    quotes = tuple(one for one in (sentence.quote(), proof) if one is not None)
    return Candidate("environment", f"environment:{segment(name, 6)}", {"name": name, "value": value}, text, quotes)


def _noted(session: Session, sentence: Sentence) -> Candidate | None:
    """The user asked for it to be noted."""
    head = re.sub(r"^(?:(?:ok|okay|good|and|also|so|please)[,.]?\s+)+", "", sentence.text, flags=re.IGNORECASE)
    body = _NOTED.sub("", head) if _NOTED.match(head) else _NOTED_END.sub("", head) if _NOTED_END.search(head) else ""
    body = without_openers(body)
    if not body or _PERSONAL.search(body) or not _VERB.search(body):
        return None
    return _made(session, sentence, body, topic(body.split(" because ")[0], 4), {"noted": body})


def _is_so(session: Session, sentence: Sentence) -> Candidate | None:
    """ "The cluster is called X, not Y"; "the staging database listens on port 5433"."""
    body = without_openers(sentence.text)
    hit = _IS_SO.match(body)
    if hit is None or _PERSONAL.search(body):
        return None
    if not (_CORRECTION.search(hit["where"]) or _LITERAL.search(hit["where"])):
        return None
    named = "call" in hit["verb"].casefold() or "named" in hit["verb"].casefold()
    aspect = "name" if named else "port" if re.search(r"\bport\b|:\d", hit["where"]) else "place"
    value = re.split(r",\s|;\s|\s+(?:and )?(?:not|never)\s", hit["where"])[0].rstrip(" .!")
    said = re.split(r",\s+(?!(?:and )?(?:not|never)\b)|;\s", body)[0]
    return _made(session, sentence, said, f"{topic(hit['what'])}.{aspect}", {aspect: value})


def _made(session: Session, sentence: Sentence, body: str, key: str, value: dict[str, str]) -> Candidate | None:
    text = as_sentence(body, language_of(sentence.text))
    if not fits(text) or faults(text):
        return None
    return Candidate("environment", f"environment:{key}", value, text, (sentence.quote(),))
