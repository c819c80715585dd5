"""Memories in: proposed by an agent over the API, or written by a person on the page."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from memory import short_ids
from memory.models import Relation
from tests.cases.ops.capture import send
from tests.cases.ops.registry import op
from tests.cases.result import NotBuilt, Result
from tests.cases.script import Step
from tests.cases.stage import REVIEWER, USUAL_AGENT, Stage, about, short_key

PROPOSED = "type key value text entity scope expires_at ts agent session quote importance"
GIVEN_TYPE = "environment"
PAIR_TYPE = "note"


@op("propose", PROPOSED)
def propose(stage: Stage, step: Step) -> Result:
    body = {"type": step["type"], "key": step["key"], "value": step.get("value"), **_about(step)}
    if isinstance(step.get("text", step.get("value")), str):
        body["text"] = step.get("text", step.get("value"))
    for name in ("scope", "expires_at", "session", "quote"):
        if step.get(name) is not None:
            body[name] = step[name]
    agent = step.get("agent", USUAL_AGENT)
    if "ts" in step:
        body |= _told(stage, step, agent)
    said = stage.call(agent, "POST", "facts", body)
    pk = short_ids.decode(said.body["id"]) if said.status in (200, 201) and isinstance(said.body, dict) else None
    if pk is not None:
        stage.scopes[pk] = step.get("scope")
    result = Result("propose", step, said.status, said.body, [pk] if pk else [])
    for _ in range(step.get("importance", 1) - 1):
        _said_in_another_session(stage, step, agent, body)
    return result


@op("create_fact", f"{PROPOSED} age_days by")
def create_fact(stage: Stage, step: Step) -> Result:
    """A person's new memory, so many days ago; agents said the same `importance` - 1 times since."""
    if not isinstance(step["value"], str):
        raise NotBuilt("a new memory whose value is no text")
    form = {"text": step["value"], "type": step["type"], "key": step["key"], "subject": _about(step).get("subject", "")}
    if step.get("scope"):
        form["agent"] = [str(pk) for pk in stage.agent_ids(step["scope"])]
    with stage.clock.back(timedelta(days=step.get("age_days", 0))):
        said = stage.page(step.get("by", REVIEWER), f"/p/{stage.slug}/memory/new", form)
        body = {"type": step["type"], "key": step["key"], "value": step["value"], **_about(step)}
        for _ in range(step.get("importance", 1) - 1):
            _said_in_another_session(stage, step, USUAL_AGENT, body)
    made = [fact.pk for fact in stage.facts() if short_key(fact) == step["key"]]
    return Result("create_fact", step, said.status, said.text, made[-1:])


def given(stage: Stage, rows: Any) -> None:
    """What a case takes as known: proposed in the order of rank and approved."""
    from tests.cases.ops.decisions import approve_all

    strange = {name for row in rows for name in row} - {"key", "value", "rank", *PROPOSED.split()}
    if strange:
        raise NotBuilt(f"given with {', '.join(sorted(strange))}")
    for row in sorted(rows, key=lambda row: row.get("rank", 0)):
        step = {name: value for name, value in row.items() if name != "rank"}
        answer = propose(stage, {"op": "propose", "type": GIVEN_TYPE, **step})
        assert answer.http in (200, 201), f"what the case takes as known was refused: {answer.body}"
    approve_all(stage, {"op": "approve_all"})


def _about(step: Step) -> dict[str, str]:
    return {"subject": about(step["entity"])} if step.get("entity") is not None else {}


def _told(stage: Stage, step: Step, agent: Any) -> dict[str, str]:
    """`ts` is when it was said: an observation of that time, which the proposal quotes."""
    session, words = f"told-{len(stage.captured)}", str(step["value"])
    observation = {"kind": "message", "role": "user", "text": words}
    if step["ts"] is not None:
        observation["ts"] = step["ts"]
    subjects = {"subjects": [about(step["entity"])]} if step.get("entity") is not None else {}
    send(stage, session, [observation], agent=agent, **subjects)
    return {"session": session, "quote": words}


def _said_in_another_session(stage: Stage, step: Step, agent: Any, body: dict[str, Any]) -> None:
    """The same once more, quoted from a session of its own: a repeat that shows nothing is not counted."""
    again = stage.call(agent, "POST", "facts", body | _told(stage, step | {"ts": None}, agent))
    assert again.status == 200, f"the same, said again, was not counted: {again.text}"


@op("dedup_pair", "a b type")
def dedup_pair(stage: Stage, step: Step) -> Result:
    """Two proposals about one subject, each under the key that its own words give: what the second is to the first."""
    entity = f"pair-{len(stage.results)}"
    kind = step.get("type", PAIR_TYPE)
    first, second = (
        propose(stage, {"op": "propose", "type": kind, "key": derived_key(words), "value": words, "entity": entity})
        for words in (step["a"], step["b"])
    )
    known = {fact.pk: fact for fact in stage.facts(entity)}
    fact = known[second.facts[0]]
    relation = "" if second.facts == first.facts else fact.relation
    notes = {
        # Shown to a person beside the other, to be merged, is "the same" too: never both in a brief by itself.
        "same_fact": second.facts == first.facts or relation == Relation.SAME_THING,
        "conflict": relation in (Relation.CONFLICTS, Relation.CHANGES),
        "relation": relation or ("counted" if second.facts == first.facts else "new"),
    }
    return Result("dedup_pair", step, second.http, second.body, [*first.facts, *second.facts], notes=notes)


def derived_key(words: str) -> str:
    """As the page of a new memory makes one from its sentence."""
    plain = "".join(char if char.isalnum() else " " for char in words.casefold())
    return "_".join(plain.split()[:6])[:80]
