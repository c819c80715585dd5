"""Where something lives: the file a person would open first, and who owns a folder."""

from __future__ import annotations

import re
from collections.abc import Iterator

from memory.distillers.local.explanations import is_plan
from memory.distillers.local.phrases import phrase
from memory.distillers.local.sentences import Sentence
from memory.distillers.local.session import Session, Step, quote, quote_call
from memory.distillers.local.wording import as_sentence, fits, segment, topic, without_openers
from memory.distillers.local.words import any_of
from memory.languages import language_of
from memory.lint import faults
from memory.transcript import Candidate, Quote

_PATH = (
    r"`?(?P<path>(?:[A-Za-z0-9_.@-]{1,60}/){1,12}[A-Za-z0-9_.@-]{1,80}\.\w{1,8}"
    r"|[A-Za-z0-9_-]{1,60}\.(?:py|ts|tsx|js|jsx|go|rs|rb|java|kt|php|c|h|cpp|cs|swift|scala|sql|tf|ya?ml|toml|json"
    r"|ini|cfg|sh))"
    r"(?::\d+)?`?"
)
_LIVES = re.compile(
    r"(?P<what>[^.;:?!,]{3,90}?)\s+(?:lives?|is|are|sits?|happens?|resides?|comes? from|(?:is"
    r"|are) (?:all )?(?:defined"
    r"|implemented|handled|configured|set(?: up)?|located|kept|stored|declared|registered|generated|read|decided|done"
    r"|computed|validated|checked|calculated|raised|rendered|built|parsed))"
    r"\s+(?:in|at|by|from|inside|under|entirely in|only in)\s+(?:the )?" + _PATH,
    re.IGNORECASE,
)
_ABROAD = (
    re.compile(
        r"(?P<what>[^.;:?!,]{3,80}?)\s+(?:está[n]?|vive[n]?|se (?:define|encuentra|configura|calcula"
        r"|implementa)[n]?)(?: definid\w+"
        r"| configurad\w+)?\s+en\s+(?:el fichero |el archivo )?" + _PATH,
        re.IGNORECASE,
    ),
    re.compile(
        r"(?P<what>[^.;:?!,]{3,80}?)\s+(?:liegt|liegen|steht|stehen|ist|sind|wird|werden"
        r"|befindet sich)(?: \w+)?\s+in\s+(?:der datei )?"
        + _PATH
        + r"(?: (?:definiert|gesetzt|berechnet|konfiguriert|festgelegt))?",
        re.IGNORECASE,
    ),
    re.compile(
        r"(?P<what>[^.;:?!,]{3,80}?)\s+(?:est|sont|se trouve|se trouvent)(?: (?:défini|calculé|configuré"
        r"|géré)\w*)?\s+(?:dans|en)\s+"
        r"(?:le fichier )?" + _PATH,
        re.IGNORECASE,
    ),
    re.compile(
        r"(?P<what>[^。；！？，,]{2,40}?)(?:是)?(?:在|位于|定义在|写在)\s?"
        + _PATH
        + r"\s?(?:中|里|文件中)?(?:定义|设置|实现|计算)?"
    ),
    re.compile(
        r"(?P<what>[^。；！？、,]{2,40}?)は\s?"
        + _PATH
        + r"\s?(?:にあります|にある|で定義\S*|で設定\S*|で実装\S*|で計算\S*)"
    ),
)
_WHERE = re.compile(
    r"\b(?:in|of) (?:the )?" + _PATH + r"(?: file)?,? where (?P<what>[^.;:?!,]{3,60}?) "
    r"(?P<verb>occurs?|happens?|is (?:defined|implemented|handled|set|checked|raised|computed|done))\b",
    re.IGNORECASE,
)
_WHAT_IS_VAGUE = any_of(
    r"^(?:it|this|that|they|these|those|here|there|what|which|where|i|we|you|a|an|another|one)\b",
    r"^(?:the )?(?:bug|error|problem|issue|fix|change|failure|typo|test|cause|culprit|first|second"
    r"|line|code|file|function"
    r"|import|call|following)\b",
    r"\b(?:i|we|you)\b",
    r"^(?:esto|eso|el (?:error|fallo|problema|cambio)|das|es|der (?:fehler|test)|ça|cela|l['’](?:erreur|import)"
    r"|le (?:bug|problème)|这|那|问题|错误|これ|それ|エラー)",
)
_ASKED_WHERE = any_of(r"\bwhere\b|\bwhich (?:file|module|class|folder|place)\b|\bdónde\b|\bwo\b|\boù\b|哪里|どこ")
_AGREED = any_of(
    r"^(?:yes|correct|exactly|good|great|perfect|indeed|thanks|thank you|ok|cool|right(?! now))\b",
    r"^(?:sí|vale|perfecto|exacto|gracias|ja|genau|gut|stimmt|danke|super|oui|parfait|exact|merci)\b|^(?:好|对"
    r"|是的|谢谢"
    r"|はい|ありがと|そうです)",
)
_DOTTED = re.compile(r"\w\.\w")
_LINE_NUMBER = re.compile(r"(?<=\w):\d+(?::\d+)?(?=`|\s|$)")
_SETTING_NAMED = re.compile(r"\b[A-Z][A-Z0-9]*_[A-Z0-9_]+\b")
_PUT = any_of(
    r"=|\b(?:set|sets|setting|ensure|make sure|add|define|export|needs? to be|has to be|must be|put|pon|define"
    r"|añade|asegúrate"
    r"|setze?|definiere?|trage? .* ein|stell\w* sicher|défini\w*|ajoute[zr]?|mets|mettez|assure\w*)\b|确保|设置"
    r"|设为|加上|設定|追加",
)
_DISMISSED = any_of(
    r"\bjust (?:curious|asking|wondering|checking)\b|\bonly (?:asking|curious)\b|\bnever ?mind\b|\bnur so\b"
    r"|\bsolo (?:preguntaba|curiosidad)\b"
    r"|\bsimple curiosité\b|只是问问|随便问问|聞いただけ",
)
_OWNER_LINE = re.compile(
    r"^(?:CODEOWNERS:)?(?:\d+:)?\s*(?P<path>[/*\w][\w./*-]*)\s+(?P<owners>@[\w./-]+(?:\s+@[\w./-]+)*)\s*$", re.MULTILINE
)
MAX_OWNER_LINES = 3  # a whole CODEOWNERS file was listed, not asked about


def read(session: Session) -> Iterator[Candidate]:
    yield from _told(session)
    yield from _settings_put_in_place(session)
    yield from _owners(session)


def _told(session: Session) -> Iterator[Candidate]:
    """Told as "X lives in FILE": by the user, or by the agent once results or an edit bear it out."""
    for sentence in (*session.said_by_user, *session.said_by_assistant):
        if not sentence.is_firm or is_plan(sentence):
            continue
        for what, path, claim in _claims(sentence.text):
            if _WHAT_IS_VAGUE.search(what) or _named_by_user(session, path, sentence):
                continue
            proof = _seen_in_results(session, path, sentence)
            if sentence.seen.role != "user" and (proof is None or not _wanted(session, path, sentence)):
                continue
            text = as_sentence(claim, language_of(sentence.text))
            if not fits(text) or faults(text):
                continue
            quotes = (_quote_of(sentence, claim), *((proof,) if proof is not None else ()))
            yield Candidate("owning_file", f"owning_file:{topic(what)}", {"path": path}, text, quotes)


def _claims(text: str) -> Iterator[tuple[str, str, str]]:
    """What lives where, with the words that say so; a line number is dropped, for it will not stay true."""
    if _DOTTED.search(text) is None:
        return
    start = 0
    for hit in _LIVES.finditer(text):
        end = hit.end()
        more = re.match(r"\s*\(`?[\w.]+(?:\(\))?`?\)|,? (?:and )?not (?:in )?\S*\w", text[end:])
        claim = without_openers(text[start : end + (more.end() if more else 0)].lstrip(" ,;`*"))
        yield without_openers(hit["what"].strip(" `*,")), hit["path"].removeprefix("./"), _LINE_NUMBER.sub("", claim)
        start = end
    for pattern in _ABROAD if start == 0 else ():
        for hit in pattern.finditer(text):
            what = without_openers(hit["what"].strip(" `*,"))
            yield (
                what,
                hit["path"].removeprefix("./"),
                _LINE_NUMBER.sub("", without_openers(hit.group().strip(" ,;`*"))),
            )
    for hit in _WHERE.finditer(text):
        what = hit["what"].strip(" `*")
        yield what, hit["path"].removeprefix("./"), f"{what} {hit['verb']} in {hit['path']}"


def _quote_of(sentence: Sentence, claim: str) -> Quote:
    return quote(sentence.seen, claim, sentence.start) or sentence.quote()


def _named_by_user(session: Session, path: str, sentence: Sentence) -> bool:
    """The user named the file first: nobody had to find it."""
    return sentence.seen.role != "user" and any(
        path in said.text for said in session.said_by_user if said.at < sentence.at
    )


def _seen_in_results(session: Session, path: str, before: Sentence) -> Quote | None:
    for step in session.steps:
        if step.result is not None and step.until < before.at and step.outcome == "succeeded":
            if (found := quote(step.result, path)) is not None:
                line_end = step.result.text.find("\n", found.start)
                end = min(line_end if line_end > 0 else len(step.result.text), found.start + 200)
                return Quote(step.result.ref, found.start, end, step.result.text[found.start : end])
            if step.is_read and step.path.removeprefix("./").endswith(path):
                return quote_call(step)
    return None


def _wanted(session: Session, path: str, sentence: Sentence) -> bool:
    """Somebody asked for it, agreed with it or acted on it; else it was said in passing."""
    edited = any(
        step.is_edit and step.outcome == "succeeded" and path in step.call.text.replace("\\\\", "/")
        for step in session.steps
    )
    before = [said for said in session.said_by_user if said.at < sentence.at]
    after = next((said for said in session.said_by_user if said.at > sentence.at), None)
    if after is not None and _DISMISSED.search(after.text):
        return edited
    asked = bool(before) and any(_ASKED_WHERE.search(said.text) for said in before if said.at == before[-1].at)
    return edited or asked or (after is not None and _AGREED.match(after.text) is not None)


def _settings_put_in_place(session: Session) -> Iterator[Candidate]:
    """A setting the user asked for by name, and the file in which it was then set."""
    for sentence in session.said_by_user:
        if not sentence.is_firm or not _PUT.search(sentence.text):
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
