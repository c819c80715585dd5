"""Messages on their way to observations: what each part is, whose words, which call was answered."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

from memory.importers import answers, tools, words
from memory.importers.calls import Call, Calls
from memory.importers.embedded import without_embedded
from memory.importers.identity import plain_id
from memory.importers.reasons import as_reason
from memory.importers.shapes import Media, Message, Text, ToolCall, ToolResult
from memory.own_briefs import split_own_briefs
from memory.transcript import Incoming


class Turns:
    """Turns messages of one talk, given in order, into drafts of observations, which carry no id yet."""

    def __init__(self, root: str = "", *, sidechain: bool = False, calls: Calls | None = None) -> None:
        self.root = root
        self.sidechain = sidechain
        self.calls = calls or Calls()

    def copy(self) -> Turns:
        return Turns(self.root, sidechain=self.sidechain, calls=self.calls.copy())

    def drafts(self, message: Message, at: datetime | None = None) -> tuple[list[Incoming], str]:
        """The observations of this message, or none and the reason why."""
        if not message.role:
            return [], f"unknown_role:{as_reason(message.written)}" if message.written else "no_role"
        # What a sub-agent is asked are the main agent's words.
        is_human = message.role == "user" and not self.sidechain
        found: list[Incoming] = []
        human: list[str] = []
        for part in message.parts:
            if isinstance(part, ToolCall):
                found.append(self._call(part))
            elif isinstance(part, ToolResult):
                found += self._result(part)
            elif not is_human:
                found += _said(message.role, part.text) if isinstance(part, Text) else []
            elif isinstance(part, Media):
                human.append(part.mark)
            else:
                found += self._said_by_user(part, human)
        if human:
            found.insert(0, Incoming("message", "user", "\n".join(human)))
        stamped = [replace(draft, sidechain=self.sidechain, occurred_at=at) for draft in found]
        return stamped, message.left_out[0] if message.left_out else "empty_text"

    @staticmethod
    def _said_by_user(part: Text, human: list[str]) -> list[Incoming]:
        """What the harness wrote into this text; the human's own words are added to `human`."""
        found: list[Incoming] = []
        for piece in words.pieces_of(without_embedded(part.text)):
            if piece.kind == "message":
                human.append(piece.text)
            else:
                found.append(Incoming(piece.kind, piece.role, piece.text))
        return found

    def _call(self, part: ToolCall) -> Incoming:
        text = tools.call_text(part.name, "" if part.arguments is None else part.arguments, self.root)
        paths = tools.paths_of_call(part.name, part.arguments, self.root)
        call = Call(part.name, plain_id(part.call_id), text, paths)
        self.calls.open(call)
        kind = "edit" if tools.is_edit(part.name, part.arguments) else "tool_call"
        return Incoming(kind, "assistant", text, tool=call.name, call_id=call.call_id, paths=paths)

    def _result(self, part: ToolResult) -> list[Incoming]:
        call_id = plain_id(part.call_id)
        call = self.calls.answered(call_id, part.name)
        name = call.name if call else part.name
        content, code = answers.unwrapped_output(part.content)
        text, briefs = split_own_briefs(words.without_reminders(answers.result_text(content, None)))
        result = Incoming(
            "tool_result",
            "tool",
            text,
            tool=name,
            call_id=call_id,
            exit_code=code if code is not None else answers.exit_code(name, text, None, part.is_error),
            is_error=part.is_error,
            paths=call.paths if call else (),
        )
        found = [result] if text.strip() or not briefs else []
        found += [Incoming("brief", "tool", brief) for brief in briefs]
        if part.is_error and (said := words.words_of_refusal(text)):
            found.append(Incoming("message", "user", said))
        return found


def _said(role: str, text: str) -> list[Incoming]:
    """A text that no human wrote: the assistant's, or instructions, which are kept for reading only."""
    rest, briefs = split_own_briefs(without_embedded(text))
    kind, author = ("message", role) if role == "assistant" else ("meta", "system")
    found = [Incoming(kind, author, rest.strip())] if rest.strip() else []
    return found + [Incoming("brief", author, brief) for brief in briefs]
