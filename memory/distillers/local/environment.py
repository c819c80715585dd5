"""How things are here, as a user said it: names, ports, hosts, settings, and what they asked to be noted."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from memory.distillers.local.antecedents import resolved
from memory.distillers.local.explanations import is_plan
from memory.distillers.local.sentences import ONE_OFF, Sentence
from memory.distillers.local.services import service_of, setting_key, setting_value
from memory.distillers.local.session import Session, quote
from memory.distillers.local.wording import as_sentence, fits, topic, without_openers
from memory.distillers.local.words import any_of
from memory.languages import language_of
from memory.lint import faults
from memory.transcript import Candidate

_NOTED = any_of(
    r"^(?:please\s+)?(?:note|remember|keep in mind|bear in mind|make a note|write down|for the record|be aware|fyi)\b"
    r"(?:,|:|\s+that\b)?\s*(?!to\b)",
    r"^(?:ten en cuenta|recuerda) que\s+|^(?:merk dir|merken sie sich|beachte)(?: bitte)?[,:]?\s+(?:dass\s+)?"
    r"|^(?:note[zs]? (?:bien )?que|retiens que|n['’]oublie[zs]? pas que)\s+|^(?:apunta|anota"
    r"|toma nota)(?: de)?(?: que|:)\s+"
    r"|^(?:请)?(?:记住|注意|记一下)[：:，,]?",
)
_NOTED_END = any_of(
    r"[,;–—-]?\s*\b(?:please\s+)?(?:note|remember|write|keep|record)\s+(?:that|this|it)"
    r"(?:\s+(?:down|in mind|for (?:later|next time)))?\s*[.!]*$",
    r"[,;–—-]\s*please (?:note|remember)\s*[.!]*$|[,;–—-]\s*(?:bitte merken|merk dir das|recuérdalo|à retenir"
    r"|请记住)\s*[.!。]*$",
    r"[,;]\s*for the record\s*[.!]*$",
)
_ONLY_ASKS = re.compile(r"\s*(?:please|pls|bitte|por favor|s['’]il (?:te|vous) pla[iî]t)?\s*[.!]*", re.IGNORECASE)
_NO_SUBJECT = (
    r"(?!(?:it|that|this(?! (?:repo|repository|project|app|service|codebase|server|machine|cluster)\b)"
    r"|these|those|they|he|she"
    r"|there|here|i|we|you|what|which|who|all|everything|something|from|for|with|when|if|please|always"
    r"|never|now|then|not"
    r"|only|after|before|while|because|since|as|to|so) )"
    r"(?!(?:the|this|our|a) (?:bug|error|problem|issue|fix|failure|typo|change|test|line|question|answer|ticket|order"
    r"|meeting|call)\b)"
)
_WHAT = rf"^(?P<what>{_NO_SUBJECT}(?:(?:the|our|this) )?[\w./-]+(?: [\w./-]+){{0,5}}?)"
_IS_SO = (
    re.compile(
        _WHAT + r" (?P<verb>(?:is|are) (?:hosted (?:on|at)|served (?:from|on)|deployed (?:to|on)|published on"
        r"|reachable (?:at|on)|at|on|in)|runs? (?:on|at|in|under|behind)|listens? on|(?:starts?|begins?"
        r"|ends?) with|belongs? to|(?:is|are) \w+(?:ed|en|lt) (?:in|on|with|by|as|to|at|from)|lives? (?:on"
        r"|at|in)|uses|needs|requires"
        r"|points? (?:to|at)|(?:go(?:es)?|(?:is|are) sent|(?:is|are) routed) (?:out )?(?:through|via|over|to)"
        r"|connects? to|talks? to"
        r"|sits? (?:on|behind)|(?:is|are) (?:only )?reachable (?:via|through|over))\s+(?P<where>.+)$",
        re.IGNORECASE,
    ),
    re.compile(_WHAT + r" (?P<verb>(?:is|are) (?:now )?(?:called|named))\s+(?P<where>.+)$", re.IGNORECASE),
    # What happens to a thing again and again.
    re.compile(
        _WHAT + r" (?P<verb>(?:is|are|gets?) (?:reset|rebuilt|restarted|wiped|backed up|synced|restored|cleared"
        r"|rotated"
        r"|redeployed|refreshed|emptied))"
        r"\s+(?P<where>(?:every|each|on \w+days|nightly|daily|weekly|hourly)\b.+)$",
        re.IGNORECASE,
    ),
    # A bare "is" only between a thing and an address that it has instead of another.
    re.compile(
        _WHAT + r" (?P<verb>is)\s+(?P<where>`?(?=\S*\w[./:_-]\w)[\w./:_-]+`?,? (?:and )?(?:not|no longer)\b.+)$",
        re.IGNORECASE,
    ),
    re.compile(
        r"^(?P<what>(?:el|la|los|las|nuestr[oa]s?) .{3,50}?) (?P<verb>se llama|está en|corre en"
        r"|es)\s+(?P<where>.+)$",
        re.I,
    ),
    re.compile(
        r"^(?P<what>(?:der|die|das|unser\w*) .{3,50}?) (?P<verb>heißt|läuft auf|liegt (?:auf|in)"
        r"|ist)\s+(?P<where>.+)$",
        re.I,
    ),
    re.compile(
        r"^(?P<what>(?:le|la|les|notre|nos) .{3,50}?) (?P<verb>s'appelle|tourne sur|est sur"
        r"|est)\s+(?P<where>.+)$",
        re.I,
    ),
    re.compile(r"^(?P<what>\S{2,24}?)(?P<verb>叫做?|位于|运行在|在|是)(?P<where>.+)$"),
    re.compile(r"^(?P<what>\S{2,24}?)(?P<verb>は)(?P<where>.+?(?:です|だ|である|にあります|で動い\S*))[。.]?$"),
)
_NAMED = any_of(r"called|named|llama|heißt|appelle|叫")
_PLACE = any_of(
    r"\bport\s+\d{2,5}\b|[a-z]:\d{2,5}\b|:\d{4,5}\b|\bhttps?://\S+|`[^`]+`|\b[A-Z][A-Z0-9]*_[A-Z0-9_]+\b",
    r"\b[a-z0-9-]+(?:\.[a-z0-9-]+)*\.(?:internal|intern|local|lan|corp|priv|svc|example|com|net|org|io|dev|cloud"
    r"|test)\b",
    r"(?<!\w)(?:[.~]?/|[\w-]+/(?=[\w-]*[./]\w))[\w./-]+",
)
_RHYTHM = re.compile(r"(?:every|each|on \w+days|nightly|daily|weekly|hourly)\b", re.IGNORECASE)
_BARE_PORT = re.compile(r"(?:listens? on|runs? on|(?:is|are) (?:published )?on) \d{4,5}\b(?![.-])", re.IGNORECASE)
_ON_PORT = any_of(r"\bport\b|[a-z]:\d{2,5}\b|:\d{4,5}\b|端口|puerto|ポート")
_VERSION = any_of(
    r"\b(?:python|node|java|go|ruby|php|postgres|postgresql|mysql|redis|django|react) ?\d+", r"\b\d+\.\d+(?:\.\d+)*\b"
)
_DEMAND = any_of(
    r"^(?:you|we|one|everybody) (?:always )?(?:need to|must|have to) (?:set|export|use|run|start|pass"
    r"|enable|install|be on)\b",
    r"^we(?:'re| are) (?:still |now |only )?(?:on|using|running|stuck on)\b",
)
_CORRECTION = any_of(
    r",?\s+(?:and )?(?:not|never)\s+\w",
    r",\s*(?:y )?no (?:en |es )?\w|,\s*nicht \w|,\s*(?:et )?(?:pas|non) \w",
    r"[，,、]\s*(?:而?不是|不叫|不在|ではな)|ではな",
)
_CONFIRMED = any_of(r"^(?:right|yes|correct|exactly|true|indeed|genau|exacto|oui|对|はい)\b(?! now)(?=[.,!]|$)")
_CODED = re.compile(r"\d|\w-\w|/|_|`|\b[A-Z]{2,}")
_NAME = re.compile(r"^[`\"'“]?(?=\S*[A-Z0-9_-])[\w.-]{2,40}[`\"'”]?(?:\s[A-Z]\w+)?[.!]?$")
_ASSIGNED = re.compile(r"\b([A-Z][A-Z0-9]*_[A-Z0-9_]+)\s*=\s*[\"'“”]?([\w.:/@+-]+)[\"'“”]?")
_SECRET_NAME = re.compile(r"TOKEN|SECRET|PASS|PWD|CREDENTIAL|API_?KEY|PRIVATE", re.IGNORECASE)
_VERB = re.compile(
    r"\b(?:is|are|was|were|has|have|must|should|needs?|runs?|lives?|uses?|goes|takes|comes|fails?"
    r"|works?|expires?|lasts?|belongs?|depends?|requires?|starts?|ends?|happens?|costs?|means?|es|son"
    r"|está|debe|ist|sind|muss|est|sont|doit|liegt|liegen|steht|stehen|läuft|laufen|heißt|heißen|braucht|brauchen"
    r"|gilt|funktioniert"
    r"|corre|corren|vive|viven|necesita|funciona|tourne|tournent|se trouve|fonctionne|marche)\b|是|在|です|ます",
    re.IGNORECASE,
)
_PERSONAL = re.compile(r"\b(?:i|i'm|i've|my|me|mine)\b", re.IGNORECASE)


def read(session: Session) -> Iterator[Candidate]:
    for sentence in session.said_by_user:
        if not sentence.is_firm or ONE_OFF.search(sentence.text):
            continue
        candidate = next(
            (found for rule in (_setting, _noted, _needed, _is_so) if (found := rule(session, sentence))), None
        )
        if candidate is not None:
            yield candidate
    yield from _borne_out(session)


def _borne_out(session: Session) -> Iterator[Candidate]:
    """What the agent found to be so, with a literal that a result holds and a person's "right" behind it."""
    for sentence in session.said_by_assistant:
        if not sentence.is_firm or is_plan(sentence) or ONE_OFF.search(sentence.text):
            continue
        literal = _PLACE.search(sentence.text)
        answer = next((said for said in session.said_by_user if said.at > sentence.at), None)
        if literal is None or answer is None or not _CONFIRMED.match(answer.text):
            continue
        results = [step.result for step in session.steps if step.result is not None and step.until < sentence.at]
        proof = next((found for one in results if (found := quote(one, literal.group().strip("`")))), None)
        told = _is_so(session, sentence) if proof else None
        if told is not None and proof is not None:
            yield replace(told, quotes=(*told.quotes, proof))


def _setting(session: Session, sentence: Sentence) -> Candidate | None:
    """A setting the user asked for by name and value, and that the session then put in place."""
    hit = _ASSIGNED.search(sentence.text)
    if hit is None or _SECRET_NAME.search(hit[1]):
        return None
    name, value = hit[1], hit[2].rstrip(".:")
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
    return Candidate("environment", f"environment:{setting_key(name)}", setting_value(name, value), text, quotes)


def _noted(session: Session, sentence: Sentence) -> Candidate | None:
    """The user asked for it to be noted."""
    head = re.sub(
        r"^(?:(?:ok|okay|good|fine|well|then|and|also|so|please)[,.]?\s+)+", "", sentence.text, flags=re.IGNORECASE
    )
    body = _NOTED.sub("", head) if _NOTED.match(head) else _NOTED_END.sub("", head) if _NOTED_END.search(head) else ""
    is_asked = _NOTED.match(head) or _NOTED_END.search(head)
    if is_asked and _ONLY_ASKS.fullmatch(body):
        return _noted_before(session, sentence)
    body = resolved(session, sentence, without_openers(body))
    if (
        not body
        or _PERSONAL.search(body)
        or not (
            _VERB.search(body)
            or re.search(r"^(?:the|our|a|an|all|every|each) .*\b[a-z]{3,}s\b (?!of\b)", body, re.IGNORECASE)
        )
    ):
        return None
    return _made(session, sentence, body, topic(body.split(" because ")[0], 4), {"noted": body})


def _noted_before(session: Session, sentence: Sentence) -> Candidate | None:
    """ "X has no rights on Y. Note that, please.": what is to be noted is the sentence before."""
    before = [one for one in session.said_by_user if one.at == sentence.at and one.start < sentence.start]
    if not before or not before[-1].is_firm or ONE_OFF.search(before[-1].text):
        return None
    body = without_openers(before[-1].text)
    if _PERSONAL.search(body) or not _VERB.search(body):
        return None
    return _made(session, before[-1], body, topic(body.split(" because ")[0], 4), {"noted": body})


def _needed(session: Session, sentence: Sentence) -> Candidate | None:
    """ "You need to set X=1 or …"; "we're still on Python 3.9"."""
    body = without_openers(sentence.text)
    demand = _DEMAND.match(body)
    if (
        demand is None
        or _PERSONAL.search(body)
        or not (_PLACE.search(body) or _VERSION.search(body) or _ASSIGNED.search(body))
    ):
        return None
    return _made(session, sentence, body, topic(body[demand.end() :], 4), {"needed": body})


def _is_so(session: Session, sentence: Sentence) -> Candidate | None:
    """ "The cluster is called X, not Y"; "the staging database listens on port 5433"."""
    whole = without_openers(sentence.text)
    if re.match(r"it(?:'s| is)(?: now)? called\b", whole, re.IGNORECASE):
        whole = resolved(session, sentence, re.sub(r"^it's", "it is", whole, flags=re.IGNORECASE))
    place = re.match(r"(?:in|on) (?P<name>production|prod|staging|test|ci|dev)\b,?\s+(?=[\w])", whole, re.IGNORECASE)
    whole = whole[place.end() :] if place else whole
    # "One thing: the queue runs on …": what stands behind the colon, where the whole says nothing.
    bodies = (re.sub(r"^[\w ]{2,20}: ", "", whole), whole.rsplit(": ", 1)[-1])
    body, hit = next(
        ((body, hit) for body in bodies for pattern in _IS_SO if (hit := pattern.match(body))), (bodies[0], None)
    )
    if hit is None or _PERSONAL.search(body):
        return None
    where = hit["where"].rstrip(" .!。")
    named = _NAMED.search(hit["verb"]) is not None
    is_english = _is_english(hit)
    literal = (
        _RHYTHM.match(where)
        or _PLACE.search(where)
        or _BARE_PORT.match(f"{hit['verb']} {where}")
        or (hit["verb"].casefold() in ("uses", "needs", "requires") and _VERSION.search(where))
    )
    ours = re.match(r"(?:our|this)\b", body, re.IGNORECASE) is not None
    owned = hit["verb"].casefold().startswith("belong") and _CODED.search(where.split(",")[0]) is not None
    corrected = _CORRECTION.search(where) is not None and (
        not is_english
        or re.search(r"(?:is|are) (?:at|on|in)$", hit["verb"]) is None
        or _CODED.search(where) is not None
    )
    is_name = named and (_NAME.match(where) is not None or (ours and re.fullmatch(r"[\w.-]+", where) is not None))
    if not (corrected or owned or (is_english and literal) or is_name):
        return None
    aspect = _aspect(body, where, named=named, owned=owned)
    parts = re.split(r",\s+(?=\w)", body)
    said = ", ".join([parts[0], *(part for part in parts[1:] if _goes_on(part))])
    value = re.split(r"[,，;]\s*|\s+(?:and )?(?:not|never)\s", where)[0]
    if "ではな" in where:
        value = re.sub(r"(?:です|だ|である).*$", "", where.split("ではなく")[-1]).strip(" 、。")
    if aspect == "port" and (port := re.search(r"(?<!\d)\d{2,5}(?!\d)", value)):
        value = port.group()
    if place:
        said = f"{place.group().rstrip(', ')} {said}"
    about = service_of(f"{place['name'] if place else ''} {hit['what']}")
    return _made(session, sentence, said, f"{about}.{aspect}", {aspect: value})


def _aspect(body: str, where: str, *, named: bool, owned: bool) -> str:
    """What of a thing is told: one fact each."""
    if named:
        return "name"
    if _ON_PORT.search(body) or re.match(r"\d{4,5}\b(?![.-])", where):
        return "port"
    return "owner" if owned else "place"


def _is_english(hit: re.Match[str]) -> bool:
    return hit.re in _IS_SO[:4]


def _goes_on(part: str) -> bool:
    """Whether what follows a comma belongs to the claim ("not Y", "port 5544") and is no further order."""
    return _CORRECTION.match(f", {part}") is not None or (_PLACE.search(part) is not None and len(part.split()) <= 4)


def _made(session: Session, sentence: Sentence, body: str, key: str, value: dict[str, str]) -> Candidate | None:
    text = as_sentence(body, language_of(sentence.text))
    if not fits(text) or faults(text):
        return None
    return Candidate("environment", f"environment:{key}", value, text, (sentence.quote(),))
