"""What tools answered, in any of the shapes it is written in, as readable text and exit codes."""

from __future__ import annotations

import json
import re
from typing import Any

from memory.importers.counts import scalar
from memory.importers.embedded import IMAGE, compact, without_embedded
from memory.importers.tools import SHELL_TOOLS

_EXIT_KEYS = ("exitCode", "exit_code", "returnCode")
# "Exit code 2" opens the output; shells of the Gemini family put it on a line of its own, near the end.
_EXIT_START = re.compile(r"\A(?:Error: )?Exit code:? (-?\d{1,6})\s*$", re.IGNORECASE | re.MULTILINE)
_EXIT_LINE = re.compile(r"^Exit Code: (-?\d{1,6})$", re.MULTILINE)
# What Codex prints above an output that is plain text.
_HEADER_LINE = re.compile(
    r"(?:Exit code: (?P<code>-?\d{1,6})|Process exited with code (?P<ended>-?\d{1,6})|Wall time: .{0,60}"
    r"|Chunk ID: .{0,80}|Process running with session ID \d+|Original token count: \d+|Total output lines: \d+|)"
)
_HEADER_CHARACTERS = 600
_TEXT_PARTS = ("text", "input_text", "output_text")
_MEDIA_PARTS = {
    **dict.fromkeys(("image", "image_url", "input_image"), IMAGE),
    **dict.fromkeys(("document", "input_file"), "[document]"),
}


def result_text(content: Any, beside: Any) -> str:
    """A tool's answer in any of its four shapes; `beside` is the line's toolUseResult, asked when there is none."""
    if content is None:
        return _beside_text(beside)
    return without_embedded(_shape_text(content))


def unwrapped_output(output: Any) -> tuple[Any, int | None]:
    """A tool's answer without what Codex puts around it, and the exit code that stood there.

    It writes either JSON in a text, {"output": …, "metadata": {"exit_code": …}}, or plain text under lines of its own.
    """
    if isinstance(output, str):
        inner = _object(output) if '"output"' in output else {}
        # Another tool's JSON is its own business.
        is_wrapped = isinstance(inner.get("output"), str) and inner.keys() <= {"output", "metadata"}
        return (inner["output"], exit_code_in(inner)) if is_wrapped else _without_header(output)
    if isinstance(output, dict) and isinstance(output.get("output"), str):
        return output["output"], exit_code_in(output)
    if isinstance(output, dict) and isinstance(output.get("content"), str | list):
        return output["content"], None
    return output, None


def exit_code_in(output: Any) -> int | None:
    """The exit code in the metadata of such an answer, given as JSON or as its text; None where there is none."""
    inner = _object(output) if isinstance(output, str) else output
    metadata = inner.get("metadata") if isinstance(inner, dict) else None
    return whole_number(metadata.get("exit_code")) if isinstance(metadata, dict) else None


def _object(text: str) -> dict[str, Any]:
    if not text.startswith("{"):
        return {}
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def _without_header(text: str) -> tuple[str, int | None]:
    head, mark, _ = text[:_HEADER_CHARACTERS].partition("Output:\n")
    lines = [_HEADER_LINE.fullmatch(line) for line in head.split("\n")]
    if not mark or not head or not all(lines):
        return text, None
    codes = [found for line in lines if line and (found := line["code"] or line["ended"])]
    return text[len(head) + len(mark) :], int(codes[0]) if codes else None


def _shape_text(content: Any) -> str:
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        return "\n".join(_part_text(part) for part in content)
    if isinstance(content, dict):
        answers = [_gemini_text(part) for part in _listed(content.get("responseParts"))]
        if any(answers):
            return "\n".join(filter(None, answers))
        display = content.get("resultDisplay")
        return display if isinstance(display, str) else compact(content)
    return compact(content)


def _part_text(part: Any) -> str:
    if isinstance(part, str):
        return part
    if not isinstance(part, dict):
        return compact(part)
    kind = scalar(part.get("type"))
    if kind in _TEXT_PARTS and isinstance(part.get("text"), str):
        return str(part["text"])
    if kind in _MEDIA_PARTS:
        return _MEDIA_PARTS[kind]
    if kind == "tool_reference":
        return f"[tool {part.get('tool_name') or part.get('name') or ''}]"
    return compact(part)


def _gemini_text(part: Any) -> str:
    answer = part.get("functionResponse") if isinstance(part, dict) else None
    response = answer.get("response") if isinstance(answer, dict) else None
    if not isinstance(response, dict):
        return ""
    said = next((response[key] for key in ("output", "error", "content") if response.get(key)), "")
    return said if isinstance(said, str) else compact(said)


def _beside_text(beside: Any) -> str:
    if isinstance(beside, str):
        return without_embedded(beside)
    if isinstance(beside, dict):
        texts = [beside[key] for key in ("stdout", "stderr", "content") if isinstance(beside.get(key), str)]
        return without_embedded("\n".join(filter(None, texts)))
    return ""


def failed(block: dict[str, Any], beside: Any) -> bool:
    """Whether the harness called this result an error: its flag, or the status beside it."""
    if block.get("is_error"):
        return True
    return isinstance(beside, dict) and beside.get("status") in ("error", "failed", "failure")


def exit_code(tool: str, text: str, beside: Any, is_error: bool) -> int | None:
    """The exit code where one was recorded: a field, or the text. None is "not said", never "fine"."""
    for key in _EXIT_KEYS:
        value = whole_number(beside.get(key)) if isinstance(beside, dict) else None
        if value is not None:
            return value
    match = _EXIT_START.match(text) if is_error or tool in SHELL_TOOLS else None
    if match is None and tool in SHELL_TOOLS:
        match = _EXIT_LINE.search(text)
    return int(match.group(1)) if match else None


def whole_number(value: Any) -> int | None:
    """The number, where it is one that a column can hold."""
    return value if isinstance(value, int) and not isinstance(value, bool) and abs(value) < 2**31 else None


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]
