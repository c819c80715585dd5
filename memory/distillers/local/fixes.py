"""A command failed, something changed, and the same goal then succeeded and stayed so.

Only the change that lasted counts. A failing test that is repaired is the work itself, not a lesson, unless the
surroundings were to blame (a closed port, a missing tool) or the agent named the contract that was broken.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from memory.distillers.local import noise, shell
from memory.distillers.local.explanations import contract_explained, is_plan, naming
from memory.distillers.local.phrases import phrase
from memory.distillers.local.preparations import is_everyday, is_plain_install, is_preparation, packages
from memory.distillers.local.services import setting_key, setting_value
from memory.distillers.local.session import Session, Step, quote, quote_call
from memory.distillers.local.wording import as_sentence, fits, segment, topic
from memory.distillers.local.words import any_of
from memory.lint import faults
from memory.transcript import Candidate, Quote

MAX_SHOWN_CHARS = 70

_SECRET_NAME = re.compile(r"TOKEN|SECRET|PASS|PWD|CREDENTIAL|API_?KEY|PRIVATE", re.IGNORECASE)


# What code typed on the command line still teaches: that the system lacks a library.
_LIBRARY = re.compile(r"cannot open shared object|cannot load library|\.h: No such file|image not found")
_DENIED = any_of(
    r"\b(?:still|again|already) (?:\w+ )?(?:fail\w*|broken|red|crash\w*|die[sd]?|hang\w*|stuck|wrong|not|the same"
    r"|slow|down)\b",
    r"\b(?:died|fail(?:s|ed)|crashed|broke|hangs|hung|stopped) again\b|\b(?:did(?:n't| not)|does(?:n't"
    r"| not)) (?:help|work|fix|last)\b",
    r"\b(?:geht|läuft|funktioniert) (?:immer noch |noch )?nicht\b|\bsigue (?:fallando|sin)\b|\bne (?:marche"
    r"|fonctionne) toujours pas\b|还是(?:不行|失败|报错)|まだ(?:動か|失敗|エラー)",
)
_VERSION_ASKED = re.compile(r"(?<=\w)(?:@|==|~=|>=|=)[\w.*-]+$")


@dataclass(frozen=True, slots=True)
class _Attempt:
    step: Step
    simple: shell.Simple
    ahead: tuple[shell.Simple, ...]  # commands of the same line that ran before it
    error: noise.ErrorLine | None


@dataclass(frozen=True, slots=True)
class _Repair:
    """The goal, the error that went away, the attempt after which it stayed away, and what ran in between."""

    goal: shell.Simple
    first: int  # where it failed first
    error: noise.ErrorLine
    before: _Attempt
    after: _Attempt
    proof: Step
    changed: shell.Difference
    prepared: tuple[tuple[Step, shell.Simple], ...]


def read(session: Session) -> Iterator[Candidate]:
    seen_errors: set[tuple[str, str]] = set()
    for repair in _repairs(session):
        sign = (repair.goal.shown, repair.error.shown)
        if sign not in seen_errors and (candidate := _candidate(session, repair)) is not None:
            seen_errors.add(sign)
            yield candidate


def _repairs(session: Session) -> Iterator[_Repair]:
    errors = _Errors()
    steps = [step for step in session.steps if step.command and step.outcome != "open"]
    for place, step in enumerate(steps):
        if step.outcome != "failed" or step.result is None or (goal := _goal(step)) is None:
            continue
        error = errors.of(step)
        if error is None or error.is_missing_file or error.is_passing:
            continue
        attempts = [_Attempt(step, goal, (), error), *_attempts(goal, steps[place + 1 :], errors)]
        if attempts[-1].step.outcome != "succeeded" or _is_denied(session, attempts[-1].step):
            continue  # it did not last
        same = [index for index, one in enumerate(attempts) if one.error is not None and one.error.shown == error.shown]
        before, after, last = attempts[same[-1]], attempts[same[-1] + 1], attempts[-1]
        changed = shell.difference(before.simple, after.simple) or shell.Difference()
        if changed.is_nothing:
            # What was tried in vain in between hides the difference to the first attempts.
            tried = (shell.difference(attempts[index].simple, after.simple) for index in reversed(same))
            changed = next((one for one in tried if one is not None and not one.is_nothing), changed)
        elif changed.replaced and len(same) > 1:
            # A flag that was tried in vain stands where the right one went: what matters is that one was added.
            first = shell.difference(attempts[same[0]].simple, after.simple)
            changed = first if first is not None and first.added else changed
        if not changed.is_nothing and not _is_kept(changed, last.simple):
            # In the end it went without that change.
            after, changed = last, shell.difference(before.simple, last.simple) or shell.Difference()
        prepared = tuple(_prepared(session, before, after))
        proof = next(one.step for one in attempts[same[-1] + 1 :] if one.step.outcome == "succeeded")
        yield _Repair(goal, step.at, error, before, after, proof, changed, prepared)


def _is_denied(session: Session, proof: Step) -> bool:
    """Whether the person's next words say that it failed all the same."""
    answer = next((said for said in session.said_by_user if said.at > proof.until), None)
    return answer is not None and _DENIED.search(answer.text) is not None


def _is_kept(changed: shell.Difference, last: shell.Simple) -> bool:
    """Whether the attempt that stood at the end still had what was changed."""
    if changed.program:
        return last.program == changed.program[1]
    new = (*changed.added, *((changed.replaced[1],) if changed.replaced else ()))
    return set(changed.settings) <= set(last.settings) and all(word in last.words for word in new)


def _goal(step: Step) -> shell.Simple | None:
    """What the line was for: its last command that does more than look; a mere look teaches nothing."""
    lacks_library = step.result is not None and _LIBRARY.search(step.result.text) is not None
    return next(
        (
            simple
            for simple in reversed(step.commands)
            if not (simple.is_look or simple.is_call) and (lacks_library or not simple.is_probe)
        ),
        None,
    )


class _Errors:
    """The telling line of each failing output, searched once: a goal that fails often is seen from every failure."""

    def __init__(self) -> None:
        self._found: dict[int, noise.ErrorLine | None] = {}

    def of(self, step: Step) -> noise.ErrorLine | None:
        if step.outcome != "failed" or step.result is None:
            return None
        if step.until not in self._found:
            self._found[step.until] = noise.error_line(step.result)
        return self._found[step.until]


def _attempts(goal: shell.Simple, steps: list[Step], errors: _Errors) -> Iterator[_Attempt]:
    for step in steps:
        commands = step.commands
        for place, simple in enumerate(commands):
            if shell.difference(goal, simple) is not None:
                yield _Attempt(step, simple, tuple(commands[:place]), errors.of(step))
                break


def _prepared(session: Session, before: _Attempt, after: _Attempt) -> Iterator[tuple[Step, shell.Simple]]:
    for step in session.steps:
        if before.step.until < step.at < after.step.at and step.outcome == "succeeded":
            yield from ((step, simple) for simple in step.commands if not simple.is_look)
    yield from ((after.step, simple) for simple in after.ahead if not simple.is_look)


def _candidate(session: Session, repair: _Repair) -> Candidate | None:
    blames_surroundings = repair.error.is_about_surroundings
    if repair.goal.is_test and not blames_surroundings and repair.changed.settings:
        return _setting(session, repair, told_only=True)
    if blames_surroundings or not (repair.goal.is_test or repair.goal.program == "git"):
        for rule in (_setting, _flag, _instead, _installed, _explained, _run_before):
            if (candidate := rule(session, repair)) is not None:
                return candidate
    return _told_preparation(session, repair) or _explained(session, repair)


def _told_preparation(session: Session, repair: _Repair) -> Candidate | None:
    """A command that ran before a test passed, where somebody says that it has to."""
    for step, simple in reversed(repair.prepared):
        told = naming(session, (simple.shown,), repair.before.step.until, repair.proof.until + 6)
        if told is None or not is_preparation(simple):
            continue
        text = as_sentence(told.text, session.language)
        key = f"fix:{_goal_key(repair.goal)}.{topic(simple.shown)}"
        if not faults(text):
            value = {"run_first": simple.shown}
            return _made("fix", key, value, text, [repair.error.quote, told.quote(), quote_call(step)])
    return None


def _setting(session: Session, repair: _Repair, *, told_only: bool = False) -> Candidate | None:
    if not repair.changed.settings:
        return None
    name, value = repair.changed.settings[0]
    secret = _SECRET_NAME.search(name) is not None
    cure = name if secret else f"{name}={value}"
    told = naming(session, (name, value) if not secret else (name,), repair.before.step.until, repair.proof.until + 6)
    text = as_sentence(told.text, session.language) if told else ""
    if told_only and (not text or faults(text)):
        return None  # a test that passes under another setting may be chance, unless somebody says why
    if not text or faults(text):
        text = phrase("needs_env", session.language, goal=_shown(repair.goal), cure=cure, error=repair.error.shown)
        told = None
    quotes = [repair.error.quote, quote(repair.after.step.call, cure) or quote_call(repair.after.step)]
    key = f"environment:{setting_key(name)}"
    return _made(
        "environment",
        key,
        {"name": name} if secret else setting_value(name, value),
        text,
        [*quotes, told.quote() if told else None],
    )


def _flag(session: Session, repair: _Repair) -> Candidate | None:
    if not repair.changed.added or repair.error.thing == repair.goal.program:
        return None  # a program that is not there is not found by a flag
    cure = " ".join(repair.changed.added)
    if not _is_hinted(session, repair, cure):
        return None
    text = phrase("needs_flag", session.language, goal=_shown(repair.goal), cure=cure, error=repair.error.shown)
    key = f"fix:{_goal_key(repair.goal)}.{segment(cure)}"
    return _made(
        "fix", key, {"command": repair.after.simple.habit}, text, [repair.error.quote, quote_call(repair.after.step)]
    )


def _instead(session: Session, repair: _Repair) -> Candidate | None:
    pair = repair.changed.program or repair.changed.replaced
    if pair is None or pair[0] == pair[1] or _is_typo(*pair):
        return None
    if repair.changed.replaced and (pair[0] not in repair.error.quote.text or packages(repair.goal)):
        return None  # another argument is another task, unless the error names the old one
    cure = repair.after.simple.shown
    text = phrase("instead", session.language, goal=_shown(repair.before.simple), cure=cure, error=repair.error.shown)
    key = f"fix:{_goal_key(repair.goal)}.{segment(pair[1])}"
    return _made("fix", key, {"command": cure}, text, [repair.error.quote, quote_call(repair.after.step)])


def _installed(session: Session, repair: _Repair) -> Candidate | None:
    told = [
        (step, simple) for step, simple in repair.prepared if packages(simple) is not None and is_preparation(simple)
    ]
    if told and not packages(told[-1][1]):
        return None  # something had to run after it was installed
    for step, simple in reversed(repair.prepared):
        names = packages(simple)
        if not names or not is_plain_install(simple) or _is_replaced(session, step, names):
            continue
        language = session.language
        cure = _listed(names, language)
        if language == "en":
            cure += " is" if len(names) == 1 else " are"
        thing = repair.error.thing
        on_thing = thing and not any(thing.casefold() == name.casefold() for name in names)
        what = (
            ("on " if language == "en" else "") + thing
            if on_thing
            else ("with " if language == "en" else "") + f"“{repair.error.shown}”"
        )
        text = phrase("until_installed", language, goal=_shown(repair.goal), what=what, cure=cure)
        key = f"fix:{_goal_key(repair.goal)}.{segment(thing or names[0])}"
        return _made("fix", key, {"install": list(names)}, text, [repair.error.quote, quote_call(step)])
    return None


def _is_replaced(session: Session, step: Step, names: tuple[str, ...]) -> bool:
    """Whether one of them was installed again later, in another version."""
    bare = {_VERSION_ASKED.sub("", name) for name in names}
    later = [packages(simple) or () for one in session.steps if one.at > step.at for simple in one.commands]
    return any(_VERSION_ASKED.sub("", name) in bare and name not in names for found in later for name in found)


def _run_before(session: Session, repair: _Repair) -> Candidate | None:
    for step, simple in reversed(repair.prepared):
        if (names := packages(simple)) is None or simple.is_test or simple.is_probe:
            continue
        if _is_replaced(session, step, names):
            continue
        if not (is_preparation(simple) or _is_first_step(repair, simple)) or _was_in_vain(session, repair, simple):
            continue
        if not _is_hinted(session, repair, simple.shown):
            continue
        whole = step.command.strip()
        together = (
            step is not repair.after.step
            and len(step.commands) > 1
            and len(whole) <= MAX_SHOWN_CHARS
            and "\n" not in whole
        )
        cure = whole.replace("`", "'") if together else _shown(simple)
        text = phrase("until_run", session.language, goal=_shown(repair.goal), cure=cure, error=repair.error.shown)
        key = f"fix:{_goal_key(repair.goal)}.{topic(simple.shown)}"
        return _made("fix", key, {"run_first": simple.shown}, text, [repair.error.quote, quote_call(step)])
    return None


def _is_hinted(session: Session, repair: _Repair, cure: str) -> bool:
    """Whether it was more than another try: the surroundings were to blame, the output names the cure, or somebody did.

    Another argument may simply be another task.
    """
    if repair.error.is_about_surroundings:
        return True
    names = {word for word in re.findall(r"[\w.]{4,}", cure.casefold()) if word not in repair.goal.shown.casefold()}
    output = (repair.before.step.result.text if repair.before.step.result else "").casefold()
    first, last = repair.first, repair.proof.until + 6
    said = [
        one.text.casefold()
        for one in (*session.said_by_user, *session.said_by_assistant)
        if first < one.at <= last and not is_plan(one) and one.is_firm
    ]
    return any(name in text for name in (*names, cure.casefold()) for text in (output, *said))


def _is_first_step(repair: _Repair, simple: shell.Simple) -> bool:
    """Put before the goal on the very line that then succeeded."""
    return simple in repair.after.ahead and simple not in repair.before.ahead and not is_everyday(simple)


def _was_in_vain(session: Session, repair: _Repair, simple: shell.Simple) -> bool:
    """It had succeeded before, and the goal failed all the same."""
    plain = [word for word in simple.words if not word.startswith("-")]
    return any(
        [word for word in earlier.words if not word.startswith("-")] == plain
        for step in session.steps
        if repair.first <= step.at < repair.before.step.at and step.outcome == "succeeded"
        for earlier in step.commands
    )


def _explained(session: Session, repair: _Repair) -> Candidate | None:
    """The agent named the rule that was broken, something was edited for it, and the run then passed."""
    edit = next((step for step in session.edits if repair.before.step.until < step.at < repair.proof.at), None)
    if edit is None:
        return None
    told = contract_explained(
        session,
        repair.before.step.until,
        repair.proof.until + 4,
        of_code=repair.goal.is_test,
        failing=repair.before.step.result.text if repair.before.step.result else "",
    )
    if told is None:
        return None
    text = as_sentence(told.text, session.language)
    if faults(text):
        return None
    key = f"fix:{topic(told.text, 4)}"
    return _made("fix", key, {"goal": repair.goal.shown}, text, [repair.error.quote, told.quote(), quote_call(edit)])


def _is_typo(old: str, new: str) -> bool:
    """A letter or two apart: mistyped, not learned."""
    if not (old.isalpha() and new.isalpha()) or abs(len(old) - len(new)) > 1:
        return False
    return sum(one != two for one, two in zip(old, new, strict=False)) <= 2 or sorted(old) == sorted(new)


def _shown(simple: shell.Simple) -> str:
    """The command, or as many of its first words as fit: a cut one still starts like the real one."""
    words: list[str] = []
    for word in simple.habit.replace("`", "'").split(" "):
        if len(" ".join((*words, word))) > MAX_SHOWN_CHARS and words:
            while len(words) > 1 and words[-1].startswith("-"):
                words.pop()  # a flag without the value that was cut off
            break
        words.append(word)
    return " ".join(words)[:MAX_SHOWN_CHARS]


def _goal_key(simple: shell.Simple) -> str:
    named = [word for word in simple.words if not word.startswith("-") and "/" not in word]
    return segment(" ".join(named[:2]) or simple.program, 2)


def _listed(names: tuple[str, ...], language: str) -> str:
    joint = {"en": " and ", "de": " und ", "es": " y ", "fr": " et "}.get(language, "、")
    shown = names[:4]
    return joint.join((", ".join(shown[:-1]), shown[-1])) if len(shown) > 1 else shown[0]


def _made(kind: str, key: str, value: object, text: str, quotes: list[Quote | None]) -> Candidate | None:
    found = tuple(dict.fromkeys(one for one in quotes if one is not None))
    return Candidate(kind, key, value, text, found) if found and fits(text) else None
