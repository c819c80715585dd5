"""Reading: every door through which an agent is told something, and the list and numbers that people see."""

from __future__ import annotations

import html
import re
from typing import Any
from urllib.parse import urlencode

from memory import short_ids
from memory.types import TYPES
from tests.cases import embedder
from tests.cases.ops.capture import address as session_address
from tests.cases.ops.decisions import NOBODYS
from tests.cases.ops.registry import op, play
from tests.cases.result import NotBuilt, Result
from tests.cases.script import Step
from tests.cases.stage import REVIEWER, USUAL_AGENT, Said, Stage, about, ids_on

READ = "agent entity query key"
MOST_TOKENS = 2_000
# The filter on how often a memory was seen, as the list's form names it.
SEEN_FILTERS = ("seen", "times_seen", "seen_min")
_NEXT_PAGE = re.compile(r'<a class="push" href="([^"]+)">')


@op("search", f"{READ} min_score k limit vector types project")
def search(stage: Stage, step: Step) -> Result:
    body: dict[str, Any] = {"query": step.get("query", step.get("vector")), **_subject(step)}
    if "vector" in step:
        _know(stage, step["vector"])
    for name, here in (("min_score", "min_score"), ("k", "limit"), ("limit", "limit"), ("types", "types")):
        if name in step:
            body[here] = step[name]
    before = stage.counted.embedded
    said = stage.call(step.get("agent", USUAL_AGENT), "POST", "facts/search", body)
    result = _items("search", step, said)
    result.notes["embedded"] = stage.counted.embedded - before
    return result


@op("lookup", f"{READ} key_prefix limit project")
def lookup(stage: Stage, step: Step) -> Result:
    body: dict[str, Any] = {name: step[name] for name in ("key", "key_prefix", "limit") if name in step}
    said = stage.call(step.get("agent", USUAL_AGENT), "POST", "facts/lookup", body | _subject(step))
    return _items("lookup", step, said)


@op("brief", f"{READ} budget_tokens session project known_etag")
def brief(stage: Stage, step: Step) -> Result:
    body: dict[str, Any] = {"max_tokens": step.get("budget_tokens", MOST_TOKENS)}
    if step.get("entity") is not None:
        body["subjects"] = [about(step["entity"])]
    if step.get("query"):
        body["task"] = step["query"]
    for name in ("session", "known_etag"):
        if name in step:
            body[name] = step[name]
    return _items("brief", step, stage.call(step.get("agent", USUAL_AGENT), "POST", "briefs", body))


@op("get_by_id", f"{READ} id")
def get_by_id(stage: Stage, step: Step) -> Result:
    fact = stage.fact(step["key"]) if "key" in step else None
    short_id = step.get("id") or (fact.short_id if fact else short_ids.encode(NOBODYS))
    said = stage.call(step.get("agent", USUAL_AGENT), "GET", f"facts/{short_id}")
    found = [_pk(said.body)] if said.status == 200 else []
    return Result("get_by_id", step, said.status, said.body, found, len(found))


@op("list", f"{READ} importance_min limit type view by")
def list_(stage: Stage, step: Step) -> Result:
    """With an agent: all that its look-up by type gives. Else the page of memories, all of its pages."""
    if "agent" in step:
        return _by_type("list", stage, step)
    return listed("list", stage, step)


@op("count", f"{READ} importance_min type view by")
def count(stage: Stage, step: Step) -> Result:
    return _by_type("count", stage, step) if "agent" in step else listed("count", stage, step)


@op("text_filter", "q by view type entity")
def text_filter(stage: Stage, step: Step) -> Result:
    return listed("text_filter", stage, step)


@op("walk_pages", "size view by do entity type")
def walk_pages(stage: Stage, step: Step) -> Result:
    """Every page of the list of what waits, to its end; `do` happens after the first. The page's size is ours."""
    return listed("walk_pages", stage, {"view": "proposed", **step}, limit=None)


@op("history", f"{READ} id by")
def history(stage: Stage, step: Step) -> Result:
    """A memory's page. An agent has no such call: every address where people read one, asked with its key."""
    fact = stage.fact(step["key"]) if "key" in step else None
    short_id = step.get("id") or (fact.short_id if fact else short_ids.encode(NOBODYS))
    if "agent" not in step:
        said = stage.page(step.get("by", REVIEWER), f"/facts/{short_id}")
        return Result("history", step, said.status, said.text, [fact.pk] if fact and said.status == 200 else [])
    api = f"facts/{short_id}/history"
    return _closed("history", stage, step, (api, f"/facts/{short_id}", f"/api/office/facts/{short_id}/decisions"))


@op("export", f"{READ} view format by")
def export(stage: Stage, step: Step) -> Result:
    """A view of the memories as a file. For an agent's key every such address is shut."""
    if "agent" not in step:
        query = {"view": step.get("view", "approved"), "format": step.get("format", "jsonl"), **_subject(step)}
        person = step.get("by", REVIEWER)
        said = stage.page(person, f"/p/{stage.slug}/memory/export?{urlencode(query)}")
        if said.status == 404:
            raise NotBuilt("export of memories")
        return Result("export", step, said.status, said.text, by=person)
    pages = (f"/p/{stage.slug}/memory/export", f"/p/{stage.slug}/export", "/api/office/facts")
    return _closed("export", stage, step, ("facts/export", "export", *pages))


@op("context", "session agent budget_tokens max_tokens")
def context(stage: Stage, step: Step) -> Result:
    stage.needs("/sessions/{external_id}/context")
    tokens = step.get("budget_tokens", step.get("max_tokens", MOST_TOKENS))
    path = f"sessions/{session_address(step['session'])}/context?max_tokens={tokens}"
    said = stage.call(step.get("agent", USUAL_AGENT), "GET", path)
    return Result("context", step, said.status, said.body)


@op("feedback", "key id agent verdict")
def feedback(stage: Stage, step: Step) -> Result:
    stage.needs("/facts/{fact_id}/feedback")
    fact = stage.fact(step["key"]) if "key" in step else None
    short_id = step.get("id") or (fact.short_id if fact else short_ids.encode(NOBODYS))
    path = f"facts/{short_id}/feedback"
    said = stage.call(step.get("agent", USUAL_AGENT), "POST", path, {"verdict": step["verdict"]})
    return Result("feedback", step, said.status, said.body)


def listed(name: str, stage: Stage, step: Step, limit: int | None = None) -> Result:
    """The page of memories with its filters in the address, followed to its last page."""
    query = {"view": step.get("view", "approved")}
    query |= {name: step[name] for name in ("q", "type") if name in step}
    if step.get("entity") is not None:
        query["subject"] = about(step["entity"])
    person = step.get("by", REVIEWER)
    address = f"/p/{stage.slug}/memory"
    if "importance_min" in step:
        query[_seen_filter(stage, person, address)] = str(step["importance_min"])
    shown: list[str] = []
    walked = False
    said = stage.page(person, f"{address}?{urlencode(query)}")
    status = said.status
    while True:
        shown += ids_on(said.text)
        following = _NEXT_PAGE.search(said.text)
        if following is None:
            break
        for between in (step["do"],) if "do" in step and not walked else ():
            play(stage, between)
        walked = True
        said = stage.page(person, f"{address}{html.unescape(following[1])}")
    limit = step.get("limit", limit)
    facts = [pk for short_id in shown if (pk := short_ids.decode(short_id)) is not None]
    notes = {"total": len(set(facts)), "every": facts}
    return Result(name, step, status, said.text, facts[:limit], len(facts[:limit]), person, notes)


def _by_type(name: str, stage: Stage, step: Step) -> Result:
    """What this agent's look-up gives for every type there is."""
    types = {step["type"]} if "type" in step else {*TYPES, *(fact.type for fact in stage.facts())}
    if step.get("key"):
        types.add(step["key"].partition(":")[0])
    found = [
        lookup(stage, {"op": "lookup", "agent": step["agent"], "key": f"{one}:*"} | _entity(step)) for one in types
    ]
    facts = [pk for result in found for pk in result.facts]
    status = max(result.http or 0 for result in found)
    return Result(name, step, status, [result.body for result in found], facts, len(facts))


def _closed(name: str, stage: Stage, step: Step, paths: tuple[str, ...]) -> Result:
    """Addresses that no key opens. A page that sends to the sign-in has refused."""
    found = [stage.call(step.get("agent", USUAL_AGENT), "GET", path) for path in paths]
    bodies = [said.text for said in found]
    refused = [401 if said.status == 302 else said.status for said in found]
    return Result(name, step, max(refused, key=lambda status: status not in (401, 403, 404)), bodies)


def _items(name: str, step: Step, said: Said) -> Result:
    items = said.body.get("items", []) if isinstance(said.body, dict) else []
    return Result(name, step, said.status, said.body, [_pk(item) for item in items], len(items))


def _pk(item: dict[str, Any]) -> int:
    pk = short_ids.decode(item["id"])
    assert pk is not None, f"an answer names an id that is none: {item['id']}"
    return pk


def _subject(step: Step) -> dict[str, str]:
    return {"subject": about(step["entity"])} if step.get("entity") is not None else {}


def _entity(step: Step) -> dict[str, str]:
    return {"entity": step["entity"]} if step.get("entity") is not None else {}


def _know(stage: Stage, vector: str) -> None:
    if stage.embedder is None:
        stage.use_embedder(embedder.FakeEmbedder())
    assert stage.embedder is not None
    stage.embedder.known[vector] = embedder.named(vector)


def _seen_filter(stage: Stage, person: str, address: str) -> str:
    page = stage.page(person, address).text
    for name in SEEN_FILTERS:
        if f'name="{name}"' in page:
            return name
    raise NotBuilt("filter of the list by times seen")
