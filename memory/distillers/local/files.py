"""Where something lives: the file a person would open first, and who owns a folder."""

from __future__ import annotations

import re
from collections.abc import Iterator

from memory.distillers.local.explanations import is_plan
from memory.distillers.local.sentences import Sentence
from memory.distillers.local.session import Session, Step, quote, quote_call
from memory.distillers.local.wording import as_sentence, fits, language_of, phrase, segment, topic, without_openers
from memory.lint import faults
from memory.transcript import Candidate, Quote

_PATH = (
    r"`?(?P<path>(?:[\w.@-]+/)+[\w.@-]+\.\w{1,8}"
    r"|[\w-]+\.(?:py|ts|tsx|js|jsx|go|rs|rb|java|kt|php|c|h|cpp|cs|swift|scala|sql|tf|ya?ml|toml|json|ini|cfg|sh))"
    r"(?::\d+)?`?"
)
_LIVES = re.compile(
    r"(?P<what>[^.;:?!]{3,90}?)\s+(?:lives?|is|are|sits?|happens?|resides?|comes? from|(?:is"
    r"|are) (?:all )?(?:defined|implemented|handled|configured|set(?: up)?|located|kept|stored"
    r"|declared|registered|generated|read|decided|done|computed))"
    r"\s+(?:in|at|by|from|inside|under|entirely in|only in)\s+" + _PATH,
    re.IGNORECASE,
)
_WHAT_IS_VAGUE = re.compile(
    r"^(?:it|this|that|they|these|those|here|there|the (?:bug|error|problem|issue|fix|change|failure"
    r"|typo|test|cause|culprit|first|second|line|code|file|function|import|call|following)|what|which"
    r"|where|i|we|you|a|an|another|one)\b|\b(?:i|we|you)\b",
    re.IGNORECASE,
)
_SETTING_NAMED = re.compile(r"\b[A-Z][A-Z0-9]*_[A-Z0-9_]+\b")
_OWNER_LINE = re.compile(
    r"^(?:CODEOWNERS:)?(?:\d+:)?\s*(?P<path>[/*\w][\w./*-]*)\s+(?P<owners>@[\w./-]+(?:\s+@[\w./-]+)*)\s*$", re.MULTILINE
)
MAX_OWNER_LINES = 3  # a whole CODEOWNERS file was listed, not asked about


def read(session: Session) -> Iterator[Candidate]:
    yield from _told(session)
    yield from _settings_put_in_place(session)
    yield from _owners(session)


def _told(session: Session) -> Iterator[Candidate]:
    """ "X lives in FILE": by the user, or by the agent once results or an edit bear it out."""
    for sentence in (*session.said_by_user, *session.said_by_assistant):
        if not sentence.is_firm or is_plan(sentence) or not (hit := _LIVES.search(sentence.text)):
            continue
        what, path = without_openers(hit["what"].strip(" `*")), hit["path"]
        if _WHAT_IS_VAGUE.search(what):
            continue
        proof = _seen_in_results(session, path, sentence)
        if sentence.seen.role != "user" and (proof is None or not _acted_on(session, path, sentence)):
            continue
        text = as_sentence(_clause(sentence.text, hit.end()), language_of(sentence.text))
        if not fits(text) or faults(text):
            continue
        quotes = (sentence.quote(), *((proof,) if proof is not None else ()))
        yield Candidate("owning_file", f"owning_file:{topic(what)}", {"path": path}, text, quotes)


def _clause(text: str, end: int) -> str:
    """The words up to the file, with the name in brackets or the "not there" that may follow."""
    more = re.match(r"\s*\(`?[\w.]+(?:\(\))?`?\)|,? (?:and )?not (?:in )?\S*\w", text[end:])
    return without_openers(text[: end + (more.end() if more else 0)])


def _seen_in_results(session: Session, path: str, before: Sentence) -> Quote | None:
    for step in session.steps:
        if step.result is not None and step.until < before.at and step.outcome == "succeeded":
            if (found := quote(step.result, path)) is not None:
                line_end = step.result.text.find("\n", found.start)
                end = min(line_end if line_end > 0 else len(step.result.text), found.start + 200)
                return Quote(step.result.ref, found.start, end, step.result.text[found.start : end])
            if step.is_read and step.path.endswith(path):
                return quote_call(step)
    return None


def _acted_on(session: Session, path: str, sentence: Sentence) -> bool:
    """Somebody trusted the claim: the file was edited, or the user agreed in the next words."""
    if any(
        step.is_edit and step.outcome == "succeeded" and path in step.call.text.replace("\\\\", "/")
        for step in session.steps
    ):
        return True
    answer = next((said for said in session.said_by_user if said.at > sentence.at), None)
    return (
        answer is not None
        and re.match(r"(?:yes|right|correct|exactly|good|great|perfect|indeed)\b", answer.text, re.IGNORECASE)
        is not None
    )


def _settings_put_in_place(session: Session) -> Iterator[Candidate]:
    """A setting the user asked for by name, and the file in which it was then set."""
    for sentence in session.said_by_user:
        if not sentence.is_firm:
            continue
        for name in dict.fromkeys(_SETTING_NAMED.findall(sentence.text)):
            edit = _last_edit_of(session, name, sentence.at)
            told = edit and next(
                (
                    said
                    for said in reversed(session.said_by_assistant)
                    if said.at > edit.at and _short(edit.path, said.text)
                ),
                None,
            )
            if edit is None or not told:
                continue
            path = _short(edit.path, told.text)
            text = phrase("set_in", session.language, name=name, path=path)
            found = (told.quote(), quote(edit.call, name))
            quotes = tuple(one for one in found if one is not None)
            yield Candidate("owning_file", f"owning_file:{segment(name, 6)}", {"path": path}, text, quotes)


def _last_edit_of(session: Session, name: str, after: int) -> Step | None:
    edits = [
        step
        for step in session.steps
        if step.is_edit and step.at > after and step.outcome == "succeeded" and name in step.call.text and step.path
    ]
    return edits[-1] if edits else None


def _short(path: str, text: str) -> str:
    """The file as the agent named it (relative to the repository), or "" when it did not."""
    for hit in re.finditer(_PATH, text):
        if path.endswith("/" + hit["path"]) or path == hit["path"]:
            return hit["path"]
    return ""


def _owners(session: Session) -> Iterator[Candidate]:
    for step in session.steps:
        if step.result is None or step.outcome != "succeeded" or "CODEOWNERS" not in step.call.text:
            continue
        lines = list(_OWNER_LINE.finditer(step.result.text))
        if not 0 < len(lines) <= MAX_OWNER_LINES:
            continue
        for line in lines:
            owners = " and ".join(line["owners"].split())
            verb = "owns" if " and " not in owners else "own"
            text = f"{owners} {verb} {line['path']}."
            quotes = (
                Quote(
                    step.result.ref,
                    line.start("path"),
                    line.end("owners"),
                    step.result.text[line.start("path") : line.end("owners")],
                ),
            )
            if not faults(text):
                yield Candidate(
                    "owning_file",
                    f"owning_file:owner.{segment(line['path'], 6)}",
                    {"path": line["path"], "owners": line["owners"].split()},
                    text,
                    quotes,
                )
