"""What the repository's own instructions said wrongly, and the session put right.

A version read from a manifest is no lesson: the next agent can read it too. That the written instructions contradict
the manifest is one, because the next agent reads those first.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from memory.distillers.local.phrases import phrase
from memory.distillers.local.session import Session, Step, quote
from memory.distillers.local.wording import bare_name, segment
from memory.distillers.local.words import words
from memory.transcript import Candidate, Quote, Seen

_DOCUMENT = re.compile(
    r"(?:^|/)(?:CLAUDE|AGENTS|GEMINI|README|CONTRIBUTING|DEVELOPMENT|INSTALL|SETUP"
    r"|HACKING)[\w.-]*\.(?:md|rst|txt)$",
    re.IGNORECASE,
)
_MANIFEST = re.compile(
    r"(?:^|/)(?:package\.json|pyproject\.toml|Cargo\.toml|requirements[\w.-]*\.txt|composer\.json"
    r"|Gemfile|go\.mod|pubspec\.yaml|\.tool-versions|setup\.cfg|build\.gradle(?:\.kts)?|pom\.xml|\.?Dockerfile"
    r"|(?:docker-)?compose\.ya?ml)$"
)
_VERSIONED = re.compile(r"\b(?P<name>[A-Z][\w+#]*(?:\.\w+)?(?: [A-Z][\w+#]*){0,2}) (?P<version>v?\d+(?:\.\d+)*)\b")
_DEPENDENCY = re.compile(
    r"^[\s\d→]*(?:FROM |image: )?[\"']?(?P<name>@?[\w./-]+)[\"']?(?:\s*(?:[:=]|==|>=|~=)\s*"
    r"|\s+)[{]?\s*(?:version\s*=\s*)?"
    r"[\"']?[\^~>=v<\s]*(?P<version>\d+(?:\.\d+)*)",
    re.MULTILINE,
)
_SCRIPT = re.compile(r"\b(?:npm run|pnpm run|yarn run|bun run|npm|pnpm|yarn) (?P<name>[a-z][\w:-]*)")
_SCRIPTS_BLOCK = re.compile(r"\"scripts\":\s*\{(?P<body>[^}]*)\}")
_BUILT_IN = words(
    "install ci add remove run start test init publish audit update outdated exec create link", "pack login"
)
_OLD_NEW = re.compile(r'"old_string":\s*"(?P<old>(?:[^"\\]|\\.)*)",\s*"new_string":\s*"(?P<new>(?:[^"\\]|\\.)*)')
_REPLACED = re.compile(r'Replaced "(?P<old>[^"]*)" with "(?P<new>[^"]*)"')
_DIFF = re.compile(r"(?P<old>(?:^- .*\n)+)(?P<new>(?:^\+ .*(?:\n|\Z))+)", re.MULTILINE)


def read(session: Session) -> Iterator[Candidate]:
    manifests = [
        step for step in session.steps if step.is_read and step.outcome == "succeeded" and _MANIFEST.search(step.path)
    ]
    if not manifests:
        return
    for step in session.steps:
        if step.is_edit and step.outcome == "succeeded" and _DOCUMENT.search(step.path):
            yield from _versions(session, step, manifests)
            yield from _scripts(session, step, manifests)


def _pairs(step: Step) -> Iterator[tuple[Quote, str, str]]:
    """What an edit replaced: where the old text stands, old and new."""
    for seen, pattern in ((step.call, _OLD_NEW), (step.call, _DIFF), (step.result, _REPLACED)):
        if seen is None:
            continue
        for hit in pattern.finditer(seen.text):
            yield (
                Quote(seen.ref, hit.start("old"), hit.end("new"), seen.text[hit.start("old") : hit.end("new")]),
                hit["old"],
                hit["new"],
            )


# What a manifest calls the language itself.
_LANGUAGE_KEYS = {
    "requirespython": "python",
    "rustversion": "rust",
    "golang": "go",
    "nodejs": "node",
    "postgresql": "postgres",
}


def _same_thing(written: str, wanted: str) -> bool:
    one, other = bare_name(written), bare_name(wanted)
    return _LANGUAGE_KEYS.get(one, one) == _LANGUAGE_KEYS.get(other, other)


def _versions(session: Session, edit: Step, manifests: list[Step]) -> Iterator[Candidate]:
    for place, old_text, new_text in _pairs(edit):
        before = {bare_name(hit["name"].split()[-1]): hit for hit in _VERSIONED.finditer(old_text)}
        for new in _VERSIONED.finditer(new_text):
            old = before.get(bare_name(new["name"].split()[-1]))
            if old is None or old["version"].lstrip("v") == new["version"].lstrip("v"):
                continue
            # "Needs Python 3.12": as much of the name as the manifest knows.
            names = [" ".join(new["name"].split()[first:]) for first in range(new["name"].count(" ") + 1)]
            version = new["version"].lstrip("v")
            found = ((name, _dependency(manifests, edit, name, version)) for name in names)
            name, proof = next(((name, proof) for name, proof in found if proof is not None), ("", None))
            if proof is None:
                continue
            document = edit.path.rsplit("/", 1)[-1]
            text = phrase("version", session.language, name=name, new=new["version"], old=old["version"], doc=document)
            named = quote(edit.call, document)
            quotes = (proof, *_short_quotes(place, old, old_text, new, new_text), *((named,) if named else ()))
            yield Candidate(
                "environment",
                f"environment:{segment(name)}.version",
                {"version": version},
                text,
                quotes,
            )


def _short_quotes(
    place: Quote, old: re.Match[str], old_text: str, new: re.Match[str], new_text: str
) -> Iterator[Quote]:
    """The two names with their versions, out of the replaced pair."""
    gap = len(place.text) - len(new_text)
    for hit, offset in ((old, 0), (new, gap)):
        start = place.start + offset + hit.start()
        yield Quote(place.ref, start, start + len(hit.group()), hit.group())


def _dependency(manifests: list[Step], before: Step, name: str, version: str) -> Quote | None:
    for step in manifests:
        if step.result is None or step.until > before.at:
            continue
        for hit in _DEPENDENCY.finditer(step.result.text):
            same = _same_thing(hit["name"], name) and (hit["version"] + ".").startswith(version + ".")
            if same:
                start = hit.start("name") - (step.result.text[hit.start("name") - 1 : hit.start("name")] == '"')
                end = hit.end("version") + (step.result.text[hit.end("version") : hit.end("version") + 1] == '"')
                return Quote(step.result.ref, start, end, step.result.text[start:end])
    return None


def _scripts(session: Session, edit: Step, manifests: list[Step]) -> Iterator[Candidate]:
    """A script the instructions named, that the manifest does not have and the edit took out."""
    for place, old_text, new_text in _pairs(edit):
        for hit in _SCRIPT.finditer(old_text):
            name = hit["name"]
            if name in _BUILT_IN or re.search(rf"(?<![\w-]){re.escape(name)}(?![\w-])", new_text):
                continue
            manifest = next((step for step in manifests if step.until < edit.at and _lacks(step, name)), None)
            if manifest is None or manifest.result is None:
                continue
            document = edit.path.rsplit("/", 1)[-1]
            shown = manifest.path.rsplit("/", 1)[-1]
            text = phrase("no_script", session.language, name=name, manifest=shown, doc=document)
            block = _scripts_block(manifest.result)
            start = place.start + hit.start()
            quotes = [
                Quote(place.ref, start, start + len(hit.group()), hit.group()),
                block,
                _told(session, edit, name),
                quote(manifest.call, shown),
                quote(edit.call, document),
            ]
            yield Candidate(
                "environment",
                f"environment:scripts.{segment(name)}",
                {"script": name, "exists": False},
                text,
                tuple(one for one in quotes if one),
            )


def _lacks(step: Step, name: str) -> bool:
    block = _SCRIPTS_BLOCK.search(step.result.text) if step.result else None
    return block is not None and f'"{name}"' not in block["body"]


def _scripts_block(seen: Seen) -> Quote | None:
    found = _SCRIPTS_BLOCK.search(seen.text)
    return Quote(seen.ref, found.start(), found.end(), found.group()) if found else None


def _told(session: Session, edit: Step, name: str) -> Quote | None:
    told = next((said for said in reversed(session.said_by_assistant) if said.at > edit.at and name in said.text), None)
    return told.quote() if told else None
