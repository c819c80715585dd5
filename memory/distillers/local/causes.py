"""A fault the user asked about, its cause as the agent found it, and the repair that held."""

from __future__ import annotations

import re
from collections.abc import Iterator

from memory.distillers.local.explanations import has_identifier, is_plan
from memory.distillers.local.sentences import Sentence
from memory.distillers.local.session import Session, Step, quote, quote_call
from memory.distillers.local.wording import as_sentence, fits, plain, topic, without_openers
from memory.lint import faults
from memory.transcript import Candidate

_WHY = re.compile(
    r"^(?:why|how come|what (?:causes|makes))\b|\bwhy\b.+\?$|\b(?:find|figure|work) out (?:why|what|how)\b"
    r"|\b(?:any idea|see|check|tell me|know|understand|investigate|look into) why\b|\bwhat(?:'s| is) (?:causing"
    r"|wrong)\b"
    r"|\b(?:root )?cause\b|^(?:warum|wieso|por qué|pourquoi)\b",
    re.IGNORECASE,
)
_DONE = re.compile(
    r"\b(?:now|passes|passed|fixed|added|updated|changed|removed|replaced|done|works|green|should|let me|we could)\b",
    re.IGNORECASE,
)
_PRONOUN = re.compile(r"^(?:it|this|which|that)\s+(?=\w+s\b)", re.IGNORECASE)
_FIRST_WORDS = re.compile(r"^(?:(?:then|ok|okay|so|just|please|well|right|yes|and|now),?\s+)+", re.IGNORECASE)
_NO_SUBJECT = re.compile(r"^(?:in|on|at|by|from|for|to|of|with|and|or|but|so|because|when|if|as)\b", re.IGNORECASE)
_CODE_NAME = re.compile(r"\(`?(\w+)`?\)|`([\w.]+)(?:\(\))?`|\b(\w+_\w+)\b")
_VERB_FIRST = re.compile(
    r"^(?!(?:the|a|an|it|this|that|we|i|you|there|fixed?|done|ok"
    r"|update[ds]?)\b)[a-z]{3,}(?<!ed)(?<!ing)\s+\S"
)
_DESCRIBED = re.compile(r"^edit\s+(?P<path>\S+?):\s+(?P<what>.+)$", re.IGNORECASE | re.DOTALL)


def read(session: Session) -> Iterator[Candidate]:
    if session.language != "en" or not any(_WHY.search(said.text) for said in session.said_by_user):
        return
    for edit in session.steps:
        if not edit.is_edit or edit.outcome != "succeeded" or not edit.path:
            continue
        asked = _asked_before(session, edit)
        if asked is None:
            continue
        proof = _proof(session, edit)
        cause = _cause(session, asked, edit)
        remedy = _remedy(session, edit)
        if proof is None:
            continue
        if cause is None or remedy is None:
            yield from _as_told(session, asked, edit, proof)
            continue
        said, because = cause
        text = f"The fix in {edit.path} was to {remedy}, because {because}."
        if not fits(text) or faults(text):
            continue
        quotes = [said.quote(), quote(edit.call, remedy) or quote_call(edit)]
        if proof.result is not None and proof.result.text.strip():
            quotes.append(quote(proof.result, proof.result.text.strip()[:120]))
        yield Candidate(
            "fix",
            f"fix:{topic(because, 4)}",
            {"path": edit.path, "fix": remedy},
            text,
            tuple(one for one in quotes if one),
            use="historical",  # it was repaired: told for its story
        )


def _asked_before(session: Session, edit: Step) -> Sentence | None:
    """The question that the edit answers: in the last two messages of the person before it."""
    before = [said for said in session.said_by_user if said.at < edit.at]
    recent = sorted({said.at for said in before})[-2:]
    return next((said for said in before if said.at in recent and _WHY.search(said.text)), None)


def _as_told(session: Session, asked: Sentence, edit: Step, proof: Step) -> Iterator[Candidate]:
    """The agent's own sentence on what the file it then repaired did wrong, where it stands by itself."""
    told = [
        said
        for said in session.said_by_assistant
        if asked.at < said.at < edit.at
        and said.is_firm
        and not is_plan(said)
        and not _DONE.search(said.text)
        and (edit.path in said.text or _base(edit.path) in said.text)
        and has_identifier(said.text.replace(edit.path, "").replace(_base(edit.path), ""))
    ]
    if not told or _undone(session, edit):
        return
    text = as_sentence(told[-1].text)
    if not fits(text) or faults(text):
        return
    quotes = [told[-1].quote(), quote_call(edit)]
    if proof.result is not None and proof.result.text.strip():
        quotes.append(quote(proof.result, proof.result.text.strip()[:120]))
    key = f"fix:{topic(told[-1].text, 4)}"
    yield Candidate("fix", key, {"path": edit.path}, text, tuple(one for one in quotes if one), use="historical")


def _base(path: str) -> str:
    return path.rsplit("/", 1)[-1]


def _undone(session: Session, edit: Step) -> bool:
    """Whether a later edit put back what this one took out."""
    old, new = edit.arguments.get("old_string"), edit.arguments.get("new_string")
    return bool(old and new) and any(
        step.is_edit
        and step.at > edit.at
        and (step.arguments.get("old_string"), step.arguments.get("new_string")) == (new, old)
        for step in session.steps
    )


def _cause(session: Session, asked: Sentence, edit: Step) -> tuple[Sentence, str] | None:
    """The agent's last firm words before the edit on what that file does wrong, as a clause with a subject."""
    found = None
    for said in session.said_by_assistant:
        if not asked.at < said.at < edit.at or not said.is_firm or is_plan(said) or edit.path not in said.text:
            continue
        clauses = [part.strip(" .") for part in re.split(r";\s+|:\s+", said.text)]
        name = _CODE_NAME.search(clauses[0].replace(edit.path, ""))
        last = plain(clauses[-1])
        if _PRONOUN.match(last) and name:
            found = said, _PRONOUN.sub(f"{next(group for group in name.groups() if group)} ", last)
        elif len(clauses) > 1 and has_identifier(last) and not _NO_SUBJECT.match(last):
            found = said, last
    return found


def _remedy(session: Session, edit: Step) -> str | None:
    """What was done, as a verb phrase: from the edit's own description, else from the user's order before it."""
    described = _DESCRIBED.match(edit.call.text)
    words = (
        [described["what"]]
        if described
        else [str(edit.arguments.get(name, "")) for name in ("instruction", "description")]
    )
    orders = [said for said in session.said_by_user if said.at < edit.at]
    if orders:
        words.append(re.split(r":\s+", without_openers(orders[-1].text))[-1])
    for option in words:
        option = _FIRST_WORDS.sub("", plain(option).rstrip(" .!"))
        if _VERB_FIRST.match(option[:1].lower() + option[1:]) and len(option) <= 110:
            return option[:1].lower() + option[1:]
    return None


def _proof(session: Session, edit: Step) -> Step | None:
    """A run after the edit that succeeded, with none failing after it."""
    runs = [step for step in session.steps if step.at > edit.at and step.command and step.outcome != "open"]
    return runs[-1] if runs and runs[-1].outcome == "succeeded" else None
