"""One line of a Codex rollout on its way to observations: what it is, whose words, which other line says the same."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from memory.importers import answers
from memory.importers.counts import scalar
from memory.importers.identity import digest, plain_id
from memory.importers.reasons import as_reason
from memory.importers.shapes import CALL_ITEMS, OWN_CALL_ITEMS, RESULT_ITEMS, ToolCall, ToolResult, read_message
from memory.importers.shapes import Message as Said
from memory.importers.times import parse_time, seconds_between
from memory.importers.turns import Turns
from memory.transcript import Incoming

# The same words as item and as event: written one after the other, seldom with more than a moment between.
_TWIN_SECONDS = 120
# A file that says one thing without end stays quick to read.
_MOST_WAITING = 50
_THOUGHTS = frozenset({"agent_reasoning", "agent_reasoning_raw_content", "agent_reasoning_section_break"})
# Events whose news stands in another line too, or is the harness's own state.
_KNOWN_EVENTS = re.compile(
    "token_count|task_started|task_complete|turn_started|turn_complete|exec_command_begin|exec_command_output_delta"
    "|item_started|item_completed|patch_apply_begin|mcp_tool_call_begin|web_search_begin|web_search_end|turn_diff"
    "|context_compacted|sub_agent_activity|collab_[a-z_]+|error|stream_error|warning|plan_update|background_event"
    "|entered_review_mode|exited_review_mode|view_image_tool_call|image_generation_end|thread_name_updated"
    "|thread_settings_applied"
)
_KNOWN_LINES = frozenset(
    {"session_meta", "turn_context", "world_state", "token_usage_record", "inter_agent_communication"}
)
_ITEM_LINES = CALL_ITEMS | OWN_CALL_ITEMS | RESULT_ITEMS | {"message", "reasoning"}


@dataclass(slots=True)
class Read:
    """What one line becomes: drafts and the name of the line, or the reason why nothing."""

    drafts: list[Incoming] = field(default_factory=list)
    base: str = ""
    reason: str = ""
    starts_turn: bool = False
    withdraws: int = 0


class Lines:
    """Reads the lines of one rollout in order."""

    def __init__(self, root: str = "", *, sidechain: bool = False) -> None:
        self.turns = Turns(root, sidechain=sidechain)
        # For each thing said, the lines that said it and have not met their twin.
        self._said: dict[tuple[str, str], list[tuple[str, datetime | None]]] = defaultdict(list)
        self._called: Counter[str] = Counter()
        self._answered: dict[str, list[str]] = defaultdict(list)
        self._answers: Counter[str] = Counter()

    def read(self, record: dict[str, Any]) -> Read:
        kind = scalar(record.get("type"))
        payload = record.get("payload")
        at = parse_time(record.get("timestamp"))
        if kind == "response_item" and isinstance(payload, dict):
            return self._item(payload, at)
        if kind == "event_msg" and isinstance(payload, dict):
            return self._event(payload, at)
        if kind == "compacted":
            return _compacted(payload, at)
        if payload is None and kind in _ITEM_LINES:
            return self._item(record, at)
        if kind in _KNOWN_LINES or "record_type" in record or (payload is None and "instructions" in record):
            return Read(reason=f"type:{as_reason(kind)}")
        return Read(reason=f"unknown_type:{as_reason(kind)}")

    def forget_said(self) -> None:
        """After turns were withdrawn: what is typed again is no twin of what was."""
        self._said.clear()

    def _item(self, payload: dict[str, Any], at: datetime | None) -> Read:
        kind = scalar(payload.get("type"))
        if kind == "ghost_snapshot":
            return Read(reason="type:response_item/ghost_snapshot")
        if kind == "agent_message" and "role" not in payload:
            # What one agent told another.
            payload = {**payload, "role": "developer"}
        said = read_message(payload)
        if not said.role:
            return Read(reason=f"unknown_type:response_item/{as_reason(kind)}" if kind != "None" else "no_role")
        call = next((part for part in said.parts if isinstance(part, ToolCall)), None)
        answer = next((part for part in said.parts if isinstance(part, ToolResult)), None)
        if call is not None:
            return self._called_by(said, call, payload, at)
        if answer is not None:
            return self._answer(said, plain_id(answer.call_id), "item", at)
        return self._words(said, "item", at)

    def _called_by(self, said: Said, call: ToolCall, payload: dict[str, Any], at: datetime | None) -> Read:
        if call.arguments is None and isinstance(payload.get("summary"), str):
            said.parts = [replace(call, arguments=payload["summary"])]
        drafts, reason = self.turns.drafts(said, at)
        return Read(drafts, self._name("call", plain_id(call.call_id), self._called), reason)

    def _answer(self, said: Said, call_id: str, source: str, at: datetime | None) -> Read:
        """An answer comes as item and, before it, as event; the first is kept."""
        twins = self._answered[call_id]
        if call_id and any(twin != source for twin in twins):
            twins.pop(next(place for place, twin in enumerate(twins) if twin != source))
            return Read(reason="repeated_answer")
        twins.append(source)
        del twins[:-_MOST_WAITING]
        drafts, reason = self.turns.drafts(said, at)
        return Read(drafts, self._name("answer", call_id, self._answers), reason)

    def _name(self, what: str, call_id: str, times: Counter[str]) -> str:
        """A name that the same call has whichever line it is read from. "" (the line's own) for one without an id."""
        if not call_id:
            return ""
        times[call_id] += 1
        return f"{what}-{digest(call_id)}-{times[call_id]}"

    def _words(self, said: Said, source: str, at: datetime | None) -> Read:
        drafts, reason = self.turns.drafts(said, at)
        spoken = "\n".join(one.text for one in drafts if one.kind == "message") or (
            "\n".join(one.text for one in drafts) if self.turns.sidechain and said.role == "user" else ""
        )
        if not spoken:
            return Read(drafts, "", reason)
        if self._is_twin(said.role, spoken, source, at):
            return Read(reason="repeated_text")
        return Read(drafts, "", reason, starts_turn=said.role == "user")

    def _is_twin(self, role: str, spoken: str, source: str, at: datetime | None) -> bool:
        waiting = self._said[(role, " ".join(spoken.replace("[image]", "").split()))]
        for place, (other, then) in enumerate(waiting):
            if other != source and (at is None or then is None or seconds_between(at, then) <= _TWIN_SECONDS):
                del waiting[place]
                return True
        waiting.append((source, at))
        del waiting[:-_MOST_WAITING]
        return False

    def _event(self, payload: dict[str, Any], at: datetime | None) -> Read:
        kind = scalar(payload.get("type"))
        if kind in ("user_message", "agent_message"):
            role = "user" if kind == "user_message" else "assistant"
            text = payload.get("message")
            pictures = payload.get("images") or payload.get("local_images")
            blocks = [{"type": "text", "text": text if isinstance(text, str) else ""}]
            blocks += [{"type": "image"}] * (len(pictures) if isinstance(pictures, list) else 0)
            return self._words(read_message({"role": role, "content": blocks}), "event", at)
        if kind == "thread_rolled_back":
            number = payload.get("num_turns")
            withdraws = answers.whole_number(number) or 0
            return Read(reason="type:event_msg/thread_rolled_back", withdraws=max(0, withdraws))
        if kind == "turn_aborted":
            why = as_reason(scalar(payload.get("reason") or "no reason given"))
            return Read([Incoming("meta", "system", f"The turn was aborted: {why}.", occurred_at=at)])
        if kind in _ENDED:
            return self._ended(kind, payload, at)
        if kind in _THOUGHTS:
            return Read(reason="thinking")
        known = "type" if _KNOWN_EVENTS.fullmatch(kind) else "unknown_type"
        return Read(reason=f"{known}:event_msg/{as_reason(kind)}")

    def _ended(self, kind: str, payload: dict[str, Any], at: datetime | None) -> Read:
        """What came of a call, told as event: news only where the call or its answer is no item of its own."""
        call_id = plain_id(payload.get("call_id"))
        call, answer, code = _ENDED[kind](payload)
        call, answer = replace(call, call_id=call_id), replace(answer, call_id=call_id)
        drafts: list[Incoming] = []
        if not self._called[call_id]:
            self._called[call_id] += 1
            drafts += self.turns.drafts(Said("assistant", kind, [call]), at)[0]
        read = self._answer(Said("tool", kind, [answer]), call_id, "event", at)
        if not read.drafts:
            return Read(drafts, f"call-{digest(call_id)}-1" if call_id else "", read.reason)
        if code is not None:
            read.drafts[0] = replace(read.drafts[0], exit_code=code)
        return replace(read, drafts=[*drafts, *read.drafts])


def _compacted(payload: Any, at: datetime | None) -> Read:
    text = payload.get("message") if isinstance(payload, dict) else None
    if isinstance(text, str) and text.strip():
        return Read([Incoming("summary", "system", text.strip(), occurred_at=at)])
    return Read([Incoming("meta", "system", "The conversation was compacted.", occurred_at=at)])


def _ended_command(payload: dict[str, Any]) -> tuple[ToolCall, ToolResult, int | None]:
    texts = [payload[key] for key in ("stdout", "stderr") if isinstance(payload.get(key), str)]
    whole = payload.get("aggregated_output")
    output = whole if isinstance(whole, str) and whole else "\n".join(filter(None, texts))
    failed = payload.get("status") in ("failed", "declined")
    call = ToolCall("exec_command", "", {"command": payload.get("command")})
    return call, ToolResult("", output, is_error=failed), answers.whole_number(payload.get("exit_code"))


def _ended_patch(payload: dict[str, Any]) -> tuple[ToolCall, ToolResult, int | None]:
    texts = [payload[key] for key in ("stdout", "stderr") if isinstance(payload.get(key), str)]
    changes = payload.get("changes")
    patch = ["*** Begin Patch"]
    for path, change in changes.items() if isinstance(changes, dict) else ():
        word = {"add": "Add", "delete": "Delete"}.get(scalar(change.get("type") if isinstance(change, dict) else ""))
        patch.append(f"*** {word or 'Update'} File: {path}")
        diff = change.get("unified_diff") or change.get("content") if isinstance(change, dict) else ""
        patch += [diff.rstrip("\n")] if isinstance(diff, str) and diff else []
    call = ToolCall("apply_patch", "", "\n".join([*patch, "*** End Patch"]))
    return call, ToolResult("", "\n".join(filter(None, texts)), is_error=payload.get("success") is False), None


def _ended_tool(payload: dict[str, Any]) -> tuple[ToolCall, ToolResult, int | None]:
    asked, outcome = payload.get("invocation"), payload.get("result")
    asked = asked if isinstance(asked, dict) else {}
    names = [str(asked[key]) for key in ("server", "tool") if isinstance(asked.get(key), str)]
    failed = isinstance(outcome, dict) and "Err" in outcome
    told = outcome.get("Err" if failed else "Ok", outcome) if isinstance(outcome, dict) else outcome
    is_error = failed or (isinstance(told, dict) and bool(told.get("isError") or told.get("is_error")))
    call = ToolCall("__".join(["mcp", *names]) if names else "mcp", "", asked.get("arguments"))
    return call, ToolResult("", told, is_error=is_error), None


_ENDED = {
    "exec_command_end": _ended_command,
    "patch_apply_end": _ended_patch,
    "mcp_tool_call_end": _ended_tool,
}
