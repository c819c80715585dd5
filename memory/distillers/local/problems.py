"""A customer's problem that was taken up under a number, and whether it was still open at the end."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass

from memory.distillers.local.antecedents import resolved
from memory.distillers.local.sentences import Sentence
from memory.distillers.local.session import Session, arguments_of, quote
from memory.distillers.local.wording import as_sentence, fits, plain, segment, without_openers
from memory.distillers.local.words import any_of
from memory.languages import language_of
from memory.lint import faults
from memory.transcript import Candidate, Quote, Seen

_KIND = r"(?P<kind>ticket|case|incident|bug|issue|report|incidencia|caso|vorgang|störung|dossier|工单|チケット)"
_NUMBER = r"(?P<number>#?[A-Z]{0,6}-?\d{3,})"
_TAKEN_UP = (
    re.compile(
        r"\b(?:I|[Ww]e)(?:'ve| have)? (?:just |now )?(?:opened|created|filed|raised|logged|registered"
        r"|escalated)\b.{0,40}?"
        rf"\b{_KIND}\b.{{0,20}}?{_NUMBER}"
    ),
    re.compile(rf"\b(?:your|the) {_KIND} (?:number |id |reference )?is (?:now )?{_NUMBER}", re.IGNORECASE),
    re.compile(
        rf"\b(?:ich habe|wir haben)\b.{{0,30}}?\b{_KIND}\b.{{0,20}}?{_NUMBER}\b.{{0,30}}?\b(?:eröffnet|angelegt"
        rf"|erstellt|aufgenommen)",
        re.IGNORECASE,
    ),
    re.compile(
        rf"\b(?:he|hemos) (?:abierto|creado|registrado)\b.{{0,30}}?\b{_KIND}\b.{{0,20}}?{_NUMBER}", re.IGNORECASE
    ),
    re.compile(
        rf"\b(?:j['’]ai|nous avons) (?:ouvert|créé|enregistré)\b.{{0,30}}?(?P<kind>ticket|dossier"
        rf"|incident)\b.{{0,20}}?{_NUMBER}",
        re.IGNORECASE,
    ),
    re.compile(
        rf"(?:已|已经|为您)?(?:创建|登记|提交)了?.{{0,10}}?{_KIND}.{{0,8}}?{_NUMBER}"
        rf"|{_KIND.replace('kind', 'kind_')}号?(?:是|为)[:：]?\s?{_NUMBER.replace('number', 'number_')}"
    ),
    re.compile(rf"{_KIND}.{{0,4}}?{_NUMBER}.{{0,6}}?(?:を作成|を起票|で受け付け|を登録)"),
)
_COMPLAINT = any_of(
    r"\b(?:does(?:n't| not)|do(?:n't| not)|can(?:'t|not)|won't|never|no longer|stopped|keeps?) \w+",
    r"\b(?:wrong|broken|crash\w*|fail\w*|error|slow|missing|late|stuck|reboot\w*|freez\w*|lost|damaged"
    r"|leak\w*|grey|empty|twice|down|offline|drops?|disconnect\w*|unavailable|corrupt\w*)\b",
    r"\b(?:geht nicht|funktioniert nicht|kaputt|fehlt|defekt|stürzt|abgestürzt|fehler|langsam|bricht)\b",
    r"\b(?:no funciona|no (?:puedo|carga|llega|aparece)|se (?:reinicia|cae|cuelga|corta|cierra|bloquea|apaga"
    r"|congela)|error|roto|falla|lento)\b",
    r"\b(?:ne (?:marche|fonctionne|s['’]affiche|charge) (?:pas|plus)|en panne|erreur|bloqué\w*|cassé\w*|lent\w*"
    r"|plante)\b",
    r"不能|无法|没有收到|坏了|报错|打不开|失败|崩溃|できません|動きません|届きません|エラー|壊れ|落ち",
)
_WISH = any_of(r"\b(?:please|want|wish|prefer|would like|instead)\b")
# Since when, in words that will not be true tomorrow.
_SINCE = any_of(
    r",?\s*\b(?:for )?(?:the )?(?:second|third|fourth|\d+\w\w) time(?: (?:this|in|within) (?:a |one )?\w+)?",
    r",?\s*\b(?:since|from|for) (?:yesterday|this \w+|last \w+|today|a few \w+|\w+day(?: \w+)?)\b",
    r",?\s*\b(?:desde (?:ayer|hoy|esta \w+|hace \w+ \w+)|seit (?:gestern|heute|letzter \w+|\w+tag)|depuis (?:hier"
    r"|ce \w+|cette \w+))\b",
    r"(?:从|自)?(?:昨天|今天|上周|前天)(?:开始|起)?[，,]?|(?:昨日|今日|先週|今朝)から[、]?",
    r"\b(?:yesterday|today|again today|gestern|heute|ayer|hoy|hier soir)\b,?\s*",
)
_SOLVED = any_of(
    r"\b(?:works? (?:again|now|fine)|(?:is|are) (?:fixed|solved|resolved|gone)|fixed it|solved it"
    r"|that (?:did it|worked)|problem solved|syncs? again|went through|loads again|back (?:to normal|up|online))\b",
    r"\b(?:funktioniert (?:wieder|jetzt)|geht (?:wieder|jetzt)|ya funciona|funciona (?:de nuevo|ahora)|ça (?:marche"
    r"|fonctionne))\b",
    r"(?:好了|可以了|恢复了|解决了)|(?:直りました|動きました|解決しました)",
)
_STATED = re.compile(
    r"^(?:(?:your |the )?(?:ticket|case|incident|bug|issue|problem)\s+)?(?P<number>#?[A-Z]{1,6}-\d{2,}"
    r"|#\d{3,})?.{0,40}?"
    r"\b(?:is|was|has been) (?:now |meanwhile )?(?P<state>solved|fixed|resolved|closed)\b",
    re.IGNORECASE,
)
_TICKET = re.compile(r"#?\b[A-Z]{1,6}-\d{2,}\b|#\d{3,}\b")
_NOT_DONE = re.compile(r"\b(?:not|cannot|can't|unable|fail\w*|re-?open\w*|unresolved|unsolved)\b", re.IGNORECASE)
_STATUS = re.compile(r"solved|fixed|resolved|closed|done", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class _Opened:
    said: Sentence
    complaint: Sentence
    kind: str
    number: str


def read(session: Session) -> Iterator[Candidate]:
    if session.is_coding:
        return
    opened = list(_opened(session))
    solved = [told for told in session.said_by_user if _SOLVED.search(told.text)]
    for one in opened:
        if (candidate := _told(session, one, solved)) is not None:
            yield candidate
    numbers = {one.number for one in opened}
    yield from (candidate for number, candidate in _closed(session, solved) if number not in numbers)


def _opened(session: Session) -> Iterator[_Opened]:
    complaints = _complaints(session)
    for said in session.said_by_assistant:
        hit = next((hit for pattern in _TAKEN_UP if (hit := pattern.search(said.text))), None)
        before = bisect_left(complaints, said.at, key=lambda one: one.at)
        if hit is not None and before:
            complaint = complaints[before - 1]
            named = hit.groupdict()
            kind, number = (named.get(name) or named.get(f"{name}_") or "" for name in ("kind", "number"))
            yield _Opened(said, complaint, kind, number)


def _told(session: Session, one: _Opened, said_solved: list[Sentence]) -> Candidate | None:
    solved = next((told for told in said_solved if told.at > one.said.at), None)
    closing = _closed_by_a_tool(session, one)
    state = "solved" if solved or closing else "open"
    language = language_of(one.complaint.text)
    last = solved.seen if solved else closing[0] if closing else one.said.seen
    day = session.moment(last).date().isoformat()
    complaint = resolved(session, one.complaint, _of_the_customer(one.complaint.text))
    what = as_sentence(_SINCE.sub("", complaint), language).rstrip(".。")
    shown = state if language == "en" else _STATES.get(language, {}).get(state, state)
    if language == "en":
        text = f"{what} ({one.kind} {one.number}, {state} on {day})."
    else:
        text = as_sentence(f"{what} ({one.kind} {one.number}, {shown} {day})", language)
    if not fits(text) or faults(text):
        return None
    ended = (solved.quote(),) if solved else (closing[1],) if closing else ()
    quotes = (one.complaint.quote(), one.said.quote(), *ended)
    return Candidate(
        "problem",
        f"problem:{segment(one.number)}",
        {"state": state, "number": one.number},
        text,
        quotes,
        "customer",
        use="historical" if state == "solved" else "actionable",
    )


def _closed_by_a_tool(session: Session, one: _Opened) -> tuple[Seen, Quote] | None:
    """Where a tool says, after it was taken up, that this very number is done."""
    number = one.number.lstrip("#")
    for step in session.steps:
        if step.result is None or step.until < one.said.at or number not in step.result.text:
            continue
        text = step.result.text[:500]
        found = _STATUS.search(text)
        if found is not None and not _NOT_DONE.search(text) and (told := quote(step.result, found.group())):
            return step.result, told
    return None


_STATES = {
    "de": {"open": "offen am", "solved": "gelöst am"},
    "es": {"open": "abierto el", "solved": "resuelto el"},
    "fr": {"open": "ouvert le", "solved": "résolu le"},
    "zh": {"open": "未解决", "solved": "已解决"},
    "ja": {"open": "未解決", "solved": "解決済み"},
}


def _closed(session: Session, said_solved: list[Sentence]) -> Iterator[tuple[str, Candidate]]:
    """A problem of an earlier session that support says is solved, under the number it was asked about."""
    for said in session.said_by_assistant:
        hit = _STATED.search(said.text)
        if (
            hit is None
            or not said.is_firm
            or re.search(r"\b(?:will|would|not|once|until|as soon as)\b", said.text[: hit.end()])
        ):
            continue
        asked = [one for one in session.said_by_user if one.at < said.at]
        named = hit["number"] or next(
            (found.group() for one in reversed(asked) if (found := _TICKET.search(one.text))), ""
        )
        proof = _solved_in_results(session, named, said)
        if not named or proof is None:
            continue
        body = as_sentence(_of_support(without_openers(said.text)))
        text = body if named in body else f"{body.rstrip('.')} ({named})."
        if not fits(text) or faults(text):
            continue
        confirmed = next((one for one in said_solved if one.at > said.at), None)
        quotes = (said.quote(), proof, *((confirmed.quote(),) if confirmed else ()))
        value = {"state": "solved", "number": named}
        yield (
            named,
            Candidate("problem", f"problem:{segment(named)}", value, text, quotes, "customer", use="historical"),
        )


def _solved_in_results(session: Session, number: str, before: Sentence) -> Quote | None:
    """Where a tool says that the ticket is done."""
    for step in session.steps:
        if step.result is None or step.until > before.at or number.lstrip("#") not in step.result.text + step.call.text:
            continue
        status = arguments_of(step.result.text).get("status") or arguments_of(step.result.text).get("state")
        found = _STATUS.search(str(status)) if status else _STATUS.search(step.result.text[:500])
        if found is not None:
            return quote(step.result, found.group())
    return None


def _complaints(session: Session) -> list[Sentence]:
    return [
        one
        for one in session.said_by_user
        if _COMPLAINT.search(one.text) and not _WISH.search(one.text) and one.is_firm
    ]


def _of_support(told: str) -> str:
    text = re.sub(r"\b[Yy]our\b", "the customer's", plain(told))
    text = re.sub(r"\byou\b", "the customer", text)
    return re.sub(r"\bour\b", "the", text)


def _of_the_customer(complaint: str) -> str:
    text = plain(without_openers(complaint))
    text = re.sub(r"\b[Mm]y\b", "the customer's", text)
    text = re.sub(r"\bI can(?:'t|not)\b", "the customer cannot", text)
    text = re.sub(r"\bI (?:do not|don't)\b", "the customer does not", text)
    text = re.sub(r"\bI(?:'m| am)\b", "the customer is", text)
    text = re.sub(r"\bI(?:'ve| have)\b", "the customer has", text)
    text = re.sub(r"\bI ([a-z]+)\b", lambda hit: f"the customer {hit[1]}{'' if hit[1].endswith('ed') else 's'}", text)
    return re.sub(r"\b(?:me|us)\b", "the customer", text)
