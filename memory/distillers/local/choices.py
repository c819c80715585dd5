"""What a team decided, as a person told it."""

from __future__ import annotations

from collections.abc import Iterator

from memory.distillers.local.sentences import ONE_OFF
from memory.distillers.local.session import Session
from memory.distillers.local.wording import as_sentence, fits, topic, without_openers
from memory.distillers.local.words import any_of
from memory.languages import language_of
from memory.lint import faults
from memory.transcript import Candidate

_DECIDED = any_of(
    r"^(?:we|the team|our team)(?:'ve| have)? (?:finally |now )?(?:decided|agreed|chose|chosen|settled"
    r"|standardi[sz]ed)"
    r" (?:to|on|that|against)\b",
    r"^(?:hemos decidido|decidimos|wir haben (?:uns )?(?:entschieden|beschlossen))\b|^nous avons décidé\b",
    r"^我们已?经?决定",
)
_LABEL = any_of(r"^(?:decision|decided|adr|agreed|entscheidung|decisión|décision|决定)(?:\s[^:]{2,50})?[:：]\s*")


def read(session: Session) -> Iterator[Candidate]:
    for sentence in session.said_by_user:
        body = without_openers(sentence.text)
        labelled = _LABEL.match(body)
        said = body[labelled.end() :] if labelled else body
        if not sentence.is_firm or ONE_OFF.search(said) or not (labelled or _DECIDED.match(body)):
            continue
        text = as_sentence(_LABEL.sub("", body), language_of(body))
        if fits(text) and not faults(text):
            yield Candidate(
                "choice",
                f"choice:{topic(_LABEL.sub('', body), 4)}",
                {"choice": text},
                text,
                (sentence.quote(),),
                "project",
            )
