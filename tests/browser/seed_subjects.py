"""A customer with a name, promises, a problem and proposals: for the pages of subjects and of briefs."""

from __future__ import annotations

from datetime import datetime, timedelta

from memory import brief, short_ids
from memory.models import Fact, SessionSubject, Subject
from projects.models import Agent, Person, Project
from tests import factories

ABOUT = "customer:sarah"


def subject_looks(made: Project, rita: Person, now: datetime) -> dict[str, str]:
    """The addresses of one subject, of its simulated brief, of a served one, and of a card's consequences."""
    support = Agent.objects.get(project=made, slug="support")
    row = factories.subject(made, ABOUT)
    Subject.objects.filter(pk=row.pk).update(label="Sarah Chen", link="https://crm.example/customers/sarah")
    talk = factories.session(support, "call-88219", now=now)
    SessionSubject.objects.create(project=made, session=talk, subject=row)
    day = (now + timedelta(days=4)).date().isoformat()
    late = (now - timedelta(days=2)).date().isoformat()
    for text, key, value in (
        ("On the Business plan since March.", "account_detail:plan", "Business"),
        ("Refund RF-2081 is due in the account.", "commitment:rf_2081", {"due_on": late}),
        (f"Order 4821 is to arrive by {day}.", "commitment:order_4821", {"due_on": day}),
        ("Ticket T-118 about the torn strap is open.", "problem:t_118", {"state": "open"}),
    ):
        factories.approved(made, rita, text, about=ABOUT, key=key, value=value, agent=support)
    lesson = factories.approved(
        made, rita, "Refunds above 500 EUR need a manager.", about="project:told", key="choice:refund_release"
    )
    Fact.objects.filter(pk=lesson.pk).update(standing=True, times_seen=6)
    factories.approved(
        made, rita, "Returned boots are refunded without the laces box.", about="project:told", key="fix:boots"
    )
    ended = factories.approved(made, rita, "Wants a call on Wednesday.", about=ABOUT, key="note:call", agent=support)
    sales = Agent.objects.get(project=made, slug="sales")
    own = {"everyone": False, "agent_ids": [sales.pk]}
    factories.approved(made, rita, "Speaks Catalan with her team.", about=ABOUT, key="note:language", **own)
    served = brief.serve(
        support,
        session="call-88219",
        task="Where is the refund for her returned boots?",
        max_tokens=600,
        now=now - timedelta(hours=1),
    )
    ended.remove(rita, revision=Fact.objects.get(pk=ended.pk).revision, now=now)
    brief.retract(ended, now)
    proposed = factories.proposal(
        made, "Prefers e-mail, in the morning.", about=ABOUT, agent=support, now=now - timedelta(days=1)
    )
    about = short_ids.encode(row.pk, "c")
    return {
        "subject": f"/p/{made.slug}/subjects/{about}",
        "subject-proposed": f"/p/{made.slug}/subjects/{about}?state=proposed&agent=sales",
        "simulated": f"/p/{made.slug}/briefs?agent=support&tokens=600&about={about}&as_if={proposed.short_id}",
        "simulated-why": f"/p/{made.slug}/briefs?agent=support&tokens=60&about={about}&why={ended.short_id}",
        "served": f"/briefs/{short_ids.encode(served.served_pk or 0, 'b')}",
        "impact": f"/facts/{proposed.short_id}/impact",
    }
