"""What failing output says: the one line worth quoting, and failures that teach nothing.

Real sessions fail all the time: a search without a hit, a file edited before it was read, a warning on stderr.
A non-zero exit alone is never a lesson.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from memory.distillers.local.wording import plain
from memory.distillers.local.words import any_of
from memory.transcript import Quote, Seen

MAX_ERROR_CHARS = 110
MAX_LINE_CHARS = 600

_HARNESS = re.compile(
    r"File has not been read yet|File has been (?:modified|unexpectedly modified)|<tool_use_error>"
    r"|InputValidationError|String to replace not found|old_string|"
    r"requested permissions|haven't granted|doesn't want to (?:proceed|take this action)"
    r"|tool use was rejected|Request interrupted|No files found|"
    r"the following arguments are required|^npm warn|nothing to commit|no changes added|working tree clean"
    r"|Command timed out"
    r"|command was aborted|Cancelled|Todos have been modified|"
    r"is not a git command|did you mean|Unknown command|unknown subcommand|No such command"
    r"|already (?:exists|up to date|installed)",
    re.IGNORECASE | re.MULTILINE,
)
# Ordered: the first pattern with a hit gives the line; within it, the last that says most (a traceback ends with it).
_TELLING = (
    re.compile(r"\b\w*(?:Error|Exception|NotFound|Refused|Denied)\b: ."),
    re.compile(r"\b(?:ERR!|ERROR|FATAL|FAILED|fatal|error|Error|E:)(?:\s*[:!\]]|\s+\w+)"),
    any_of(
        r"\b(?:not found|no rule|does(?:n't| not) exist|must be logged in|unrecognized|refused|denied|no such)\b",
        r"\b(?:cannot|could not|couldn't|unable to|missing|requires?|required|not set|unsupported|not supported)\b",
        r"\b(?:incompatible|invalid|already in use|must be|unknown|failed|fails|timed out|unreachable|expired)\b",
    ),
)
_SHOUTS = re.compile(
    r"^(?:\[?\d{4}-\d\d-\d\d[T ][\d:.,]+Z?\]?:?\s+|\[\d\d:\d\d:\d\d\]:?\s+|\d\d:\d\d:\d\d[.,]?\d*\s+"
    r"|npm ERR! (?:code )?|\[?(?:FATAL ERROR|ERROR|FATAL|E)\]?[:!]?\s+|\[?(?:Error|error|fatal)\]?[:!]\s+|(?:ba|z"
    r"|da)?sh: (?:line )?(?:\d+: )?|[\w./-]+:\d+(?::\d+)?:\s*|(?:[a-z_]\w*\.)+(?=[A-Z]\w*(?:Error"
    r"|Exception)))+"
)
_HANGING = re.compile(r"(?:\s+(?:the|a|an|of|from|to|and|or|in|on|for|with|is|are|was|by|as|at|that|following))+$")
_ABOUT_SURROUNDINGS = re.compile(
    r"command '\S+' failed|[Ee]xecutable|logged in|[Cc]redentials?|unrecognized arguments"
    r"|Field required|[Ll]icen[cs]e key|No module named|Cannot find (?:module|package)|ModuleNotFound"
    r"|command not found"
    r"|not found in PATH|[Cc]onnection refused|ECONNREFUSED|could not connect"
    r"|connect(?:ion)? to server|"
    r"[Pp]ermission denied|EACCES|EADDRINUSE|[Aa]ddress already in use|is not set|not set\b"
    r"|environment variable|unset|unsupported|not supported|[Ii]ncompatible"
    r"|requires? (?:\w+ )?(?:version|python|node|java|go)|"
    r"ERESOLVE|peer |certificate|SSL|TLS|pkg-config|\.h: No such file|cannot open shared object"
    r"|shared librar|out of memory|heap|ENOMEM|[Aa]uthentication|[Uu]nauthorized|[Ee]xpired|password|"
    r"is not installed|not installed|missing|lookup|resolve host|ENOTFOUND|getaddrinfo|version|wheel"
    r"|Dockerfile|daemon|[Ll]inker|linking with|socket|locale|encoding|database .* does not exist"
    r"|relation .* does not exist"
    r"|role .* does not exist|"
    r"ImproperlyConfigured|config",
)
_MISSING_FILE = re.compile(
    r"No such file or directory|file or directory not found|ENOENT|cannot access|does not exist"
    r"|pathspec",
    re.IGNORECASE,
)
_PASSING = re.compile(
    r"EADDRINUSE|address already in use|port is already allocated|Could not get lock|index\.lock"
    r"|state lock|[Tt]emporary failure|ETIMEDOUT|ECONNRESET|rate limit|429|50[234]\b|[Tt]ry again"
    r"|No space left|Interrupted"
)
_ABOUT = (
    re.compile(
        r"(?:Failed building wheel for|Could not build wheels for|No matching distribution found for"
        r"|Could not find a version that satisfies the requirement) ([\w.\[\]-]+)"
    ),
    re.compile(r"An error occurred while installing ([\w.-]+)"),
    re.compile(r"No module named ['\"]?([\w.]+)"),
    re.compile(r"Cannot find (?:module|package) ['\"]([@\w./-]+)['\"]"),
    re.compile(r"(?:^|: )([\w.+-]+): (?:command )?not found"),
    re.compile(r"command not found: ([\w.+-]+)"),
    re.compile(r"fatal error: ([\w./+-]+\.h)"),
    re.compile(r"cannot find -l([\w+-]+)"),
    re.compile(r"Package ['\"]?([\w.+-]+)['\"]?(?:, required by [^,]+,)? (?:was )?not found"),
    re.compile(r"([\w.+-]+\.so[\w.]*): cannot open shared object"),
    re.compile(r"Unable to locate package ([\w.+-]+)"),
)


@dataclass(frozen=True, slots=True)
class ErrorLine:
    """The line of a failing output that says what went wrong: as quoted, and as a person would repeat it."""

    quote: Quote
    shown: str

    @property
    def is_about_surroundings(self) -> bool:
        """A missing tool, a closed port, a wrong version: not a bug in the code under work."""
        return _ABOUT_SURROUNDINGS.search(self.quote.text) is not None

    @property
    def is_missing_file(self) -> bool:
        return _MISSING_FILE.search(self.quote.text) is not None and not self.is_about_surroundings

    @property
    def is_passing(self) -> bool:
        """True at that moment only: a port somebody held, a lock, a network that was slow."""
        return _PASSING.search(self.quote.text) is not None

    @property
    def thing(self) -> str:
        """What it failed on (a package, a header, a module), or ""."""
        for pattern in _ABOUT:
            if match := pattern.search(self.quote.text):
                return match.group(1)
        return ""


def is_harness(text: str) -> bool:
    """Failures made by the agent's own tools, or by mistyping."""
    return _HARNESS.search(text) is not None


def error_line(seen: Seen) -> ErrorLine | None:
    """The most telling line of a failing output, or None when there is none worth repeating."""
    if is_harness(seen.text):
        return None
    lines = list(_lines(seen.text))
    for pattern in _TELLING:
        hits = [(_says(line), start, line) for start, line in lines if pattern.search(line)]
        if hits:
            _, start, line = max(hits)
            return ErrorLine(Quote(seen.ref, start, start + len(line), line), _shorten(line))
    return None


def _lines(text: str) -> Iterator[tuple[int, str]]:
    """Lines that a person could have written or read, with their place; a longer one is data, and slow to search."""
    offset = 0
    for line in text.split("\n"):
        bare = line.strip()
        if 8 <= len(bare) <= MAX_LINE_CHARS:
            yield offset + line.index(bare), bare
        offset += len(line) + 1


def _says(line: str) -> int:
    """A line that names the thing, or the surroundings, says more than one that only shouts."""
    return 2 * any(pattern.search(line) for pattern in _ABOUT) + bool(_ABOUT_SURROUNDINGS.search(line))


def _shorten(line: str) -> str:
    """At most MAX_ERROR_CHARS, cut between clauses or words, without prefixes that only shout."""
    text = plain(line).replace("“", "'").replace("”", "'").replace("`", "'").replace('"', "'")
    text = _SHOUTS.sub("", text)
    if len(text) <= MAX_ERROR_CHARS:
        return text.rstrip(" .:;,")
    head = text[:MAX_ERROR_CHARS]
    at = max(head.rfind(border) for border in (". ", "; ", " (", ", ", ": "))
    if at > 40:
        return _HANGING.sub("", head[:at].rstrip(" .:;,("))
    return _HANGING.sub("", head[: head.rfind(" ")].rstrip(" .:;,(")) if " " in head else head
