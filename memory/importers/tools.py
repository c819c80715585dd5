"""What coding agents' tools were asked: one call as readable text, the files it names, whether it is an edit."""

from __future__ import annotations

import re
from typing import Any

from memory.importers.embedded import compact, without_embedded

SHELL_TOOLS = frozenset(
    {"Bash", "PowerShell", "run_shell_command", "execute_command", "shell", "shell_command", "exec_command"}
    | {"local_shell", "container.exec", "bash"}
)
EDIT_TOOLS = frozenset(
    {"Edit", "MultiEdit", "Write", "NotebookEdit", "replace", "write_file", "edit_file", "create_file", "str_replace"}
    | {"apply_patch", "str_replace_editor", "str_replace_based_edit_tool"}
)
# What the last two are asked when they only look.
_LOOKS = ("view", "open", "ls")
_PATH_KEYS = ("file_path", "filePath", "absolute_path", "notebook_path", "path")
_CHANGE_CHARACTERS = 400
_PATCH_CHARACTERS = 4_000
_PATCHED = re.compile(r"^\*\*\* (?:Add|Update|Delete) File: (.{1,1000})$|^\*\*\* Move to: (.{1,1000})$", re.MULTILINE)
_PATH_CHARACTERS = 1000


def call_text(name: str, arguments: Any, root: str) -> str:
    """One call as a person reads it: a shell's command itself, an edit as path and change, else name and JSON."""
    if command := command_of(name, arguments):
        return command
    if patch := patch_of(name, arguments):
        return f"{name}\n{_shortened(patch, _PATCH_CHARACTERS)}"
    if isinstance(arguments, dict) and name in EDIT_TOOLS and (path := first_path(arguments)):
        return "\n".join([f"{name} {relative(path, root)}", *_change(arguments)])
    if isinstance(arguments, str):
        return without_embedded(f"{name} {arguments}".strip())
    return f"{name} {compact(arguments)}".strip()


def command_of(name: str, arguments: Any) -> str:
    """The line a shell was given; an argument vector is joined, and `bash -lc "…"` is what it runs. "" for no shell."""
    if name not in SHELL_TOOLS or not isinstance(arguments, dict):
        return ""
    command = next((arguments[key] for key in ("command", "cmd") if arguments.get(key)), None)
    if isinstance(command, list):
        words = [str(word) for word in command if isinstance(word, str | int)]
        return words[-1] if len(words) > 2 and words[1] in ("-c", "-lc", "/c", "-Command") else " ".join(words)
    return command if isinstance(command, str) else ""


def patch_of(name: str, arguments: Any) -> str:
    """The patch that `apply_patch` was given, by itself or through a shell; else ""."""
    text: Any = arguments
    if isinstance(arguments, dict):
        text = command_of(name, arguments) or next((arguments[k] for k in ("input", "patch") if k in arguments), "")
    is_patch = isinstance(text, str) and "*** Begin Patch" in text
    return text if is_patch and (name == "apply_patch" or text.lstrip().startswith("apply_patch")) else ""


def is_edit(name: str, arguments: Any) -> bool:
    if isinstance(arguments, dict) and arguments.get("command") in _LOOKS:
        return False
    return name in EDIT_TOOLS or bool(patch_of(name, arguments))


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
    return [mark + line for line in without_embedded(_shortened(text, _CHANGE_CHARACTERS)).split("\n")]


def _shortened(text: str, limit: int) -> str:
    return text if len(text) <= limit else text[:limit] + " …"


def first_path(arguments: Any) -> str:
    if not isinstance(arguments, dict):
        return ""
    return next((arguments[key] for key in _PATH_KEYS if isinstance(arguments.get(key), str) and arguments[key]), "")


def paths_of(arguments: Any, root: str) -> tuple[str, ...]:
    path = first_path(arguments)
    return (relative(path, root),) if path and len(path) <= _PATH_CHARACTERS else ()


def paths_of_call(name: str, arguments: Any, root: str) -> tuple[str, ...]:
    """The files a call names: those of a patch, else the one of an edit or a read."""
    patch = patch_of(name, arguments)
    found = [added or moved for added, moved in _PATCHED.findall(patch)] if patch else []
    if found:
        return tuple(dict.fromkeys(relative(path.strip(), root) for path in found))
    return paths_of(arguments, root)


def relative(path: str, root: str) -> str:
    """`path` as seen from the session's folder, with forward slashes, so that it reads alike on every machine."""
    unified, base = path.replace("\\", "/"), root.replace("\\", "/").rstrip("/")
    if base and unified.startswith(base + "/"):
        return unified[len(base) + 1 :]
    return unified
