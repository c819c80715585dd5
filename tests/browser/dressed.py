"""Dresses the journeys' projects for the pictures of the documents: `python -m tests.browser.dressed`.

They are called after what they are for, and their subjects by ids; on a picture each is somebody's shop, whose
customers have names and speak in the sessions that are about them.
"""

from __future__ import annotations

from datetime import timedelta

import django

django.setup()

from django.db.models import Count  # noqa: E402
from django.utils import timezone  # noqa: E402

from memory.models import (  # noqa: E402
    BriefServed,
    Decision,
    Evidence,
    Fact,
    Feedback,
    Session,
    SessionSubject,
    Subject,
    Verb,
    Verdict,
)
from projects import tenancy  # noqa: E402
from projects.models import Agent, Person, Project  # noqa: E402
from tests import factories  # noqa: E402
from tests.browser.seed import quoted  # noqa: E402

NOW = timezone.now()
NAMES = {
    "arabic": "Layla Haddad",
    "cust_1": "Sarah Chen",
    "cust_123": "Sarah Chen",
    "cust_7": "Tom Reyes",
    "jonas": "Jonas Weber",
    "klarna-live": "Checkout",
    "klarna-uk": "Checkout",
    "layla": "Layla Haddad",
    "lindqvist": "Lindqvist AB",
    "marta": "Marta Oliveira",
    "odd": "Odd Berg",
    "sarah": "Sarah Chen",
    "weber": "Jonas Weber",
}
# (memory, what was said with the quote between stars, whom it is about, its key)
PILE = (
    (
        "Takes deliveries before noon only.",
        "*We take deliveries before noon only*, the gate closes at twelve.",
        "customer:lindqvist",
        "customer_fact:deliveries",
    ),
    (
        "Has moved to Lübeck.",
        "*I have moved to Lübeck*, by the way, Mühlenstraße 14.",
        "customer:weber",
        "customer_fact:city",
    ),
    (
        "Will be called back on Wednesday 18 November about the invoice.",
        "*I will have someone call you back on Wednesday* about the invoice.",
        "customer:sarah",
        "commitment:call_back",
    ),
    (
        "The Fjell jacket runs one size large.",
        "*The Fjell jacket runs one size large*, you are the third person this week.",
        "project:history",
        "choice:fjell",
    ),
    (
        "The builds of shop-web need Node 22.",
        "npm error: *builds of shop-web need Node 22*, this is 18",
        "repo:shop-web",
        "environment:node",
    ),
    (
        "Collects orders in the Lisbon store.",
        "*I collect my orders in the Lisbon store*, as always.",
        "customer:marta",
        "user_preference:collects",
    ),
    (
        "Parcels to Turkey need the customer's tax number.",
        "Customs rang us: *parcels to Turkey need the tax number*, or they come back.",
        "project:history",
        "choice:turkey",
    ),
    (
        "تفضّل ليلى حدّاد أن تُكتب رسائلها بالعربية.",
        "*اكتبوا لي بالعربية* من فضلكم.",
        "customer:layla",
        "user_preference:language",
    ),
)


def names() -> None:
    Project.objects.update(name="Shop")
    for subject in Subject.objects.filter(entity_type="customer", entity_id__in=NAMES):
        Subject.objects.filter(pk=subject.pk).update(label=NAMES[subject.entity_id])
    # There it stands for what holds in the whole shop.
    Subject.objects.filter(project__slug="kinds", entity_id="cust_123").update(label="Spring sale")


def talks() -> None:
    """Sessions are about whom their quotes are about, and count their turns."""
    told = Evidence.objects.filter(observation__isnull=False, fact__subject__entity_type="customer")
    for row in told.select_related("observation", "fact"):
        about = {"session_id": row.observation.session_id, "subject_id": row.fact.subject_id}
        SessionSubject.objects.get_or_create(project_id=row.project_id, **about)
    sold = Session.objects.get(project__slug="kinds", external_id="chat-90377")
    subject = Subject.objects.get(project=sold.project_id, entity_id="cust_123")
    SessionSubject.objects.get_or_create(project_id=sold.project_id, session=sold, subject=subject)
    for session in Session.objects.annotate(turns=Count("observations")).filter(turn_count=0):
        Session.objects.filter(pk=session.pk).update(turn_count=session.turns)


def past(made: Project, rita: Person) -> None:
    """Three months in which agents said what helped, and a last day that was told often."""
    for fact in Fact.objects.filter(project=made):
        Fact.objects.filter(pk=fact.pk).update(text=fact.text.partition(", case")[0] + ".")
    agents = list(Agent.objects.filter(project=made).order_by("slug"))
    used = Fact.objects.filter(project=made, helped_count__gt=0).order_by("-helped_count", "pk")
    for fact in used:
        for days in range(fact.helped_count):
            at = NOW - timedelta(days=days, hours=2)
            Feedback.objects.create(
                project=made, fact=fact, agent=agents[0], verdict=Verdict.HELPED, said_on=at.date(), at=at
            )
    approved = Decision.objects.filter(project=made, person=rita, verb=Verb.APPROVE).order_by("-at")
    day = approved[0].at.date()
    last = [step.fact for step in approved.select_related("fact") if step.at.date() == day]
    for number in range(37):
        agent = agents[number % len(agents)]
        BriefServed.objects.create(
            project=made,
            agent=agent,
            etag=f"{number:064x}",
            fact_ids=[fact.pk for fact in last],
            tokens=164 + 3 * number,
            budget=1200,
            at=NOW - timedelta(hours=number + 1),
        )
    for fact, agent in zip(last * 2, agents[1:], strict=False):
        Feedback.objects.create(
            project=made, fact=fact, agent=agent, verdict=Verdict.HELPED, said_on=NOW.date(), at=NOW
        )


def pile(made: Project) -> None:
    """Today's: a few that can be approved together, and some that want a look of their own."""
    olga = Person.objects.get(email="olga@example.com")
    for fact in Fact.objects.filter(project=made, status="proposed"):
        fact.reject(olga, revision=fact.revision, now=NOW, reason="known")
    agents = {agent.slug: agent for agent in Agent.objects.filter(project=made)}
    for number, (text, said, about, key) in enumerate(PILE):
        agent = agents["claude-code" if about.startswith("repo:") else "support"]
        talk = factories.session(agent, f"chat-{90_412 + number}", now=NOW)
        before, quote, after = said.split("*")
        is_run = agent.slug == "claude-code"
        row = factories.observation(
            talk,
            before + quote + after,
            kind="tool_result" if is_run else "message",
            role="tool" if is_run else "assistant" if key.startswith("commitment") else "user",
            tool="Bash" if is_run else "",
        )
        readers = {"everyone": False, "agent_ids": [agent.pk]}
        quoted(made, text, [(row, quote)], about=about, key=key, agent=agent, **readers)


def dress() -> None:
    with tenancy.system("command"):
        made = Project.objects.get(slug="history")
        past(made, Person.objects.get(email="rita@example.com"))
        pile(made)
        names()
        talks()


if __name__ == "__main__":
    dress()
