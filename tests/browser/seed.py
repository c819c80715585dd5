"""Fills a running installation with one project for each browser test, in one process: `python -m tests.browser.seed`.

Prints JSON: `{"keys": {agent: key}, "looks": {what: address}, "hostile": …, "twin": …}`, the last two as
tests.browser.seed_hostile.hostile gives them.
"""

from __future__ import annotations

import json
from datetime import timedelta
from decimal import Decimal
from typing import Any

import django

django.setup()

from django.utils import timezone  # noqa: E402

from memory import brief, existing, memories_in, short_ids  # noqa: E402
from memory.models import (  # noqa: E402
    BriefServed,
    DistillJob,
    Evidence,
    Fact,
    Feedback,
    ModelCall,
    Session,
    StandingPart,
    Suppression,
    quote_hash,
)
from projects import tenancy  # noqa: E402
from projects.models import Agent, ApiKey, Membership, Person, Project, Role  # noqa: E402
from tests import factories  # noqa: E402
from tests.browser.payloads import harmless  # noqa: E402
from tests.browser.seed_cards import card_looks  # noqa: E402
from tests.browser.seed_history import history  # noqa: E402
from tests.browser.seed_hostile import hostile  # noqa: E402
from tests.browser.seed_many import many  # noqa: E402
from tests.browser.seed_stop import stop_looks  # noqa: E402
from tests.browser.seed_subjects import subject_looks  # noqa: E402
from tests.browser.seed_together import together  # noqa: E402
from tests.browser.seed_trust import trust  # noqa: E402

NOW = timezone.now()
LONG = (
    "When a parcel to the Channel Islands comes back because the customs form was missing, the warehouse keeps it for "
    "fourteen days, then sends it out again at the shop's own cost, unless the customer has asked for the money back "
    "in the meantime, in which case support opens a refund and tells the warehouse to unpack it."
)
TRACE = "\n".join(
    [
        "Exit code 1",
        *(f'  File "/srv/orders/app/module_{number}.py", line {number}, in call' for number in range(40)),
        "psycopg.OperationalError: connection to server at localhost, port 5432 failed: Connection refused",
        *(f"  note {number}: the pool has no connection left" for number in range(20)),
    ]
)


def project(slug: str, *members: Person, agents: tuple[str, ...] = ("support", "sales")) -> Project:
    made = Project.objects.create(slug=slug, name=slug.title())
    for member in members:
        factories.member(made, member)
    for agent in agents:
        Agent.objects.create(project=made, slug=agent)
    return made


def agent_of(made: Project, slug: str = "support") -> Agent:
    return Agent.objects.get(project=made, slug=slug)


def cards(made: Project, count: int) -> None:
    """Plain cards, each about a customer of its own."""
    for number in range(1, count + 1):
        talk = factories.session(agent_of(made), f"call-{number}", now=NOW)
        factories.observation(talk, "How should I reach you?", role="assistant")
        said = factories.observation(talk, f"Write to me on line {number}, mornings are best.")
        about = f"customer:cust_{number}"
        text = f"Card {number}: write on line {number}."
        factories.proposal(made, text, about=about, quote=said, agent=talk.agent, distiller="local", prompt_version="1")


def pair(made: Project, by: Person) -> None:
    """A proposal that says in other words what is known of its subject, and something else that is."""
    about = "customer:pair"
    factories.approved(made, by, "Wants to be called in the evening.", about=about, key="note:evening")
    factories.approved(made, by, "Pays by invoice.", about=about, key="note:pays")
    factories.proposal(made, "Call in the evening, please.", about=about, key="note:call", agent=agent_of(made))


def without_scripts(nora: Person) -> None:
    """Project bare, for a browser without JavaScript: nora owns it; its cards are of every kind that asks by itself."""
    made = project("bare", nora)
    Membership.objects.filter(project=made, person=nora).update(role=Role.OWNER)
    Membership.objects.create(project=made, person=factories.person("ben@example.com"), role=Role.VIEWER)
    cards(made, 7)
    pair(made, nora)
    terms = {"about": "customer:terms", "agent": agent_of(made)}
    known = factories.approved(made, nora, "Pays within 30 days.", key="note:days", **terms)
    newer = factories.proposal(made, "Pays within 45 days.", key="note:terms", **terms)
    Fact.objects.filter(pk=newer.pk).update(relation="conflicts", related=known)


def quoted(made: Project, text: str, quotes: list[tuple[Any, str]], **fields: Any) -> Fact:
    """A proposal whose evidence is a part of each observation."""
    fact = factories.proposal(made, text, distiller="local", prompt_version="1", **fields)
    for row, part in quotes:
        start = row.text.index(part)
        Evidence.objects.create(
            project_id=made.pk,
            fact=fact,
            observation=row,
            start=start,
            end=start + len(part),
            quote=part,
            sha256=quote_hash(part),
            checked_at=NOW,
        )
    return fact


def ran(talk: Session, command: str, answer: str, exit_code: int) -> tuple[Any, Any]:
    call = f"call_{talk.observation_count}"
    shell = {"tool": "Bash", "call_id": call}
    asked = factories.observation(talk, command, kind="tool_call", role="assistant", **shell)
    got = factories.observation(talk, answer, kind="tool_result", role="tool", exit_code=exit_code, **shell)
    return asked, got


def troubled_run(agent: Agent, number: int, **fields: Any) -> None:
    """A reading by a provider that did not go well, and what it cost."""
    session = factories.session(agent, f"troubled-{number}", now=NOW, status="failed")
    job = DistillJob.objects.create(
        project_id=agent.project_id,
        session=session,
        through=1,
        input_hash=f"{number:064d}",
        distiller="anthropic:claude-haiku-5-5",
        **fields,
    )
    spent = {"input_tokens": 5_200, "output_tokens": 310, "cost_usd": Decimal("0.000675")}
    ModelCall.objects.create(
        project_id=agent.project_id,
        job=job,
        purpose="distill",
        provider="anthropic",
        model="claude-haiku-5-5",
        outcome=fields["error"],
        at=NOW,
        **spent,
    )


def looks(rita: Person, olga: Person) -> dict[str, str]:
    """One memory of each look, in project looks; the addresses by name."""
    made = project("looks", rita, olga, agents=("support", "sales", "claude-code"))
    support, coder = agent_of(made), agent_of(made, "claude-code")
    troubled_run(support, 1, status="failed", error="unusable", attempts=3, raw_reply="The session was about " * 40)
    troubled_run(support, 2, status="retry", error="bad_key", waits=3, lease_until=NOW)
    found: dict[str, str] = {}

    def card(name: str, fact: Fact) -> None:
        found[name] = f"/p/looks/review?card={fact.short_id}"

    talk = factories.session(support, "call-88213", now=NOW)
    factories.observation(talk, "And when do I actually see the money?")
    said = factories.observation(
        talk,
        "I have released refund RF-2091. It will be in your account by Tuesday, the 17th, and I will confirm it.",
        role="assistant",
    )
    factories.observation(talk, "Fine. Thank you.")
    promise = "Refund RF-2091 of $118.40 will be in the customer's account by Tuesday."
    refund = {"key": "commitment:refund", "type": "commitment", "agent": support}
    card("promise", quoted(made, promise, [(said, "It will be in your account by Tuesday, the 17th")], **refund))

    cc = factories.session(coder, "7f31c0de-1111-4222-8333-944455566677", now=NOW, cwd="/srv/orders")
    factories.observation(cc, "Make the tests green.")
    old = factories.approved(
        made,
        olga,
        "`make test-db` needs Postgres 16.",
        about="repo:orders-api",
        key="environment:postgres.version",
        agent=coder,
    )
    brief.serve(coder, subjects=[("repo", "orders-api")], task="run make test-db on Postgres", max_tokens=600, now=NOW)
    _, failed = ran(cc, "make test-db", TRACE, 1)
    fixed, _ = ran(cc, "docker compose up -d postgres:17 && make test-db", "pulling\nstarting\n412 passed in 38.1 s", 0)
    error = "psycopg.OperationalError: connection to server at localhost, port 5432 failed: Connection refused"
    changes = quoted(
        made,
        "`make test-db` needs Postgres 17; on 16 the connection is refused.",
        [(failed, error), (fixed, "postgres:17")],
        about="repo:orders-api",
        key="environment:postgres.version",
        agent=coder,
    )
    card("changes", changes)
    terminal = {"about": "repo:orders-api", "key": "fix:test_db", "agent": coder}
    card("terminal", quoted(made, "`make test-db` fails until the database runs.", [(failed, error)], **terminal))

    for name, sentence, words in (
        ("arabic", "تفضّل ليلى حدّاد أن تُكتب رسائلها بالعربية.", "اكتبوا لي بالعربية من فضلكم."),
        ("chinese", "客户希望用中文通过电子邮件联系，而且只在上午。", "请用中文给我写邮件，只在上午。"),
        ("long", LONG, LONG),
        ("wide", "w" * 230 + " is one word.", "x" * 3000 + " w"),
    ):
        one = factories.session(support, f"chat-{name}", now=NOW)
        row = factories.observation(one, words)
        about = f"customer:{name}"
        card(name, factories.proposal(made, sentence, about=about, quote=row, agent=support))
    hidden = factories.proposal(made, "Pays in EUR.", about="customer:hidden", agent=support)
    Fact.objects.filter(pk=hidden.pk).update(text="Pays in EUR.\u202eRUE\u202c")
    card("hidden", hidden)

    private = factories.session(support, "chat-private", now=NOW)
    row = factories.observation(private, "My address is nils.brandt@example.com, and I have had a stroke.")
    findings = [{"category": "contact", "rule": "email"}, {"category": "health", "rule": "word"}]
    told = {"about": "customer:nils", "key": "customer_fact:address", "agent": support, "findings": findings}
    card("private", factories.proposal(made, "Nils Brandt lives in Leeds since his stroke.", quote=row, **told))

    broken = factories.session(support, "chat-broken", now=NOW)
    row = factories.observation(broken, "I like the green one.")
    card("mismatch", factories.proposal(made, "Likes the red one.", about="customer:red", quote=row, agent=support))
    type(row).objects.filter(pk=row.pk).update(text="I like nothing at all here.")

    for number in range(1, 5):
        one = factories.session(support, f"chat-again-{number}", now=NOW - timedelta(days=number))
        row = factories.observation(one, "Please call me in the evening, after six.")
        again = {"about": "customer:again", "key": "user_preference:hours", "agent": support}
        evening = factories.proposal(made, "Call in the evening, after six.", quote=row, **again)
    card("often", evening)

    rejected = factories.proposal(made, "Only in the morning.", about="customer:morning", agent=support)
    rejected.reject(rita, revision=rejected.revision, now=NOW, reason="vague", note="which morning?")
    found["rejected"] = f"/facts/{rejected.short_id}"
    own = factories.proposal(
        made, "Offers go out in EUR.", about="customer:own", everyone=False, agent_ids=[support.pk], agent=support
    )
    own.approve(rita, revision=own.revision, now=NOW, text="Offers always go out in EUR.")
    found["approved"] = f"/facts/{own.short_id}"
    found["replaced"] = f"/facts/{old.short_id}"
    found["transcript"] = f"/sessions/{short_ids.encode(cc.pk, 's')}"
    found["talk"] = f"/sessions/{short_ids.encode(talk.pk, 's')}"
    served = BriefServed.objects.filter(project=made).order_by("-pk")[0]
    found["brief"] = f"/briefs/{short_ids.encode(served.pk, 'b')}"
    return found


def kinds(rita: Person, olga: Person) -> dict[str, str]:
    """One card of each kind that asks something else than whether a new memory holds, in project kinds."""
    made = project("kinds", rita, olga)
    support, sales = agent_of(made), agent_of(made, "sales")
    talk = factories.session(support, "call-80412", now=NOW)
    usual = factories.observation(talk, "Our terms are the usual, thirty days from the invoice.")
    mail = factories.session(support, "mail-2207", now=NOW)
    since = factories.observation(mail, "Since October we pay all suppliers at 45 days. Please change it on your side.")
    about = "customer:lindqvist"
    terms = {"about": about, "key": "customer_fact:payment_days", "agent": support}
    known = factories.approved(made, olga, "Pays within 30 days of the invoice.", value="30 days", quote=usual, **terms)
    newer = {"about": about, "key": "customer_fact:payment_terms", "value": "45 days", "agent": support}
    pays = "Pays within 45 days of the invoice."
    conflict = quoted(made, pays, [(since, "we pay all suppliers at 45 days")], **newer)
    Fact.objects.filter(pk=conflict.pk).update(relation="conflicts", related=known)

    region = {"about": "project:project", "key": "choice:klarna_region", "agent": support}
    klarna = "Klarna is offered only to customers with a delivery address in the UK."
    first = factories.approved(made, rita, klarna, **region)
    chat = factories.session(sales, "call-88105", now=NOW)
    outside = factories.observation(chat, "No Klarna outside the UK, also not for UK cards.")
    region["key"] = "choice:klarna_outside"
    same = quoted(made, "Klarna cannot be used outside the UK.", [(outside, "No Klarna outside the UK")], **region)
    Fact.objects.filter(pk=same.pk).update(relation="same_thing", related=first)

    parts = [
        factories.approved(made, rita, f"`make {name}` needs Postgres on 5434.", key=f"fix:make.{name}", agent=support)
        for name in ("test", "seed", "migrate")
    ]
    lesson = "Every make target that reads the database needs Postgres on 5434."
    standing = factories.proposal(made, lesson, key="fix:make", agent=support, standing=True)
    for part in parts:
        StandingPart.objects.create(project=made, standing=standing, part=part)

    long_ago = NOW - timedelta(days=200)
    asked = factories.observation(talk, "Call me after two in the afternoon, mornings are impossible.")
    hours = {"about": "customer:weber", "key": "user_preference:call_time", "agent": support, "quote": asked}
    still = factories.approved(made, olga, "Wants to be called after 14:00.", now=long_ago, **hours)
    spring = factories.session(support, "call-66120", now=long_ago)
    said = "For the spring sale we honour codes for 7 days after they end."
    rule = factories.observation(spring, said, role="assistant", now=long_ago)
    promo = {"key": "choice:promo_grace", "agent": support, "quote": rule}
    doubted = factories.approved(
        made, rita, "Promo codes are honoured for 7 days after they end.", now=long_ago, **promo
    )
    sold = factories.session(sales, "chat-90377", now=NOW)
    factories.observation(sold, "You can still use SPRING20, codes run 7 days longer.", role="assistant", now=NOW)
    factories.observation(sold, "It does not work. You just told me it would.", now=NOW)
    BriefServed.objects.create(
        project=made, agent=sales, session=sold, etag="promo", tokens=40, budget=1200, fact_ids=[doubted.pk], at=NOW
    )
    Fact.objects.filter(pk=doubted.pk).update(review_due_at=NOW)
    Feedback.objects.create(project=made, fact=doubted, agent=sales, verdict="misled", at=NOW, said_on=NOW.date())
    vague = factories.proposal(made, "Customers like fast answers.", key="note:fast", agent=support)
    vague.reject(rita, revision=vague.revision, now=NOW, reason="vague")
    Suppression.objects.create(
        project=made, fact=vague, session=talk, text="Customers like quick answers.", similarity=0.8, at=NOW
    )
    shown = {"conflict": conflict, "same": same, "standing": standing, "still": still, "complaint": doubted}
    found = {name: f"/p/kinds/review?card={fact.short_id}" for name, fact in shown.items()}
    return found | {"imported": brought_in(made, rita)}


def brought_in(made: Project, rita: Person) -> str:
    """An import with something to approve together, and something that wants a look of its own."""
    notes = "- Postgres runs on 5434 here\n- Write to nils@example.com about refunds\n- " + "very " * 60 + "long\n"
    brought = memories_in.bring_in(made, existing.read("CLAUDE.md", notes.encode()), person=rita, now=NOW)
    assert brought.session is not None
    return f"/imports/{short_ids.encode(brought.session.pk, 's')}"


def hostiles(rita: Person) -> dict[str, Any]:
    """A project full of payloads, and its harmless twin."""
    return {"hostile": hostile("hostile", rita), "twin": hostile("harmless", rita, harmless)}


def seed() -> dict[str, Any]:
    with tenancy.system("command"):
        rita, olga = factories.person("rita@example.com"), factories.person("olga@example.com")
        vera = factories.person("vera@example.com")
        cards(project("ten", rita), 10)
        cards(project("every", rita), 6)
        cards(project("plain", rita), 4)
        fifty = project("fifty", rita)
        Project.objects.filter(pk=fifty.pk).update(review_policy={"sitting": 60})
        cards(fifty, 50)
        cards(project("slow", rita), 6)
        cards(project("lost", rita, olga), 4)
        without_scripts(factories.person("nora@example.com"))
        pair(project("bare-pair", rita), rita)
        kim = factories.person("kim@example.com")
        cards(project("quiet", kim), 2)
        cards(project("race", rita, olga), 2)
        cards(project("late", rita, olga), 6)
        look = project("look", rita)
        cards(look, 1)
        Membership.objects.create(project=look, person=vera, role=Role.VIEWER)
        project("unconnected", rita, agents=())
        project("unheard", rita)
        talking = project("talking", rita)
        factories.observation(factories.session(agent_of(talking), "call-1", now=NOW), "Hello.")
        read = project("forgotten", rita)
        factories.session(agent_of(read), "call-1", now=NOW, status="distilled")
        history(project("history", rita, olga, agents=("support", "sales", "claude-code")), rita, olga, NOW)
        cards(project("at-once", rita, olga), 5)
        heaps = many(project("many", rita, olga), rita, olga, NOW)
        many(project("many-bare", rita, olga), rita, olga, NOW)
        heaps["cluster-key"] = many(project("many-key", rita, olga), rita, olga, NOW)["cluster"]
        met = together(project("together", rita, olga), rita, olga, NOW)
        journey = project("journey", rita, agents=("claude-code", "reviewer"))
        keys = {agent.slug: ApiKey.objects.issue(agent, rita)[1] for agent in Agent.objects.filter(project=journey)}
        shown = looks(rita, olga) | kinds(rita, olga) | card_looks(rita, olga) | met | heaps
        told = project("told", rita, olga, agents=("support", "sales", "claude-code"))
        shown |= subject_looks(told, rita, NOW)
        shown |= trust(rita, olga, NOW)
        stopped = project("stop", rita, olga)
        shown |= stop_looks(stopped, rita, olga, NOW)
        keys["stop"] = ApiKey.objects.issue(agent_of(stopped), rita)[1]
        return {"keys": keys, "looks": shown, **hostiles(rita)}


if __name__ == "__main__":
    print(json.dumps(seed()))
