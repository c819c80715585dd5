"""Shell commands as goals: what was run, with which settings, and how one attempt differs from the next."""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass
from functools import lru_cache

from memory.distillers.local.words import any_of, words

MAX_COMMAND_CHARS = 2_000  # longer ones write files or carry programs

_ASSIGNMENT = re.compile(r"^([A-Za-z_]\w*)=(.*)$", re.DOTALL)
_WRAPPERS = frozenset({"sudo", "time", "env", "nohup", "command", "exec", "nice", "doas"})
_SEPARATORS = frozenset({"&&", "||", ";", "|", "&", "|&", ";;"})
# Looking around never teaches anything by failing.
READ_ONLY = words(
    "ls cat head tail less more find grep egrep rg ag fd tree pwd which whereis type echo",
    "printf wc stat file diff cmp sort uniq cut tr awk test [ true false man help date whoami",
    "id df du ps env printenv history jq yq realpath readlink basename dirname cd pushd popd",
    "sleep tee xargs clear",
)
_GIT_LOOKS = words("status log diff show grep ls-files ls-tree blame branch remote rev-parse describe reflog")
TEST_RUNNERS = any_of(
    r"^(?:pytest|py\.test|tox|nox|jest|vitest|mocha|karma|ava|rspec|phpunit|ctest)\b",
    r"^(?:go|cargo|npm|pnpm|yarn|bun|mvn|gradle|\./gradlew|make|just|deno|dotnet|mix|swift|rake|bundle|rails)"
    r" (?:run )?\S*(?:test|spec|check|lint)\S*",
    r"^(?:ruff|mypy|eslint|tsc|flake8|pylint|prettier|black|clippy)\b",
    r"^npx (?:jest|vitest|tsc|eslint|mocha|playwright test)\b",
    r"^(?:\./)?manage\.py test\b|^python3? (?:-m (?:pytest|unittest)|manage\.py test)\b",
    flags=re.NOFLAG,
)
# Programs whose arguments are programs themselves.
_SCRIPTED = words("sed gsed awk perl jq psql mysql sqlite3 ruby node")
# Flags that only change what a run shows or how far it goes.
_COSMETIC = any_of(
    r"^-{1,2}(?:verbose|v+|q+|quiet|silent|debug|trace|info|stacktrace|explain|log-level|loglevel"
    r"|color|help|h|version)(?:=.*)?$",
    r"^-{1,2}(?:s|x|k|n|l|a|la|lf|ff|tb|maxfail|no-header|nocapture|runInBand|bail|watch|watchAll"
    r"|reporter|grep)(?:=.*)?$",
    r"^-{1,2}(?:dry-run|json|list|progress|stat|run|tail|since|limit|lines|follow|wide)(?:=.*)?$",
)
_TAKES_VALUE = re.compile(r"^-{1,2}(?:n|k|log-level|loglevel|tail|since|limit|lines|reporter|grep|maxfail|color)$")
_NAMESPACED = words("kubectl oc helm k9s stern")
_ALIASES = {"python3": "python", "pip3": "pip", "docker-compose": "docker"}


@dataclass(frozen=True, slots=True)
class Simple:
    """One simple command: its settings (`NAME=value` in front) and its words."""

    settings: tuple[tuple[str, str], ...]
    words: tuple[str, ...]

    @property
    def program(self) -> str:
        return self.words[0] if self.words else ""

    @property
    def shown(self) -> str:
        """As a person would write it, without the settings."""
        return " ".join(word if re.fullmatch(r"[^\s'\"|&;<>$`]+", word) else shlex.quote(word) for word in self.words)

    @property
    def habit(self) -> str:
        """What of it is run again: a script typed for one occasion (`sed -i 's/a/b/' x`) is left out."""
        if self.program not in _SCRIPTED:
            return self.shown
        kept: list[str] = []
        for word in self.words:
            if kept and not word.startswith("-") and word:
                break
            kept.append(word or "''")
        return " ".join(kept)

    @property
    def is_look(self) -> bool:
        """Whether it only looks: nothing is learned from its failing."""
        if self.program == "git":
            return len(self.words) > 1 and self.words[1] in _GIT_LOOKS
        if self.program == "sed":
            return "-i" not in self.words and not any(word.startswith("-i") for word in self.words)
        return not self.words or self.program in READ_ONLY

    @property
    def is_call(self) -> bool:
        """Asks a server something: that nothing answers says nothing about how to ask."""
        return self.program in ("curl", "wget", "http", "nc", "ping", "telnet", "dig", "nslookup")

    @property
    def is_probe(self) -> bool:
        """Code typed on the command line: asked once, never run again."""
        return len(self.words) > 1 and self.words[1] in ("-c", "-e", "-") and self.program not in ("make", "docker")

    @property
    def is_test(self) -> bool:
        return TEST_RUNNERS.match(" ".join(self.words)) is not None


@dataclass(frozen=True, slots=True)
class Difference:
    """How a later attempt at the same goal differs: settings and words added, or one word put for another."""

    settings: tuple[tuple[str, str], ...] = ()
    added: tuple[str, ...] = ()
    replaced: tuple[str, str] | None = None
    program: tuple[str, str] | None = None

    @property
    def is_nothing(self) -> bool:
        return not (self.settings or self.added or self.replaced or self.program)


@lru_cache(maxsize=2_048)
def parse(command: str) -> tuple[Simple, ...]:
    """The simple commands of a line, in order, without redirections; () for what is no sane shell line."""
    if len(command) > MAX_COMMAND_CHARS:
        return ()
    try:
        lexer = shlex.shlex(command.replace("\\\n", " ").replace("\n", " ; "), posix=True, punctuation_chars="&|;<>")
        lexer.whitespace_split = True
        lexer.commenters = ""
        words = list(lexer)
    except ValueError:
        return ()
    found: list[Simple] = []
    current: list[str] = []
    exported: list[tuple[str, str]] = []
    for word in [*words, ";"]:
        if word not in _SEPARATORS:
            current.append(word)
            continue
        simple = _simple(current)
        current = []
        if simple is None:
            continue
        if simple.program == "export" or not simple.words:
            exported += [*simple.settings, *_assignments(simple.words[1:])]
            continue
        found.append(Simple((*exported, *simple.settings), simple.words))
    return tuple(found)


def difference(failed: Simple, later: Simple) -> Difference | None:
    """What the later attempt changed, or None when it pursues another goal."""
    if not failed.words or not later.words:
        return None
    settings = tuple(pair for pair in later.settings if pair not in failed.settings)
    old, new = list(failed.words), list(later.words)
    if old == new:
        return Difference(settings=settings)
    old_program, new_program = _ALIASES.get(old[0], old[0]), _ALIASES.get(new[0], new[0])
    if old[1:] == new[1:] and len(old) > 1:
        return Difference(settings, program=(old[0], new[0]))
    if old_program != new_program:
        return None
    remaining = list(new[1:])
    removed = []
    for word in old[1:]:
        if word in remaining:
            remaining.remove(word)
        else:
            removed.append(word)
    if not removed and remaining == [""]:
        # An empty word is a value: `sed -i '' …` gives one to the flag before it.
        remaining = [f"{new[new.index('') - 1]} ''"]
    if not removed:
        added = _told(remaining, new[0])
        has_flag = any(word.startswith("-") for word in added)
        return Difference(settings, added=added) if has_flag or not added else None
    if len(removed) == len(remaining) == 1 and len(old) > 2:
        return Difference(settings, replaced=(removed[0], remaining[0]))
    return None


def _told(words: list[str], program: str) -> tuple[str, ...]:
    """The words that were added, without flags that only change what is shown, and those flags' values."""
    kept: list[str] = []
    skips = False
    for word in words:
        is_flag = word.startswith("-")
        cosmetic = _COSMETIC.match(word) is not None and not (word == "-n" and program in _NAMESPACED)
        if cosmetic or (skips and not is_flag):
            skips = cosmetic and _TAKES_VALUE.match(word) is not None
            continue
        skips = False
        kept.append(word)
    return tuple(kept)


def _simple(words: list[str]) -> Simple | None:
    settings: list[tuple[str, str]] = []
    kept: list[str] = []
    skip = False
    for word in words:
        if skip:
            skip = False
            continue
        if word and all(letter in "<>&" for letter in word):
            skip = True
            if kept and kept[-1].isdigit():
                kept.pop()
            continue
        if not kept and (pair := _ASSIGNMENT.match(word)):
            settings.append((pair.group(1), pair.group(2)))
            continue
        if not kept and (word in _WRAPPERS or word.startswith("(")):
            continue
        kept.append(word)
    if len(kept) > 2 and kept[0] == "timeout":
        kept = kept[2:]
    return Simple(tuple(settings), tuple(kept)) if kept or settings else None


def _assignments(words: tuple[str, ...]) -> list[tuple[str, str]]:
    return [(pair.group(1), pair.group(2)) for word in words if (pair := _ASSIGNMENT.match(word))]
