"""Our own words coming back: a brief, or a session handed back to its agent, that a transcript or a tool result carries
is nobody's evidence.

Without this, a fact served in one session would be read in the next as something seen again, and count itself up.
"""

from __future__ import annotations

import re

# What a reader may print before a line: quoting, or the number of a line in a file listing.
_PREFIX = r"[ \t>]*(?:\d{1,6}[→\t:|] ?)?"
# A hook's output may stand behind its name on the same line; then the sentence below it must be ours too.
_BEGINNINGS = ("# What is known", "# Said so far")
_TITLE = r"# (?:What is known|Said so far) · project "
_HEAD = re.compile(
    rf"^(?:{_PREFIX}{_TITLE}\S"
    rf"|[^\n]{{0,200}}{_TITLE}[^\n]{{1,200}}\n{_PREFIX}(?:Countersigned by people\.|Not reviewed: what was said))",
    re.MULTILINE,
)
_LINE_PREFIX = re.compile(_PREFIX)
_FIXED = (
    *(f"{beginning} · project " for beginning in _BEGINNINGS),
    *("Countersigned by people.", "If a line is wrong, report its id."),
    *("Not reviewed: what was said", "--- unreviewed ---", "--- end of what is unreviewed ---"),
)
# A whole API answer: JSON with the text inside, where line breaks and the middle dot may be escaped.
_ANSWER = re.compile(r'"(?:brief_id|turns_left_out)"\s*:')


def is_own_brief(text: str) -> bool:
    """Whether `text` holds a brief or a session of ours, whole or in part, plain or as the API's JSON answer."""
    begins = any(beginning in text for beginning in _BEGINNINGS)
    return begins and (bool(_HEAD.search(text)) or bool(_ANSWER.search(text)))


def without_own_brief(text: str) -> str:
    """`text` without the lines of our own briefs; what others wrote around them stays."""
    return split_own_briefs(text)[0]


def split_own_briefs(text: str) -> tuple[str, list[str]]:
    """(the rest, the briefs found), in order. Cost: one pass over the lines, only when a brief is there."""
    if not is_own_brief(text):
        return text, []
    if _ANSWER.search(text):
        return "", [text]
    rest: list[str] = []
    briefs: list[list[str]] = []
    inside, section = False, ""
    lines = text.split("\n")
    for number, line in enumerate(lines):
        bare = line[_end_of_prefix(line) :].rstrip()
        if any(title in bare for title in _FIXED[:2]) and _HEAD.match("\n".join(lines[number : number + 2])):
            inside, section = True, ""
            briefs.append([])
        elif inside and bare.startswith("## ") and _next_is_item(lines, number):
            section = bare
        elif inside and not _belongs(bare, section):
            inside = False
        (briefs[-1] if inside else rest).append(line)
    return "\n".join(rest).strip("\n"), ["\n".join(brief).strip("\n") for brief in briefs]


def _end_of_prefix(line: str) -> int:
    match = _LINE_PREFIX.match(line)
    return match.end() if match else 0


def _belongs(bare: str, section: str) -> bool:
    # Only fact lines carry an id; pointers to runbooks do not, and stand under their own heading.
    return not bare or bare.startswith(_FIXED) or bare.startswith("- [f-") or (bool(section) and bare.startswith("- "))


def _next_is_item(lines: list[str], number: int) -> bool:
    following = lines[number + 1] if number + 1 < len(lines) else ""
    return following[_end_of_prefix(following) :].startswith("- ")
