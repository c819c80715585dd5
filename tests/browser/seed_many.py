"""A project with many memories to decide at once: a list with everything in it, and near-duplicates of one subject."""

from __future__ import annotations

from datetime import datetime, timedelta

from memory.models import BriefServed, Evidence, Fact, quote_hash
from projects.models import Agent, Membership, Person, Project
from review.deciding import batches
from tests import factories

LIVE = (
    ("Lindqvist AB pays within 45 days of the invoice.", "customer:lindqvist", "customer_fact:terms"),
    ("Parcels to Norway need the eight-digit tariff number.", "project:many", "choice:norway"),
    ("Parcels to Jersey need a customs form.", "project:many", "choice:jersey"),
    ("Sarah Chen prefers e-mail, in the morning.", "customer:sarah", "user_preference:channel"),
    (
        "Refund RF-2091 will be in the customer’s account by Tuesday 17 November 2026.",
        "customer:sarah",
        "commitment:rf",
    ),
    ("`make test-db` needs Postgres 17; on 16 it stops at MERGE … RETURNING.", "repo:shop-api", "fix:make.test_db"),
    ("The size chart of the Nord boots runs one size small.", "project:many", "choice:nord"),
    ("Jonas Weber wants to be called after 14:00, never in the morning.", "customer:weber", "user_preference:hours"),
    ("Promo codes are honoured for 7 days after they end.", "project:many", "choice:promo"),
    ("تفضّل ليلى حدّاد أن تُكتب رسائلها بالعربية.", "customer:layla", "user_preference:language"),
)
KLARNA = "Klarna is offered only to customers with a delivery address in the UK."
SAME = (
    ("chat-90114", "Klarna is only for UK delivery addresses, as the checkout told the customer.", 40),
    ("call-88105", "No Klarna outside the UK, also not for UK cards.", 24),
    ("chat-90222", "Klarna refunds take 5 working days.", 34),
)


def many(made: Project, rita: Person, olga: Person, now: datetime) -> dict[str, str]:
    """The addresses of what it shows."""
    support, sales = (Agent.objects.get(project=made, slug=slug) for slug in ("support", "sales"))
    live = []
    for number, (text, about, key) in enumerate(LIVE):
        scope = {"everyone": True} if number % 3 else {"everyone": False, "agent_ids": sorted([support.pk, sales.pk])}
        person = olga if number % 4 == 1 else rita
        live.append(
            factories.approved(
                made, person, text, about=about, key=key, agent=support, now=now - timedelta(days=number), **scope
            )
        )
    for number in range(22):
        BriefServed.objects.create(
            project=made,
            agent=support,
            etag=f"{number:064x}",
            fact_ids=[fact.pk for fact in live[: 1 + number % 9]],
            tokens=100,
            budget=500,
            at=now - timedelta(hours=number),
        )
    Fact.objects.filter(pk__in=[fact.pk for fact in live[:4]]).update(helped_count=9)
    member = Membership.objects.select_related("project", "person").get(project=made, person=rita)
    _decided(made, member, support, now)
    kept = _near(made, support, "customer:klarna-uk", now)
    beside = _near(made, support, "customer:klarna-live", now)
    Fact.objects.get(pk=beside.pk).approve(olga, revision=beside.revision, now=now)
    waits = Fact.objects.filter(related=beside, status="proposed").order_by("pk")[0]
    pile = f"/p/{made.slug}/review"
    return {"cluster": f"{pile}?card={kept.short_id}", "cluster-live": f"{pile}?card={waits.short_id}"}


def _near(made: Project, agent: Agent, about: str, now: datetime) -> Fact:
    """One sentence, and what says nearly the same, each quoted; the last flagged."""
    talk = factories.session(agent, f"chat-90101-{about[-4:]}", now=now)
    row = factories.observation(talk, KLARNA, role="assistant", now=now)
    kept = factories.proposal(
        made, KLARNA, about=about, key="choice:klarna", agent=agent, distiller="local", now=now, quote=row
    )
    Fact.objects.filter(pk=kept.pk).update(times_seen=3)
    kept.refresh_from_db()
    last = kept
    for number, (call, said, end) in enumerate(SAME):
        talk = factories.session(agent, f"{call}-{about[-4:]}", now=now)
        row = factories.observation(talk, said, role="user", now=now)
        fact = factories.proposal(
            made,
            said,
            about=about,
            key=f"choice:klarna.{number}",
            agent=agent,
            distiller="local",
            now=now - timedelta(days=number),
            # Learned beside the one before it, so that nothing but its words ties it to the first.
            related=last if number == len(SAME) - 1 else kept,
            relation="same_thing",
        )
        last = fact
        quote = said[:end]
        Evidence.objects.create(
            project=made,
            fact=fact,
            observation=row,
            start=0,
            end=end,
            quote=quote,
            sha256=quote_hash(quote),
            checked_at=now,
        )
    flagged = "Klarna in the UK only; reach Nils at nils@example.com."
    factories.proposal(
        made,
        flagged,
        about=about,
        key="choice:klarna.n",
        agent=agent,
        distiller="local",
        now=now,
        related=kept,
        relation="same_thing",
        findings=[{"category": "contact", "start": flagged.index("nils@"), "end": len(flagged) - 1}],
    )
    return kept


def _decided(made: Project, member: Membership, agent: Agent, now: datetime) -> None:
    """A few acts of hers: one on many, one by itself, one taken back."""
    facts = [
        factories.proposal(made, f"Customers like answer number {n}.", key=f"note:like.{n}", agent=agent, now=now)
        for n in range(6)
    ]
    batches.reject_all(member, [(fact.pk, fact.revision) for fact in facts[:4]], "vague", now)
    facts[4].reject(member.person, revision=facts[4].revision, now=now, reason="once")
    step = facts[5].put_off(member.person, revision=facts[5].revision, now=now, until=now + timedelta(days=1))
    facts[5].undo(step, member.person, now=now)
