"""What the user wants from now on, in the user's own words: lasting wishes, not orders for this once."""

from __future__ import annotations

import re
from collections.abc import Iterator

from memory.distillers.local.sentences import ONE_OFF, Sentence
from memory.distillers.local.session import Session
from memory.distillers.local.wording import as_sentence, fits, language_of, plain, topic, without_openers
from memory.lint import faults
from memory.transcript import Candidate, Quote

_FRAME = re.compile(
    r"^(?:from (?:now|here|today) on(?:wards?)?|going forward|moving forward|in (?:the )?future"
    r"|henceforth|as a (?:rule|general rule)|by default|in general|generally|every time|each time"
    r"|for all (?:future )?\w+"
    r"|de ahora en adelante|a partir de (?:ahora|hoy)|en el futuro|por regla general|ab (?:jetzt"
    r"|sofort)|in zukunft|künftig|grundsätzlich|à partir de maintenant|désormais|dorénavant"
    r"|à l'avenir)\b[,:]?\s*"
    r"|^(?:从现在开始|以后|今後は?|これからは?)[，、,]?\s*",
    re.IGNORECASE,
)
_FRAME_END = re.compile(
    r",?\s*\b(?:from (?:now|here) on(?:wards?)?|going forward|moving forward|in (?:the )?future"
    r"|as a rule|by default|de ahora en adelante|ab jetzt|in zukunft|désormais|à l'avenir)\s*[.!]*$",
    re.IGNORECASE,
)
_DURABLE_ORDER = re.compile(
    r"^(?:please |por favor,? |bitte |s'il (?:te|vous) plaît,? |veuillez )?(?:always|never|don't ever"
    r"|do not ever|under no circumstances|siempre|nunca|jamás|immer|nie(?:mals)?|toujours|jamais|总是|永远"
    r"|请始终|必ず|常に|絶対に)\b"
    r"|^(?:请|請|いつも)?(?:总是|始终|一律|永远不要|千万别|必ず|常に)",
    re.IGNORECASE,
)
_DURABLE_LATER = re.compile(
    r"^(?:\w*(?:me|nos|melo|te|mir|uns)\b|por favor\b|bitte\b|veuillez\b|\w+ez\b|\w+en sie\b"
    r"|\w+e mir\b).*\b(?:siempre|nunca|immer|nie(?:mals)?|toujours|jamais)\b",
    re.IGNORECASE,
)
_HABIT = (
    r"(?:use|want|write|deploy|work|run|need|like|keep|read|answer|commit|squash|format|name|review|merge|test|start|ship"
    r"|log|put|speak|reply|pay by|shop|order by|fly|eat|drink)"
)
_WISH = re.compile(
    r"^(?:i|we) (?:(?:always|never|really|strongly|much|usually|generally) )*(?:prefer|dislike|insist)\b"
    r"|^(?:i'd|we'd|i would|we would) (?:always |much )?(?:rather|prefer)\b|^my preference is\b"
    r"|^(?:i|we) (?:always|never|only) " + _HABIT + r"\b"
    r"|^my preferred \w+(?: \w+){0,2} is\b|^you (?:should|must|need to|have to) (?:always|never|only)\b"
    r"|^(?:i|we)(?:'d| would)? (?:like|want|need) you to (?:always|never|only|stop)\b"
    r"|^prefiero\b|^preferimos\b|^ich (?:bevorzuge|möchte (?:immer|nie|lieber))\b|^je préfère\b"
    r"|^(?:我|我们)(?:更)?(?:喜欢|偏好)|好みです|がいいです",
    re.IGNORECASE,
)
_HOUSE_RULE = re.compile(
    r"^(?:here )?(?:we|our team|in this (?:repo|repository|project|codebase),? we) (?:only "
    r"|always )?(?:use|write|keep|follow|deploy|run|name|format|indent) .+(?:\binstead of\b|, not\b"
    r"|\brather than\b|\bnever\b|\bonly\b)",
    re.IGNORECASE,
)
_REFUSAL = re.compile(
    r"^(?:please )?(?:i |we )?(?:don't (?:want |like )?(?:to )?|do not (?:want |like )?(?:to )?|stop "
    r"|avoid |refrain from |no more )(?!worry|bother|mind|panic|forget|hesitate|know|think|have|see"
    r"|understand)\w+",
    re.IGNORECASE,
)
_STANDING = re.compile(
    r"\b(?:commit messages?|comments?|code|docs?|replies|answers?|emails?|e-mails?|mails?|messages?"
    r"|tests?|(?:phone )?calls?|sms|letters?|newsletters?|branch(?:es)?|master|main|prod(?:uction)?"
    r"|ever|without asking|unless|emojis?|anything|any)\b",
    re.IGNORECASE,
)
_CONTACT = re.compile(
    r"^(?:please |kindly |just )?(?:only )?(?:call|phone|ring|contact|reach|text|e-?mail|write(?: to)?"
    r"|message|notify|address|send)\s+(?:me|us)\b.*\b(?:only|by|via|in the|not|never|instead|after"
    r"|before|between|rather|on (?:my )?(?:mobile|cell|work|weekdays|weekends)|as)\b"
    r"|^(?:please |kindly )?(?:use|send|address) (?:my|everything|all (?:mail|letters"
    r"|correspondence)).*\b(?:only|instead|not|never)\b"
    r"|^(?:please )?(?:answer|reply|respond|talk|speak|write)(?: to (?:me|us))? (?:only |always )?in (?:\w+)\b",
    re.IGNORECASE,
)
_TOLD_TO_AGENT = re.compile(
    r"^(?:please|kindly|just)\s+|^you (?:should|must|need to|have to)\s+(?=always|never|only)|^(?:i"
    r"|we)(?:'d| would)? (?:like|want|need) you to\s+(?=always|never|only|stop)",
    re.IGNORECASE,
)
_NOT_A_WISH = re.compile(
    r"^(?:i|we) (?:always|never|only) (?:\w+ed|said|had|got|saw|knew|did|was|were|have|get|see|know"
    r"|thought|meant|understand|understood|wanted|asked|received|heard|wonder|forget)\b"
    r"|^(?:never ?mind|always happy|never again)\b|^(?:i|we) (?:need|want|'d like|would like"
    r"|like) (?:to|a|an|the|my|your|that|this|it|some|help|\d|you to (?!always|never|stop))\b|^(?:i"
    r"|we) (?:hate|love|like) (?:it|this|that)\b",
    re.IGNORECASE,
)
_SPLITS = re.compile(
    r"(?:,\s*|;\s*|\s+)(?:and|but|also)\s+(?:also\s+)?(?=(?:please\s+)?(?:never|always|don't|do not"
    r"|no longer|stop|avoid|use|prefer|keep|write|put|add|run|call|only)\b)|;\s+|(?:,\s*|\s+)(?:y"
    r"|e)\s+(?=(?:no|nunca|siempre|\w+(?:me|nos))\b)|(?:,\s*|\s+)und\s+(?=(?:nie|niemals|immer|bitte"
    r"|kein|keine)\b)|(?:,\s*|\s+)et\s+(?=(?:ne|jamais|toujours)\b)",
    re.IGNORECASE,
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
        if not sentence.is_firm or ONE_OFF.search(_FRAME.sub("", without_openers(sentence.text))):
            continue
        if _DIAGNOSIS.search(sentence.text):
            continue  # a wish tied to a diagnosis is for a person to write down, without the diagnosis
        for wish, quote in _wishes(sentence):
            if (candidate := _candidate(session, wish, quote)) is not None:
                yield candidate


def _wishes(sentence: Sentence) -> Iterator[tuple[str, Quote]]:
    """The lasting wishes in one sentence, each with where it says so; a frame such as "from now on" holds for all."""
    body = without_openers(sentence.text)
    framed = _FRAME.match(body) is not None or _FRAME_END.search(body) is not None
    body = _FRAME_END.sub("", _FRAME.sub("", body))
    for part in _SPLITS.split(body):
        clause = without_openers(part.strip(" ,;"))
        bare = _QUOTED.sub(" ", clause)
        if not clause or _NOT_A_WISH.search(bare):
            continue
        if (framed and _is_order(bare)) or _is_lasting(bare):
            yield clause, _quote(sentence, clause)
            framed = framed or not _WISH.search(bare)  # "always do A and do B": the adverb holds for both


def _quote(sentence: Sentence, clause: str) -> Quote:
    """The clause where it stands, or the whole sentence when the clause alone would hide the frame."""
    found = sentence.text.find(clause)
    if found < 0 or _is_lasting(clause) is False:
        return sentence.quote()
    start = sentence.start + found
    return Quote(sentence.seen.ref, start, start + len(clause), clause)


def _is_lasting(clause: str) -> bool:
    if _DURABLE_ORDER.search(clause) or _DURABLE_LATER.search(clause) or _WISH.search(clause):
        return True
    if _HOUSE_RULE.search(clause) or _CONTACT.search(clause):
        return True
    return bool(_REFUSAL.search(clause) and _STANDING.search(clause))


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
    return _CONTACT.search(wish) is not None or (
        language != "en" and re.search(r"\w(?:me|nos)\b|\b(?:mir|uns|moi|nous)\b", wish, re.IGNORECASE) is not None
    )


def _in_third_person(wish: str, who: str) -> str:
    """ "call me only in the afternoon" becomes "call the customer only in the afternoon"."""
    text = _TOLD_TO_AGENT.sub("", plain(wish))
    text = re.sub(r"\bI(?:'d| would) (?:always |much )?(?:rather|prefer)\b", f"the {who} prefers", text)
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
