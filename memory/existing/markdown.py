"""Bullets of CLAUDE.md, AGENTS.md, MEMORY.md and rules files.

A bullet with its continuation lines is one memory. A bullet that only introduces others ("Database:") is said before
each of them. Headings, code blocks, front matter, tables, comments and prose between bullets are no memories.
"""

from __future__ import annotations

import re

from memory.existing.lines import Found, MemoryLine

_BULLET = re.compile(r"(?P<indent>[ \t]*)(?:[-*+]|\d{1,3}[.)])[ \t]+(?:\[[ xX]\][ \t]+)?(?P<text>\S.*)$")
_FENCE = re.compile(r"[ \t]*(```|~~~)")
_HEADING = re.compile(r"#{1,6}\s+\S")
_RULE = re.compile(r"\s*(?:[-*_]\s*){3,}$")
_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
# Our own briefs put the id in front of a memory and its provenance behind it.
_OWN_ID = re.compile(r"\[f-[0-9a-z]+\]\s+")
_EMPHASIS = re.compile(r"(\*\*|__)(?=\S)(.+?)(?<=\S)\1")


def read(text: str) -> Found:
    found = Found("markdown")
    text = _COMMENT.sub(lambda comment: "\n" * comment.group().count("\n"), text)
    bullets = _bullets(text, found)
    for place, (number, indent, words) in enumerate(bullets):
        children = place + 1 < len(bullets) and bullets[place + 1][1] > indent
        if children and words.endswith(":"):
            found.skipped["introduction"] += 1
            continue
        before = _introduction(bullets, place)
        found.lines.append(MemoryLine(number, f"{before}{words}"))
    return found


def _bullets(text: str, found: Found) -> list[tuple[int, int, str]]:
    """(line number, indent, words) of each bullet, continuation lines joined."""
    bullets: list[tuple[int, int, str]] = []
    fence = ""
    open_bullet = False
    in_front = text.startswith("---\n")
    for number, line in enumerate(text.split("\n"), start=1):
        if in_front:
            in_front = number == 1 or line.strip() != "---"
            continue
        mark = _FENCE.match(line)
        if fence or mark:
            fence = "" if mark and fence == mark.group(1) else fence or (mark.group(1) if mark else "")
            open_bullet = False
            continue
        bullet = None if _RULE.match(line) else _BULLET.match(line)
        if bullet:
            indent = len(bullet["indent"].expandtabs(4))
            bullets.append((number, indent, _plain(bullet["text"])))
            open_bullet = True
        elif not line.strip() or _HEADING.match(line) or _RULE.match(line) or line.lstrip().startswith("|"):
            open_bullet = False
        elif open_bullet:
            at, indent, words = bullets[-1]
            bullets[-1] = (at, indent, f"{words} {_plain(line.strip())}")
        else:
            open_bullet = False
            found.skipped["prose"] += 1
    return bullets


def _introduction(bullets: list[tuple[int, int, str]], place: int) -> str:
    """What the bullets above this one say before it, outermost first: `Database: `."""
    said: list[str] = []
    indent = bullets[place][1]
    for _, outer, words in reversed(bullets[:place]):
        if outer < indent:
            indent = outer
            if words.endswith(":"):
                said.append(words)
        if indent == 0:
            break
    return "".join(f"{words} " for words in reversed(said))


def _plain(text: str) -> str:
    """Without emphasis and our own ids; code keeps its marks, links their words and address."""
    return _EMPHASIS.sub(r"\2", _OWN_ID.sub("", text)).strip()
