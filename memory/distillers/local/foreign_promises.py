"""Promises and requests with a date in Spanish, German, French, Chinese and Japanese.

The speaker's own words stay, with the date worked out in their place: what a rule cannot parse it must not rewrite.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from memory.distillers.local import dates
from memory.distillers.local.sentences import Sentence
from memory.distillers.local.session import Session
from memory.distillers.local.wording import as_sentence, fits, plain, topic, without_openers
from memory.distillers.local.words import any_of
from memory.languages import language_of
from memory.lint import faults
from memory.transcript import Candidate


@dataclass(frozen=True, slots=True)
class _Tongue:
    """How one language promises and asks, and the frames its sentences are told in."""

    promise: re.Pattern[str]
    request: re.Pattern[str]
    by_support: str
    by_customer: str
    asked: str
    by_then: str = ""  # what stands before the date where a span was named …
    on_day: str = ""  # … and where a day was


_DECLINED = any_of(
    r"\b(?:geht|passt) (?:mir |leider |da )*nicht\b|\bbin (?:ich )?(?:da )?(?:nicht (?:da|zu hause)|verreist"
    r"|im urlaub|weg)\b",
    r"\bno (?:puedo|estaré|estoy|me viene)\b|\bimposible\b|\bpas possible\b|\bje ne (?:peux|serai|suis) pas\b"
    r"|\b(?:absent|indisponible)\w*\b",
    r"不行|没空|不在家|不方便|来不了|不在|都合が(?:悪|つか)|無理|できません|いません",
)
_THEN = re.compile(r"^(?:では|それでは|那么|那)[、，,]?(?=\d|[今明来下本])")
_INSTEAD = any_of(
    r"^(?:dann|entonces|alors|donc|à la place|stattdessen)\b|^(?:那|では|それでは|改为)|^(?:失礼しました"
    r"|申し訳ありません)[。、]?"
)
_LOOKING = r"(?:prüf|schau|seh|versteh|hoff|könn|möcht|muss|müss|kann|wär|würd|hätt|hab|bin|sind|war|glaub|denk)"
_TONGUES = {
    "de": _Tongue(
        any_of(
            rf"^(?:ich|wir) (?!{_LOOKING})\w+ ",
            r"^(?:sie|du|ihr) (?:erhalten|bekommen|erhältst|bekommst|bekommt|haben)\b.*",
            r"^(?:der|die|das|ihre?|unsere?|dein\w*|eur\w*|eine?|jemand)\b[^,.;:]{0,60}? "
            r"(?:wird|werden|kommt|kommen|trifft|geht|erfolgt|meldet|ruft|liefert)\b",
            r"^(?:bis|am|spätestens|morgen|übermorgen|in \w+ \w+|innerhalb)\b.{0,40}?"
            r"\b(?:erhalten|bekommen|schicken|senden|liefern|melden|rufen|überweisen|haben) (?:wir|sie|ich)\b",
        ),
        any_of(
            r"\b(?:ruf\w*|meld\w*|schreib\w*|schick\w*|send\w*|erinner\w*|kontaktier\w*)\b.*\b(?:mich|mir|uns)\b",
        ),
        "Zusage vom {day}: {said}",
        "Zusage des Kunden vom {day}: {said}",
        "Wunsch des Kunden vom {day}: {said}",
        "bis ",
        "am ",
    ),
    "es": _Tongue(
        any_of(
            r"^(?:me|nos) compromet\w+ a |^(?:(?:se|te|le|les|os|me|lo|la) )*\w+(?:ré|remos)\b",
            r"^(?:(?:se|te|le|les|os) )+\w+rá[ns]?\b|^(?:recibirá|tendrá|recibirás|tendrás)\b",
            r"^(?:un|una|el|la|los|las|su|sus|nuestr[oa]|alguien)\b[^,.;:]{0,60}? (?:(?:se|te|le|les) )*\w+rán?\b",
            r"^(?:antes del?|el|mañana|en \w+ \w+|dentro de)\b.{0,40}?,? (?:(?:se|te|le|les|os) )*\w+(?:ré|remos"
            r"|rá)\b",
        ),
        any_of(r"\b(?:ll[aá]m|escr[ií]b|m[aá]nd|env[ií]|recu[eé]rd|cont[aá]ct|av[ií]s)\w*(?:me|nos)\b"),
        "Compromiso del {day}: {said}",
        "Compromiso del cliente del {day}: {said}",
        "Petición del cliente del {day}: {said}",
        "antes del ",
        "el ",
    ),
    "fr": _Tongue(
        any_of(
            r"^(?:je|nous|on) (?:(?:vous|te|l['’]|le|la|les) ?)*\w+(?:rai|rons|ra)\b|^vous (?:recevrez|aurez|serez)\b",
            r"^(?:un|une|le|la|les|votre|vos|notre|nos|quelqu['’]un)\b[^,.;:]{0,60}? (?:(?:vous|te) )?\w+ront?\b",
            r"^(?:un|une|le|la|votre|notre)\b[^,.;:]{0,60}? (?:(?:vous|te) )?\w+ra\b",
            r"^(?:d['’]ici|avant|demain|le|dans|sous)\b.{0,40}?,? (?:je|nous) (?:(?:vous|te) )?\w+(?:rai|rons)\b",
        ),
        any_of(r"\b(?:r?appel|écri|envo|contact|prév|transmet)\w*[- ](?:moi|nous)\b"),
        "Engagement du {day} : {said}",
        "Engagement du client du {day} : {said}",
        "Demande du client du {day} : {said}",
        "d'ici le ",
        "le ",
    ),
    "zh": _Tongue(
        any_of(
            r"(?:我们?|客服|经理|主管|工程师|技术员|师傅|同事|款项|退款|包裹|货|发票|系统).{0,16}(?:会|将|保证"
            r"|承诺|一定)|^(?:会|将)在"
        ),
        any_of(r"(?:请|麻烦)?.{0,14}(?:给我(?:打|发|回)|打(?:电话)?给我|联系我|提醒我|通知我)"),
        "客服于 {day} 承诺：{said}",
        "客户于 {day} 承诺：{said}",
        "客户于 {day} 要求：{said}",
    ),
    "ja": _Tongue(
        any_of(
            r"(?<!確認)(?<!検討)(?<!お調べ)(?:いたします|致します|します|行います|送ります|予定です|参ります"
            r"|伺います|届きます"
            r"|届く予定です|差し上げます|ご連絡します)[。.]?$",
        ),
        any_of(r"(?:電話|連絡|メール|返信|送って|知らせ|教えて).{0,8}(?:ください|お願い|いただけ|ほしい)"),
        "{day} の約束：{said}",
        "お客様の約束（{day}）：{said}",
        "お客様の依頼（{day}）：{said}",
    ),
}


def read(session: Session) -> Iterator[Candidate]:
    """What was promised or asked for in the sentence's own language; English has a rule of its own."""
    if session.is_coding:
        return
    made: list[tuple[Sentence, Candidate]] = []
    for said in sorted((*session.said_by_user, *session.said_by_assistant), key=lambda one: (one.at, one.start)):
        language = language_of(said.text)
        tongue = _TONGUES.get(language)
        if tongue is not None and said.is_firm and (candidate := _candidate(session, said, tongue, language)):
            if _INSTEAD.match(said.text):
                made = [(one, told) for one, told in made if one.seen.role != said.seen.role or one.at == said.at]
            made.append((said, candidate))
    yield from (candidate for said, candidate in made if not _is_declined(session, said))


def _is_declined(session: Session, promise: Sentence) -> bool:
    """Whether the customer's next message says that support's promise does not suit."""
    answer = [said for said in session.said_by_user if said.at > promise.at]
    return promise.seen.role == "assistant" and any(
        _DECLINED.search(said.text) for said in answer if said.at == answer[0].at
    )


def _candidate(session: Session, said: Sentence, tongue: _Tongue, language: str) -> Candidate | None:
    body = _THEN.sub("", without_openers(said.text))
    said_at = session.moment(said.seen)
    by_user = said.seen.role == "user"
    when = dates.find(body, said_at)
    if (
        when is None
        or when.is_over_soon(said_at)
        or (by_user and not session.is_support and not tongue.request.search(body))
    ):
        return None
    if by_user and tongue.request.search(body):
        form = tongue.asked
    elif tongue.promise.search(body):
        form = tongue.by_customer if by_user else tongue.by_support
    else:
        return None
    lead = (
        f"{body[when.start : when.start + len(when.lead)]} "
        if when.lead
        else tongue.by_then
        if when.is_end
        else tongue.on_day
    )
    gap = " " if language in ("zh", "ja") else ""
    dated = f"{body[: when.start]}{'' if lead else gap}{lead}{when.shown(said_at)}{gap}{body[when.end :]}"
    text = as_sentence(form.format(day=said_at.date().isoformat(), said=dated.strip()), language)
    if not fits(text) or faults(text):
        return None
    due = when.due(said_at)
    value = {
        "due": due.isoformat(),
        "by": "the customer" if form == tongue.by_customer else "support",
        "what": plain(dated),
    }
    key = f"commitment:{topic(body[: when.start] + ' ' + body[when.end :])}"
    return Candidate("commitment", key, value, text, (said.quote(),), "customer", expires_at=due + dates.KEPT_AFTER_DUE)
