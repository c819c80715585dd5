"""What people decide, as they do it: a form sent to the memory's page by somebody who is signed in."""

from __future__ import annotations

import re
from typing import Any

from memory import short_ids
from memory.models import Fact, Status
from tests.cases.ops.registry import op
from tests.cases.result import NotBuilt, Result
from tests.cases.script import Step
from tests.cases.stage import REVIEWER, Stage, short_key

NOBODYS = 10**9 + 7  # a row that never was
_REVISION = re.compile(r'name="revision" value="(\d+)"')


def opened(stage: Stage, step: Step, *statuses: str) -> Step:
    """The step with the memory that it names as its person has it on screen: short id and revision."""
    if "_opened" in step:
        return step
    fact = _named(stage, step, statuses)
    if fact is not None:
        return {**step, "_opened": (fact.pk, fact.short_id, fact.revision)}
    return {**step, "_opened": (None, step.get("id", short_ids.encode(NOBODYS)), 1)}


def proposed(stage: Stage, step: Step) -> Step:
    return opened(stage, step, Status.PROPOSED)


def approved(stage: Stage, step: Step) -> Step:
    return opened(stage, step, Status.APPROVED)


def either(stage: Stage, step: Step) -> Step:
    return opened(stage, step, Status.PROPOSED, Status.APPROVED)


@op("approve", "key id by scope index entity", prepare=proposed)
def approve(stage: Stage, step: Step) -> Result:
    """The quote of a risky one was opened before, as a person has to."""
    pk, _, _ = step["_opened"]
    return _decide(stage, step, "approve", opened="1", **_scope(stage, step.get("scope", stage.scopes.get(pk))))


@op("approve_all", "by scope entity")
def approve_all(stage: Stage, step: Step) -> Result:
    """Everything that waits, one form each, in the order it came."""
    waiting = [fact for fact in stage.facts(step.get("entity")) if fact.status == Status.PROPOSED]
    results = []
    for fact in waiting:
        one = {**step, "_opened": (fact.pk, fact.short_id, fact.revision)}
        results.append(approve(stage, one))
    worst = max((result.http or 0 for result in results), default=200)
    return Result("approve_all", step, worst, facts=[fact.pk for fact in waiting], rows=len(waiting))


@op("reject", "key id by index reason entity", prepare=proposed)
def reject(stage: Stage, step: Step) -> Result:
    return _decide(stage, step, "reject", reason=step.get("reason", "not_true"))


@op("edit", "key id value text by entity", prepare=either)
def edit(stage: Stage, step: Step) -> Result:
    return _decide(stage, step, "edit", text=step.get("text", step.get("value")))


@op("rescope", "key id by scope entity", prepare=either)
def rescope(stage: Stage, step: Step) -> Result:
    return _decide(stage, step, "rescope", **_scope(stage, step["scope"]))


@op("put_off", "key id by index until entity", prepare=proposed)
def put_off(stage: Stage, step: Step) -> Result:
    return _decide(stage, step, "put_off", until=step.get("until", "tomorrow"))


@op("delete", "key id by entity", prepare=either)
def delete(stage: Stage, step: Step) -> Result:
    """Withdraws one memory."""
    return _decide(stage, step, "remove")


@op("supersede", "key id value by entity", prepare=approved)
def supersede(stage: Stage, step: Step) -> Result:
    """A new value in the place of an old one: written by hand under the same key. Of what is not there: its page."""
    pk, short_id, _ = step["_opened"]
    person = step.get("by", REVIEWER)
    if pk is None:
        said = stage.page(person, f"/facts/{short_id}/decisions", {"verb": "supersede", "revision": 1})
        return Result("supersede", step, said.status, said.text, by=person)
    old = next(fact for fact in stage.facts() if fact.pk == pk)
    form = {"text": step["value"], "type": old.type, "key": short_key(old), "subject": str(old.subject)}
    said = stage.page(person, f"/p/{stage.slug}/memory/new", form)
    return Result("supersede", step, said.status, said.text, by=person)


@op("undo", "by")
def undo(stage: Stage, step: Step) -> Result:
    person = step.get("by", REVIEWER)
    said = stage.page(person, f"/p/{stage.slug}/review/undo", {})
    return Result("undo", step, said.status, said.text, by=person)


@op("open_edit", "key id by entity")
def open_edit(stage: Stage, step: Step) -> Result:
    """A person has the form of a memory open. One that nobody made yet is known and approved beforehand."""
    if _named(stage, step, ()) is None and "key" in step:
        from tests.cases.ops.facts import given

        given(stage, [{"key": step["key"], "value": "as it was"}])
    _, short_id, _ = either(stage, step)["_opened"]
    person = step.get("by", REVIEWER)
    is_waiting = any(fact.short_id == short_id and fact.status == Status.PROPOSED for fact in stage.facts())
    card = f"/p/{stage.slug}/review?card={short_id}&panel=edit"
    said = stage.page(person, card if is_waiting else f"/facts/{short_id}?panel=edit")
    revision = _REVISION.search(said.text)
    if revision is not None:
        stage.opened[person] = (short_id, int(revision[1]))
    return Result("open_edit", step, said.status, said.text, by=person)


@op("save_edit", "by value text")
def save_edit(stage: Stage, step: Step) -> Result:
    """The form that this person has open, with other words."""
    person = step.get("by", REVIEWER)
    short_id, revision = stage.opened[person]
    return _decide(stage, {**step, "_opened": (None, short_id, revision)}, "edit", text=step.get("text", step["value"]))


def _decide(stage: Stage, step: Step, verb: str, **form: Any) -> Result:
    pk, short_id, revision = step["_opened"]
    person = step.get("by", REVIEWER)
    data = {"verb": verb, "revision": revision, **form}
    said = stage.page(person, f"/facts/{short_id}/decisions", data)
    return Result(step["op"], step, said.status, said.text, [pk] if pk else [], by=person)


def _named(stage: Stage, step: Step, statuses: tuple[str, ...]) -> Fact | None:
    if "id" in step:
        pk = short_ids.decode(str(step["id"]))
        return next((fact for fact in stage.facts() if fact.pk == pk), None)
    if "index" in step:
        pile = [fact for fact in stage.facts() if fact.status == Status.PROPOSED and not _is_put_off(stage, fact)]
        return pile[step["index"]] if step["index"] < len(pile) else None
    if "key" not in step:
        raise NotBuilt(f"op {step['op']} without a key, an id or an index")
    return stage.fact(step["key"], statuses)


def _is_put_off(stage: Stage, fact: Fact) -> bool:
    return fact.put_off_until is not None and fact.put_off_until > stage.clock.at


def _scope(stage: Stage, scope: Any) -> dict[str, Any]:
    if scope in (None, "everyone"):
        return {"scope": "everyone"}
    names = [scope] if isinstance(scope, str) else scope
    return {"scope": "agents", "agent": [str(pk) for pk in stage.agent_ids(names)]}
