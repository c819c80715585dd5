"""A session as the rules read it: who said what, what was run and what came back."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property, lru_cache
from typing import Any
from zoneinfo import ZoneInfo

from memory.distillers.local import shell
from memory.distillers.local.sentences import PASTED_CHARS, Sentence, sentences
from memory.distillers.local.speech import what_stands
from memory.distillers.local.words import words
from memory.grounding import why_never_evidence
from memory.languages import language_of
from memory.transcript import Quote, Seen

SHELL_TOOLS = words(
    "bash shell sh zsh terminal run /run run_shell_command run_terminal_cmd execute_bash",
    "local_shell container.exec exec_command shell_command powershell cmd execute_command",
)
EDIT_TOOLS = words(
    "edit write multiedit notebookedit replace write_file create_file apply_patch",
    "str_replace_editor str_replace_based_edit_tool str_replace insert search_replace edit_file",
    "patch aider",
)
READ_TOOLS = words("read read_file view cat open open_file read_many_files")
_LOOK_TOOLS = words("grep glob ls search codebase_search list_dir websearch webfetch task todowrite")
_MACHINE = re.compile(
    r"^\s*(?:<(?:command-|local-command|system-reminder|task-notification|environment_context"
    r"|user_instructions|tool_use_error)"
    r"|Caveat: The messages below|\[Request interrupted|This session is being continued from)"
)
_FAILING = re.compile(
    r"^(?:Traceback \(most recent call last\)|Error:|error:|fatal:|Exit code [1-9]|<tool_use_error>"
    r"|npm ERR!|(?:\S+: )?command not found|\w+Error: )",
    re.MULTILINE,
)
_TOOL_NAME = re.compile(r"^\s*(?:[\w.-]+\s+)?(?=\{)")
_COMMAND_KEYS = ("command", "cmd", "script")
_PATH_KEYS = ("file_path", "path", "absolute_path", "filename", "notebook_path")


@dataclass(frozen=True)
class Step:
    """One call and what came back for it; `at` and `until` are their places in the session."""

    at: int
    until: int
    call: Seen
    result: Seen | None
    outcome: str  # "failed", "succeeded" or "open"

    @cached_property
    def tool(self) -> str:
        return self.call.tool.casefold()

    @property
    def arguments(self) -> dict[str, Any]:
        return arguments_of(self.call.text)

    @cached_property
    def command(self) -> str:
        """The shell line, or "" when this was no shell."""
        if self.tool not in SHELL_TOOLS:
            return ""
        if not self.arguments:
            return self.call.text
        for key in _COMMAND_KEYS:
            value = self.arguments.get(key)
            if isinstance(value, list):
                return shell_line(value)
            if isinstance(value, str):
                return value
        return ""

    @property
    def commands(self) -> tuple[shell.Simple, ...]:
        return shell.parse(self.command)

    @cached_property
    def is_edit(self) -> bool:
        return self.call.kind == "edit" or self.tool in EDIT_TOOLS or bool(re.match(r"\s*sed\s+-i", self.command))

    @cached_property
    def is_read(self) -> bool:
        return self.tool in READ_TOOLS or any(simple.program == "cat" for simple in self.commands)

    @cached_property
    def path(self) -> str:
        """The file an edit or a read is about, with forward slashes, or ""."""
        if self.call.paths:
            return self.call.paths[0].replace("\\", "/")
        for key in _PATH_KEYS:
            if isinstance(value := self.arguments.get(key), str):
                return value.replace("\\", "/")
        match = re.search(r"[\w.@~-]*(?:/[\w.@-]+)+|\b[\w-]+\.[a-z]{1,5}\b", self.call.text)
        return match.group() if match and not self.arguments else ""


class Session:
    """The observations that may count, read once for all rules. `zone` is the session's, `now` the clock of the run."""

    def __init__(self, observations: Sequence[Seen], zone: ZoneInfo, now: datetime) -> None:
        self.seen = [seen for seen in observations if not why_never_evidence(seen)]
        self.zone = zone
        self.now = now

    @cached_property
    def steps(self) -> list[Step]:
        return _pair(self.seen)

    @cached_property
    def edits(self) -> list[Step]:
        """The edits that succeeded."""
        return [step for step in self.steps if step.is_edit and step.outcome == "succeeded"]

    @cached_property
    def said_by_user(self) -> list[Sentence]:
        """What a person typed: no sub-agent prompt, no machine-made line, no pasted document."""
        prompts = " ".join(step.call.text for step in self.steps if step.tool in ("task", "agent"))
        messages: list[list[Sentence]] = []
        for at, seen in enumerate(self.seen):
            if seen.kind != "message" or seen.role != "user" or len(seen.text) > PASTED_CHARS:
                continue
            if _MACHINE.match(seen.text) or (len(seen.text) > 80 and seen.text[:80] in prompts):
                continue
            messages.append(list(sentences(seen, at)))
        return list(what_stands(messages))

    @cached_property
    def said_by_assistant(self) -> list[Sentence]:
        messages = (
            list(sentences(seen, at))
            for at, seen in enumerate(self.seen)
            if seen.kind == "message" and seen.role == "assistant"
        )
        return list(what_stands(messages))

    @cached_property
    def is_coding(self) -> bool:
        return any(step.command or step.is_edit or step.is_read or step.tool in _LOOK_TOOLS for step in self.steps)

    @cached_property
    def is_support(self) -> bool:
        """Only office tools were used: tickets, orders, accounts."""
        return bool(self.steps) and not self.is_coding

    @cached_property
    def language(self) -> str:
        """Of the people in it; of the agent's last words when no person spoke."""
        said = " ".join(sentence.text for sentence in self.said_by_user)
        if language := language_of(re.sub(r"`[^`]*`|\S*[/_=]\S*", " ", said)):
            return language
        last = next((seen for seen in reversed(self.seen) if seen.kind == "message" and seen.role == "assistant"), None)
        return language_of(last.text) if last and language_of(last.text) else "en"

    def moment(self, seen: Seen) -> datetime:
        """When it was said, in the session's own zone."""
        return (seen.occurred_at or self.now).astimezone(self.zone)


def quote(seen: Seen, part: str, start: int = 0) -> Quote | None:
    """The place of `part` in an observation, or None when it is not there letter by letter."""
    found = seen.text.find(part, start) if part else -1
    return Quote(seen.ref, found, found + len(part), part) if found >= 0 else None


def quote_call(step: Step, limit: int = 400) -> Quote | None:
    """The call as it was made: the command itself where it stands as plain text, else the head of the raw call."""
    return quote(step.call, step.command.strip()[:limit]) or quote(step.call, step.call.text.strip()[:limit])


@lru_cache(maxsize=2_048)
def arguments_of(text: str) -> dict[str, Any]:
    """A call's JSON arguments, with or without the tool's name ahead; of a cut call the strings that are whole."""
    text = _TOOL_NAME.sub("", text, count=1)
    if not text.startswith("{"):
        return {}
    try:
        value = json.loads(text)
        return value if isinstance(value, dict) else {}
    except ValueError:
        found: dict[str, Any] = {}
        for key, raw in re.findall(r'"(\w+)":\s*("(?:[^"\\]|\\.)*")', text):
            try:
                found.setdefault(key, json.loads(raw, strict=False))
            except ValueError:
                continue
        return found


def shell_line(words: list[Any]) -> str:
    """An argument vector as a line; `bash -lc "…"` is what it runs."""
    texts = [str(word) for word in words]
    return texts[-1] if len(texts) > 1 and texts[1] in ("-c", "-lc") else " ".join(texts)


def _pair(seen: Sequence[Seen]) -> list[Step]:
    """Calls with their results: by id where the nearest open call carries it, else by tool and order.

    Ids are reused inside real sessions, so an id only counts among calls that still wait.
    """
    waiting: list[int] = []
    answers: dict[int, int] = {}
    calls: list[int] = []
    for at, one in enumerate(seen):
        if one.kind == "tool_call" or (one.kind in ("action", "edit") and one.role == "assistant"):
            twin = next(
                (open_ for open_ in waiting if (seen[open_].tool, seen[open_].text) == (one.tool, one.text)), None
            )
            if twin is not None and not (one.call_id and one.call_id != seen[twin].call_id):
                waiting.remove(twin)  # a line copied by the harness, not a second call
                calls.remove(twin)
            waiting.append(at)
            calls.append(at)
        elif one.kind in ("action", "edit"):
            calls.append(at)
            answers[at] = at
        elif one.kind in ("tool_result", "error") and (call := _waiting_for(seen, waiting, one)) is not None:
            waiting.remove(call)
            answers[call] = at
    steps = []
    for call in calls:
        until = answers.get(call)
        result = seen[until] if until is not None else None
        steps.append(Step(call, call if until is None else until, seen[call], result, _outcome(result)))
    return steps


def _waiting_for(seen: Sequence[Seen], waiting: Sequence[int], result: Seen) -> int | None:
    if result.call_id:
        for call in reversed(waiting):
            if seen[call].call_id == result.call_id:
                return call
    for call in waiting:
        if not seen[call].call_id and result.tool and seen[call].tool == result.tool:
            return call
    without = [call for call in waiting if not seen[call].call_id or not result.call_id]
    return without[-1] if without else None


def _outcome(result: Seen | None) -> str:
    if result is None:
        return "open"
    if result.is_error or result.kind == "error" or result.exit_code not in (None, 0):
        return "failed"
    if result.exit_code is None and _FAILING.search(result.text[:4_000]):
        return "failed"
    return "succeeded"
