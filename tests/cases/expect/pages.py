"""What people see."""

from __future__ import annotations

import html
import re
from typing import Any

from memory.models import Decision, Verb
from tests.cases.expect.registry import Look, check, figure
from tests.cases.result import Result


@check("no_page_contains_unescaped")
def escaped(look: Look, wanted: list[str]) -> None:
    pages = [*look.stage.pages, *(result.text for result in look.of("open_pages"))]
    bad = [one for one in wanted if any(one in page for page in pages)]
    assert not bad, f"as markup on a page: {bad}"


@figure("text_still_readable")
def still_readable(look: Look) -> bool:
    shown = look.last("open_pages", "get_session_page").text
    return all(
        html.escape(fact.text, quote=False)[:60] in html.escape(html.unescape(shown), quote=False)
        and html.escape(fact.text)[:40] in shown
        for fact in look.facts()
    )


@figure(r"(\w+?)_keeps_(?:his|her|their)_text")
def keeps_text(look: Look, person: str) -> bool:
    """Whoever was refused finds what was typed on the page, as a text of its own."""
    last = look.by(person)[-1]
    typed = html.escape(str(last.step.get("value", last.step.get("text"))))
    shown = re.compile(rf'(?:>|value=")\s*{re.escape(typed)}\s*(?:<|")')
    return shown.search(last.text) is not None


@check("loser_sees")
def loser_sees(look: Look, wanted: str) -> None:
    """Who was first, by name, and what they did. Nobody lost where both were told that it is approved."""
    lost = [result for result in look.results if result.notes.get("parallel") and result.http == 409]
    won = [result for result in look.results if result.notes.get("parallel") and result.http in (200, 302)]
    assert lost or len(won) > 1, "nobody was told anything"
    for result in lost:
        names = [one.by for one in won]
        shown = html.unescape(re.sub(r"<[^>]+>", " ", result.text)).casefold()
        assert any(name.casefold() in shown for name in names), f"the page does not name {names}"
        assert "countersigned" in shown or "approved" in shown, "the page does not say what was done"


@figure("audit_approvals")
def audit_approvals(look: Look) -> int:
    """Approvals in the trail; the history of content must hold as many."""
    from projects.models import AuditEvent

    with look.stage.looking():
        events = AuditEvent.objects.filter(project_id=look.stage.project.pk, action="fact.approve").count()
        decisions = Decision.objects.filter(project=look.stage.project, verb=Verb.APPROVE).count()
    assert events == decisions, f"{events} in the audit, {decisions} decisions"
    return events


def queue_rows(look: Look, person: str) -> int | None:
    """How many cards wait in somebody's pile."""
    found: list[Result] = [result for result in look.by(person) if result.op == "open_queue"]
    return found[-1].rows if found else None


@figure("page")
def page(look: Look) -> Any:
    return look.last("get_session_page", "open_pages", "open_queue").text
