"""Pages as people open them."""

from __future__ import annotations

import re
from collections.abc import Callable
from urllib.parse import urlencode

from memory import short_ids
from memory.models import Fact, Status
from tests.cases.ops.registry import op
from tests.cases.result import NotBuilt, Result
from tests.cases.script import Step
from tests.cases.stage import OWNER, REVIEWER, Said, Stage

_WAITING = re.compile(r'data-waiting="(\d+)"')


@op("get_session_page", "session by")
def get_session_page(stage: Stage, step: Step) -> Result:
    found = stage.session(step["session"])
    short_id = short_ids.encode(found.pk, "s") if found else short_ids.encode(10**9, "s")
    person = step.get("by", REVIEWER)
    said = stage.page(person, f"/sessions/{short_id}")
    return Result("get_session_page", step, said.status, said.text, by=person)


@op("open_queue", "by")
def open_queue(stage: Stage, step: Step) -> Result:
    """The pile of somebody: how many cards wait for them."""
    person = step.get("by", REVIEWER)
    said = stage.page(person, f"/p/{stage.slug}/review")
    waiting = _WAITING.search(said.text)
    return Result("open_queue", step, said.status, said.text, rows=int(waiting[1]) if waiting else None, by=person)


@op("open_pages", "pages by key")
def open_pages(stage: Stage, step: Step) -> Result:
    """Each page that can show a memory; those that the product does not have yet are named."""
    person, missing, shown = step.get("by", REVIEWER), [], []
    fact = stage.fact(step["key"]) if "key" in step else stage.facts()[-1]
    assert fact is not None, "there is no memory that a page could show"
    for name in step["pages"]:
        if name not in PAGES:
            raise NotBuilt(f"page {name}")
        said = PAGES[name](stage, person, fact)
        (missing if said.status == 404 else shown).append((name, said))
    worst = max((said.status for _, said in shown), default=404)
    body = "\n".join(said.text for _, said in shown)
    return Result(
        "open_pages", step, worst, body, by=person, notes={"not_built": [f"page {name}" for name, _ in missing]}
    )


@op("open_status_page", "by")
def open_status_page(stage: Stage, step: Step) -> Result:
    person = step.get("by", OWNER)
    said = stage.page(person, f"/p/{stage.slug}/health")
    return Result("open_status_page", step, said.status, said.text, by=person)


def _page(address: str) -> Callable[[Stage, str, Fact], Said]:
    def open_it(stage: Stage, person: str, fact: Fact) -> Said:
        subject = urlencode({"subject": str(fact.subject)})
        words = urlencode({"q": fact.text})
        return stage.page(person, address.format(slug=stage.slug, fact=fact.short_id, subject=subject, words=words))

    return open_it


def _waiting(address: str) -> Callable[[Stage, str, Fact], Said]:
    """A page of the pile: a memory that is approved already is put back for the time it is looked at."""

    def open_it(stage: Stage, person: str, fact: Fact) -> Said:
        is_approved = _current(stage, fact).status == Status.APPROVED
        if is_approved:
            stage.page(person, f"/p/{stage.slug}/review/undo", {})
        said = stage.page(person, address.format(slug=stage.slug, fact=fact.short_id))
        if is_approved:
            again = {"verb": "approve", "revision": _current(stage, fact).revision, "scope": "everyone"}
            stage.page(person, f"/facts/{fact.short_id}/decisions", again)
        return said

    return open_it


def _message(stage: Stage, person: str, fact: Fact) -> Said:
    """What is said after a decision, where it is said: on the page that follows, and beside the card."""
    data = {"verb": "edit", "revision": _current(stage, fact).revision, "text": f"{fact.text} !", "back": "fact"}
    stage.page(person, f"/facts/{fact.short_id}/decisions", data)
    said = stage.page(person, f"/facts/{fact.short_id}")
    undone = stage.page(person, f"/p/{stage.slug}/review/undo", {}, **{"HX-Request": "true"})
    return Said(max(said.status, undone.status), None, said.text + undone.text)


def _current(stage: Stage, fact: Fact) -> Fact:
    return next(one for one in stage.facts() if one.pk == fact.pk)


_FACT = _page("/facts/{fact}")
_PILE = _waiting("/p/{slug}/review?card={fact}")
PAGES: dict[str, Callable[[Stage, str, Fact], Said]] = {
    "queue": _PILE,
    "pile": _PILE,
    "review": _PILE,
    "detail": _FACT,
    "history": _FACT,
    "list": _page("/p/{slug}/memory"),
    "memory": _page("/p/{slug}/memory"),
    "search": _page("/p/{slug}/memory?{words}"),
    "subject": _page("/p/{slug}/memory?{subject}"),
    "edit form": _page("/facts/{fact}?panel=edit"),
    "reject form": _waiting("/p/{slug}/review?card={fact}&panel=reject"),
    "toast message": _message,
    "audit": _page("/audit"),
    "find": _page("/find?{words}"),
    "subjects": _page("/p/{slug}/subjects"),
    "sessions": _page("/p/{slug}/sessions"),
    "briefs": _page("/p/{slug}/briefs"),
    "insights": _page("/p/{slug}/insights"),
    "home": _page("/"),
}
