"""Whose words a `user` line of a coding agent holds: the harness writes most of them in the user's name.

In a real session of 53 lines 25 are of type `user`, and one of them holds what the human asked.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from memory.own_briefs import is_own_brief, split_own_briefs

# Blocks the harness puts around, before or behind the human's words.
_MACHINE_TAGS = (
    "system-reminder",
    "task-notification",
    "local-command-caveat",
    "local-command-stdout",
    "local-command-stderr",
    "bash-input",
    "bash-stdout",
    "bash-stderr",
    "command-contents",
    "ide_opened_file",
    "ide_selection",
    "ide_diagnostics",
    "new-diagnostics",
    "user-prompt-submit-hook",
    "session-start-hook",
    "post-tool-use-hook",
    "teammate-message",
    # Codex
    "environment_context",
    "user_instructions",
    "user_shell_command",
    "turn_aborted",
    "subagent_notification",
    "skill",
)
_MACHINE_STARTS = (
    "Caveat: The messages below were generated",
    "Base directory for this skill:",
    "Continue from where you left off.",
    "Your final response is captured verbatim",
    "[Image: source:",
    "# AGENTS.md instructions",
)
_RECAP_STARTS = (
    "This session is being continued from a previous conversation",
    "Another language model started to solve this problem and produced a summary",
)
# An editor puts what is open and selected above the human's words.
_EDITOR_STARTS = ("# Context from my IDE setup", "# Files mentioned by the user", "# Selected text", "# In app browser")
_REQUEST = "## My request for Codex:"
# Codex marks where a picture stood.
_PICTURE = re.compile(r"</?image(?: name=[^>\n]{0,300})?>")
_INTERRUPTION = re.compile(r"^\s*\[Request (?:interrupted|cancelled) by user[^\]\n]{0,80}\]")
# Commands that set the tool up: what follows them is a setting, not a request.
_SETTINGS = re.compile(
    "add-dir|agents|clear|compact|config|context|cost|doctor|effort|exit|export|help|hooks|ide|login|logout|mcp|memory"
    "|model|output-style|permissions|plugin|rename|resume|status|statusline|terminal-setup|usage|vim"
)
_REFUSAL = "The user doesn't want to proceed with this tool use."
_REFUSAL_SAID = "To tell you how to proceed, the user said:"
_REFUSAL_NOTES = ("Note: The user's next message may contain", "The user wants to clarify these questions.")


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of a line with one author: kind and role as an observation has them."""

    kind: str
    role: str
    text: str


def pieces_of(text: str) -> list[Piece]:
    """What a `user` text holds, the human's words first. Blank text gives nothing."""
    bare, reminders = _split_blocks(text, "system-reminder")
    rest, briefs = split_own_briefs(text if not any(map(is_own_brief, reminders)) else bare)
    briefs = [brief for reminder in reminders for brief in split_own_briefs(reminder)[1]] + briefs
    found = [Piece("brief", "system", brief) for brief in dict.fromkeys(briefs)]
    return [*_authored(rest), *found] if rest.strip() else found


def _authored(text: str) -> list[Piece]:
    if text.lstrip().startswith(_RECAP_STARTS):
        return [Piece("summary", "system", text.strip())]
    if text.lstrip().startswith(("<command-name>", "<command-message>", "<command-args>")):
        return _command(text)
    human = human_words(text)
    if human:
        return [Piece("message", "user", human)]
    return [Piece("meta", "system", text.strip())] if _PICTURE.sub("", text).strip() else []


def human_words(text: str) -> str:
    """`text` without what the harness put into it; "" when nothing of it is a human's."""
    bare = text
    for tag in _MACHINE_TAGS if "<" in text else ():
        bare, _ = _split_blocks(bare, tag)
    bare = _INTERRUPTION.sub("", _PICTURE.sub("", bare)).strip()
    if bare.startswith(_EDITOR_STARTS):
        bare = bare.partition(_REQUEST)[2].strip()
    if bare.startswith(_MACHINE_STARTS) or bare.startswith(tuple(f"<{tag}>" for tag in _MACHINE_TAGS)):
        return ""
    noted = _inside(bare, "user-memory-input")
    return bare if noted is None else noted


def _command(text: str) -> list[Piece]:
    name = (_inside(text, "command-name") or "").lstrip("/")
    arguments = human_words(_inside(text, "command-args") or "")
    if arguments and not _SETTINGS.fullmatch(name):
        return [Piece("message", "user", arguments)]
    return [Piece("meta", "system", text.strip())]


def words_of_refusal(text: str) -> str:
    """What the human answered when refusing a tool call; Claude Code hides it in the tool's result."""
    if not text.lstrip().startswith(_REFUSAL):
        return ""
    said = text.partition(_REFUSAL_SAID)[2]
    for note in _REFUSAL_NOTES:
        said = said.partition(note)[0]
    return human_words(said)


def without_reminders(text: str) -> str:
    """A tool's output without the reminders the harness appended to it."""
    bare, reminders = _split_blocks(text, "system-reminder")
    return bare.rstrip() if reminders else text


def _split_blocks(text: str, tag: str) -> tuple[str, list[str]]:
    """`text` without the closed blocks of `tag`, and what stood in them. An opening without an end stays: it may be
    a human's quotation."""
    opening, closing = f"<{tag}>", f"</{tag}>"
    kept: list[str] = []
    blocks: list[str] = []
    position = 0
    # Two finds a block and not a regular expression, which is quadratic when openings are many and ends are missing.
    while (start := text.find(opening, position)) >= 0 and (end := text.find(closing, start)) >= 0:
        kept.append(text[position:start])
        blocks.append(text[start + len(opening) : end])
        position = end + len(closing)
    kept.append(text[position:])
    return "".join(kept), blocks


def _inside(text: str, tag: str) -> str | None:
    start = text.find(f"<{tag}>")
    if start < 0:
        return None
    start += len(tag) + 2
    end = text.find(f"</{tag}>", start)
    return text[start : end if end >= 0 else None].strip()
