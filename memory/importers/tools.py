"""What Claude Code's tools were asked and what they answered, as readable text, paths and exit codes."""

from __future__ import annotations

import json
import re
from typing import Any

SHELL_TOOLS = frozenset({"Bash", "PowerShell", "run_shell_command", "execute_command", "shell"})
EDIT_TOOLS = frozenset(
    {"Edit", "MultiEdit", "Write", "NotebookEdit", "replace", "write_file", "edit_file", "create_file", "str_replace"}
)
_PATH_KEYS = ("file_path", "filePath", "absolute_path", "notebook_path", "path")
_EXIT_KEYS = ("exitCode", "exit_code", "returnCode")
# "Exit code 2" opens the output; shells of the Gemini family put it on a line of its own, near the end.
_EXIT_START = re.compile(r"\A(?:Error: )?Exit code:? (-?\d{1,6})\s*$", re.IGNORECASE | re.MULTILINE)
_EXIT_LINE = re.compile(r"^Exit Code: (-?\d{1,6})$", re.MULTILINE)
_EMBEDDED = re.compile(r"data:[\w.+-]{1,40}/[\w.+-]{1,60};base64,[A-Za-z0-9+/=]{64,}")
_BASE64 = re.compile(r"[A-Za-z0-9+/=_\r\n-]+\Z")
_BASE64_CHARACTERS = 256
_CHANGE_CHARACTERS = 400
_MAX_DEPTH = 60
_PATH_CHARACTERS = 1000

IMAGE = "[image]"


def call_text(name: str, arguments: Any, root: str) -> str:
    """One call as a person reads it: a shell's command itself, an edit as path and change, else name and JSON."""
    if isinstance(arguments, dict):
        if name in SHELL_TOOLS and isinstance(arguments.get("command"), str):
            return str(arguments["command"])
        if name in EDIT_TOOLS and (path := first_path(arguments)):
            return "\n".join([f"{name} {relative(path, root)}", *_change(arguments)])
    return f"{name} {_compact(without_bytes(arguments))}".strip()


def _change(arguments: dict[str, Any]) -> list[str]:
    edits = arguments.get("edits")
    changes = [edit for edit in edits if isinstance(edit, dict)] if isinstance(edits, list) else [arguments]
    lines: list[str] = []
    for change in changes:
        lines += _marked("- ", change.get("old_string"))
        lines += _marked(
            "+ ", next((change[k] for k in ("new_string", "content", "new_source") if change.get(k)), None)
        )
    return lines


def _marked(mark: str, text: Any) -> list[str]:
    if not isinstance(text, str) or not text:
        return []
    short = text if len(text) <= _CHANGE_CHARACTERS else text[:_CHANGE_CHARACTERS] + " …"
    return [mark + line for line in without_embedded(short).split("\n")]


def first_path(arguments: Any) -> str:
    if not isinstance(arguments, dict):
        return ""
    return next((arguments[key] for key in _PATH_KEYS if isinstance(arguments.get(key), str) and arguments[key]), "")


def paths_of(arguments: Any, root: str) -> tuple[str, ...]:
    path = first_path(arguments)
    return (relative(path, root),) if path and len(path) <= _PATH_CHARACTERS else ()


def relative(path: str, root: str) -> str:
    """`path` as seen from the session's folder, with forward slashes, so that it reads alike on every machine."""
    unified, base = path.replace("\\", "/"), root.replace("\\", "/").rstrip("/")
    if base and unified.startswith(base + "/"):
        return unified[len(base) + 1 :]
    return unified


def result_text(content: Any, beside: Any) -> str:
    """A tool's answer in any of its four shapes; `beside` is the line's toolUseResult, asked when there is none."""
    if content is None:
        return _beside_text(beside)
    return without_embedded(_shape_text(content))


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
        return display if isinstance(display, str) else _compact(without_bytes(content))
    return _compact(content)


def _part_text(part: Any) -> str:
    if isinstance(part, str):
        return part
    if not isinstance(part, dict):
        return _compact(part)
    if part.get("type") == "text" and isinstance(part.get("text"), str):
        return str(part["text"])
    if part.get("type") in ("image", "document"):
        return f"[{part['type']}]"
    if part.get("type") == "tool_reference":
        return f"[tool {part.get('tool_name') or part.get('name') or ''}]"
    return _compact(without_bytes(part))


def _gemini_text(part: Any) -> str:
    answer = part.get("functionResponse") if isinstance(part, dict) else None
    response = answer.get("response") if isinstance(answer, dict) else None
    if not isinstance(response, dict):
        return ""
    said = next((response[key] for key in ("output", "error", "content") if response.get(key)), "")
    return said if isinstance(said, str) else _compact(without_bytes(said))


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
        value = beside.get(key) if isinstance(beside, dict) else None
        if isinstance(value, int) and not isinstance(value, bool) and abs(value) < 2**31:
            return value
    match = _EXIT_START.match(text) if is_error or tool in SHELL_TOOLS else None
    if match is None and tool in SHELL_TOOLS:
        match = _EXIT_LINE.search(text)
    return int(match.group(1)) if match else None


def without_embedded(text: str) -> str:
    return _EMBEDDED.sub(IMAGE, text) if ";base64," in text else text


def without_bytes(value: Any, depth: int = 0) -> Any:
    """`value` with base64 bodies replaced by their length: a screenshot's bytes say nothing and fill the table."""
    if depth > _MAX_DEPTH:
        return "[nested too deeply]"
    if isinstance(value, dict):
        body = value.get("data")
        if isinstance(body, str) and (value.get("type") == "base64" or "media_type" in value):
            value = {**value, "data": f"[{len(body)} characters of base64]"}
        return {key: without_bytes(item, depth + 1) for key, item in value.items()}
    if isinstance(value, list):
        return [without_bytes(item, depth + 1) for item in value]
    if isinstance(value, str):
        is_body = len(value) >= _BASE64_CHARACTERS and _BASE64.match(value)
        return f"[{len(value)} characters of base64]" if is_body else without_embedded(value)
    return value


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _compact(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=str)
