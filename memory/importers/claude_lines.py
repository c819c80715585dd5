"""One line of a Claude Code transcript on its way to observations: what it is, whose words, which tool answered."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from memory.importers import answers, tools, words
from memory.importers.calls import Call, Calls
from memory.importers.counts import HARNESS_TYPES, scalar, type_of
from memory.importers.embedded import without_embedded
from memory.importers.identity import Ids, plain_id
from memory.importers.reasons import as_reason
from memory.importers.times import parse_time, seconds_between
from memory.own_briefs import is_own_brief, split_own_briefs
from memory.transcript import Incoming, IncomingSession

_MARKERS = frozenset({"system/compact_boundary", "system/api_error"})
_USAGE_KEYS = ("input_tokens", "output_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")
# A prompt typed while the agent works is written when queued and again when taken up, seconds to a minute apart.
_ECHO_SECONDS = 120


@dataclass(slots=True)
class Talk:
    """One session while its lines are read."""

    session: IncomingSession
    ids: Ids = field(default_factory=Ids)
    calls: Calls = field(default_factory=Calls)
    replies: dict[str, dict[str, int]] = field(default_factory=dict)
    prompts: dict[str, datetime] = field(default_factory=dict)
    queued: set[str] = field(default_factory=set)
    leaf_titles: list[tuple[str, str]] = field(default_factory=list)


class Record:
    """One line on its way to observations. The drafts carry no id yet."""

    def __init__(self, record: dict[str, Any], talk: Talk, is_agent_file: bool, number: int) -> None:
        self.record = record
        self.talk = talk
        self.number = number
        self.type = type_of(record)
        self.at = parse_time(record.get("timestamp"))
        self.sidechain = bool(record.get("isSidechain")) or (is_agent_file and bool(record.get("agentId")))
        message = record.get("message")
        self.message: dict[str, Any] = message if isinstance(message, dict) else {}

    def drafts(self) -> tuple[list[Incoming], str]:
        """The observations of this line, or none and the reason why."""
        kind = self.record.get("type")
        if kind in ("user", "assistant"):
            return self._spoken(str(kind))
        if kind == "summary":
            return self._summary()
        if self.type in _MARKERS:
            return [self._draft("meta", "system", _marker_text(self.record))], ""
        if kind == "attachment":
            return self._attachment()
        if kind is None and self.message.get("role") == "assistant":
            return self._usage_only()
        for key in ("aiTitle", "customTitle"):
            if kind in ("ai-title", "custom-title") and isinstance(self.record.get(key), str):
                self.talk.session.title = str(self.record[key])[:200]
        if HARNESS_TYPES.fullmatch(scalar(kind)):
            return [], f"type:{as_reason(self.type)}"
        return [], f"unknown_type:{as_reason(self.type)}"

    def _spoken(self, kind: str) -> tuple[list[Incoming], str]:
        if not self.message:
            return [], "message_missing" if self.record.get("message") in (None, {}) else "message_not_object"
        content = self.message.get("content")
        if isinstance(content, str):
            content = [{"type": "text", "text": content}]
        if kind == "assistant":
            self._count_usage()
            if self.record.get("isApiErrorMessage"):
                return [], "api_error_reply"
            if self.message.get("model") == "<synthetic>":
                return [], "synthetic_reply"
        if not isinstance(content, list):
            return self._usage_only() if kind == "assistant" and content is None else ([], "content_missing")
        return self._said_by_user(content) if kind == "user" else self._said_by_assistant(content)

    def _said_by_user(self, content: list[Any]) -> tuple[list[Incoming], str]:
        drafts: list[Incoming] = []
        human: list[str] = []
        reasons: list[str] = []
        for block in content:
            kind = block.get("type") if isinstance(block, dict) else "non_object"
            if kind == "tool_result":
                drafts += self._tool_result(block)
            elif kind == "text" and isinstance(block.get("text"), str):
                for piece in self._pieces(block["text"]):
                    if piece.kind == "message":
                        human.append(piece.text)
                    else:
                        drafts.append(self._draft(piece.kind, piece.role, piece.text))
            elif kind in ("image", "document") and not self._is_machine_made:
                human.append(f"[{kind}]")
            else:
                reasons.append(f"block:{as_reason(scalar(kind))}")
        if human:
            said = "\n".join(human)
            if self._is_echo(said):
                reasons.append("repeated_prompt")
            else:
                drafts.insert(0, self._draft("message", "user", said))
        return drafts, reasons[0] if reasons else "empty_text"

    @property
    def _is_machine_made(self) -> bool:
        flags = ("isMeta", "isCompactSummary", "isVisibleInTranscriptOnly")
        return self.sidechain or any(self.record.get(flag) for flag in flags)

    def _pieces(self, text: str) -> list[words.Piece]:
        if not self._is_machine_made:
            return words.pieces_of(text)
        # A sub-agent's prompt is the main agent's, a recap is the harness's: none is a human's word.
        kind = "summary" if self.record.get("isCompactSummary") else "meta"
        rest, briefs = split_own_briefs(text)
        found = [words.Piece("brief", "system", brief) for brief in briefs]
        return [words.Piece(kind, "system", rest.strip()), *found] if rest.strip() else found

    def _is_echo(self, said: str) -> bool:
        """Whether these words were just taken from the queue (or are about to be written a second time)."""
        earlier = self.talk.prompts.get(said)
        if self.at is not None:
            self.talk.prompts[said] = self.at
        queued = self.record.get("type") == "attachment"
        near = earlier is not None and self.at is not None and seconds_between(earlier, self.at) <= _ECHO_SECONDS
        return near and (queued or said in self.talk.queued)

    def _tool_result(self, block: dict[str, Any]) -> list[Incoming]:
        beside = self.record.get("toolUseResult")
        call_id = plain_id(block.get("tool_use_id"))
        call = self.talk.calls.answered(call_id)
        whole = answers.result_text(block.get("content"), beside)
        text, briefs = split_own_briefs(words.without_reminders(whole))
        is_error = answers.failed(block, beside)
        name = call.name if call else _tool_beside(beside)
        result = Incoming(
            kind="tool_result",
            role="tool",
            text=text,
            tool=name,
            call_id=call_id,
            exit_code=answers.exit_code(name, text, beside, is_error),
            is_error=is_error,
            paths=call.paths if call else tools.paths_of(beside, self.talk.session.cwd),
            sidechain=self.sidechain,
            occurred_at=self.at,
        )
        drafts = [result] if text.strip() or not briefs else []
        drafts += [self._draft("brief", "tool", brief) for brief in briefs]
        if is_error and (said := words.words_of_refusal(text)):
            drafts.append(self._draft("message", "user", said))
        return drafts

    def _said_by_assistant(self, content: list[Any]) -> tuple[list[Incoming], str]:
        drafts: list[Incoming] = []
        reasons: list[str] = []
        for block in content:
            kind = block.get("type") if isinstance(block, dict) else "non_object"
            if kind == "text" and isinstance(block.get("text"), str):
                text, briefs = split_own_briefs(without_embedded(block["text"]))
                drafts += [self._draft("message", "assistant", text)] if text.strip() else []
                drafts += [self._draft("brief", "assistant", brief) for brief in briefs]
            elif kind in ("tool_use", "server_tool_use", "mcp_tool_use"):
                drafts += self._call(block)
                reasons.append("repeated_call")
            else:
                reasons.append(
                    "thinking" if kind in ("thinking", "redacted_thinking") else f"block:{as_reason(scalar(kind))}"
                )
        return drafts, reasons[0] if reasons else "empty_text"

    def _call(self, block: dict[str, Any]) -> list[Incoming]:
        name, arguments, root = (scalar(block.get("name") or "")[:200], block.get("input"), self.talk.session.cwd)
        text, paths = (tools.call_text(name, arguments, root), tools.paths_of_call(name, arguments, root))
        call = Call(name, plain_id(block.get("id")), text, paths)
        # Streaming writers repeat a call in each of several lines; a reused id comes after the answer to its first use.
        if call.call_id and call in self.talk.calls:
            return []
        self.talk.calls.open(call)
        kind = "edit" if tools.is_edit(name, arguments) else "tool_call"
        draft = self._draft(kind, "assistant", text)
        return [replace(draft, tool=name, call_id=call.call_id, paths=paths)]

    def _summary(self) -> tuple[list[Incoming], str]:
        text = self.record.get("summary")
        if not isinstance(text, str) or not text.strip():
            return [], "empty_text"
        self.talk.leaf_titles.append((plain_id(self.record.get("leafUuid")), text.strip()[:200]))
        return [self._draft("summary", "system", text.strip())], ""

    def _attachment(self) -> tuple[list[Incoming], str]:
        attachment = self.record.get("attachment")
        if not isinstance(attachment, dict):
            return [], "type:attachment"
        if attachment.get("type") == "queued_command":
            return self._queued_prompt(attachment)
        # What a hook injected at the start of a session may be our own brief.
        texts = [value for value in attachment.values() if isinstance(value, str) and is_own_brief(value)]
        return [self._draft("brief", "system", text) for text in texts], "type:attachment"

    def _queued_prompt(self, attachment: dict[str, Any]) -> tuple[list[Incoming], str]:
        prompt = attachment.get("prompt")
        parts = prompt if isinstance(prompt, list) else [{"type": "text", "text": prompt}]
        said = "\n".join(
            piece.text
            for part in parts
            if isinstance(part, dict) and isinstance(part.get("text"), str)
            for piece in words.pieces_of(part["text"])
            if piece.kind == "message"
        )
        if not said or self.sidechain or attachment.get("commandMode") not in (None, "prompt"):
            return [], "type:attachment"
        if self._is_echo(said):
            return [], "repeated_prompt"
        self.talk.queued.add(said)
        return [self._draft("message", "user", said)], ""

    def _usage_only(self) -> tuple[list[Incoming], str]:
        usage = self._count_usage()
        if not usage:
            return [], "content_missing"
        model = scalar(self.message.get("model") or "unknown model")[:100]
        told = ", ".join(f"{key} {number}" for key, number in usage.items())
        return [self._draft("usage", "assistant", f"{model}: {told}")], ""

    def _count_usage(self) -> dict[str, int]:
        """Tokens of this reply. Its lines repeat them, growing: the largest of each is the reply's."""
        usage = self.message.get("usage")
        if not isinstance(usage, dict):
            return {}
        numbers = {key: usage[key] for key in _USAGE_KEYS if _is_count(usage.get(key))}
        reply = self.talk.replies.setdefault(plain_id(self.message.get("id")) or f"line {self.number}", {})
        for key, number in numbers.items():
            reply[key] = max(reply.get(key, 0), number)
        return numbers

    def _draft(self, kind: str, role: str, text: str) -> Incoming:
        return Incoming(kind=kind, role=role, text=text, sidechain=self.sidechain, occurred_at=self.at)


def _tool_beside(beside: Any) -> str:
    name = beside.get("toolName") if isinstance(beside, dict) else None
    return name[:200] if isinstance(name, str) else ""


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**53


def _marker_text(record: dict[str, Any]) -> str:
    if record.get("subtype") == "compact_boundary":
        details = record.get("compactMetadata")
        tokens = details.get("preTokens") if isinstance(details, dict) else None
        return (
            f"The conversation was compacted at {tokens} tokens."
            if _is_count(tokens)
            else "The conversation was compacted."
        )
    error = record.get("error")
    status = error.get("status") if isinstance(error, dict) else None
    return f"The model's API answered {status}." if _is_count(status) else "The model's API failed."
