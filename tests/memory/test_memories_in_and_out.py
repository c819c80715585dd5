"""Existing memories: brought in as observations that propose, and out again without a change."""

from __future__ import annotations

import json
from datetime import datetime, timedelta

import pytest

from memory import distillation, memories_in, memories_out
from memory.existing import read
from memory.models import Decision, Evidence, Fact, Observation, Session, SessionKind, SessionStatus, Status
from projects import tenancy
from projects.models import Agent, Project
from tests import factories
from tests.factories import Cast

pytestmark = pytest.mark.django_db


def bring(cast: Cast, name: str, text: str, now: datetime, **options: str) -> memories_in.Brought:
    return memories_in.bring_in(cast.project, read(name, text.encode()), person=cast.rita, now=now, **options)


def exported(cast: Cast, file_format: str = "jsonl") -> str:
    with tenancy.project(cast.project.pk):
        facts = Fact.objects.filter(project=cast.project, status=Status.APPROVED).order_by("pk")
        return "".join(memories_out.lines(cast.project, facts, file_format))


def snapshot(cast: Cast) -> list[tuple]:
    with tenancy.project(cast.project.pk):
        return [
            (fact.pk, fact.text, fact.times_seen, fact.revision, fact.status, fact.evidence.count())
            for fact in Fact.objects.order_by("pk")
        ]


def test_each_line_is_an_observation_that_a_proposal_quotes_whole(cast: Cast, now: datetime) -> None:
    brought = bring(cast, "CLAUDE.md", "- Postgres runs on 5434\n- Tests need `make seed`\n", now)
    assert brought.words == "2 new"
    with tenancy.project(cast.project.pk):
        session = Session.objects.get()
        assert (session.kind, session.status, session.agent.slug) == (
            SessionKind.IMPORT,
            SessionStatus.DISTILLED,
            "imports",
        )
        fact = Fact.objects.order_by("pk")[0]
        assert (fact.status, fact.source, fact.type, fact.text) == (
            Status.PROPOSED,
            "import",
            "note",
            "Postgres runs on 5434",
        )
        quote = fact.evidence.get()
        assert (quote.quote, quote.verdict(), quote.observation.session) == (fact.text, "holds", session)


def test_a_second_run_changes_nothing(cast: Cast, now: datetime) -> None:
    text = "- Postgres runs on 5434\n- Tests need `make seed`\n"
    bring(cast, "CLAUDE.md", text, now)
    before = snapshot(cast)
    assert bring(cast, "CLAUDE.md", text, now).words == "2 known"
    assert snapshot(cast) == before


def test_the_sessions_of_imports_are_never_read(cast: Cast, now: datetime) -> None:
    bring(cast, "CLAUDE.md", "- We always deploy on Tuesdays.\n", now)
    with tenancy.project(cast.project.pk):
        assert distillation.request(Session.objects.get(), now, ring=False) is None
    assert distillation.sweep(now + timedelta(days=1), ring=False, everything=True) == []


def test_nothing_that_holds_a_secret_or_a_card_is_proposed(cast: Cast, now: datetime) -> None:
    key = "AKIA" + "IOSFODNN7EXAMPLE"
    brought = bring(cast, "m.md", f"- The key is {key}\n- Card 4111 1111 1111 1111\n- Fine\n", now)
    assert (brought.outcomes["new"], brought.dropped["unfit"]) == (1, 2)
    with tenancy.project(cast.project.pk):
        assert not Observation.objects.filter(text__contains=key).exists()


def test_hostile_lines_are_text(cast: Cast, now: datetime) -> None:
    lines = [
        {"text": "<script>alert(1)</script>"},
        {"text": "a\u0000b\ud800"},
        {"text": "x" * 5000},
        {"text": "deep", "value": {"a": [1]}, "type": "<b>"},
        {"text": "named", "subject": "customer:\u202e"},
        {"text": "kept", "subject": "c-17", "key": "k" * 400},
        {"countersign": 1, "id": "f-000000", "type": "fix", "key": "fix:x", "text": "Not ours.", "agents": []},
        {"countersign": 1, "text": "Elsewhere.", "type": "fix", "key": "fix:y", "agents": ["nobody"]},
        {"countersign": 1, "text": "NaN.", "type": "fix", "key": "fix:z", "value": float("nan")},
    ]
    brought = bring(cast, "m.jsonl", "\n".join(json.dumps(line) for line in lines), now)
    assert brought.dropped == {"too_long": 1, "bad_subject": 1, "bad_key": 1, "unknown_agents": 2, "bad_value": 1}
    assert brought.outcomes["new"] == 3


def test_an_export_imported_again_changes_nothing(cast: Cast, now: datetime) -> None:
    with tenancy.project(cast.project.pk):
        factories.approved(cast.project, cast.rita, "Prefers letters.", value={"channel": "letter"}, about="customer:a")
        factories.approved(
            cast.project,
            cast.rita,
            "Offers in EUR.",
            key="choice:currency",
            everyone=False,
            agent_ids=[cast.support.pk],
        )
        seen = factories.approved(cast.project, cast.rita, "Runs on 5434.", key="environment:port", about="repo:x")
        seen.count_again(now)
    before, said = snapshot(cast), exported(cast)
    assert bring(cast, "export.jsonl", said, now).words == "3 known"
    assert snapshot(cast) == before
    assert exported(cast) == said
    assert bring(cast, "export.csv", exported(cast, "csv"), now).words == "3 known"
    assert snapshot(cast) == before
    with tenancy.project(cast.project.pk):
        assert not Session.objects.filter(kind=SessionKind.IMPORT).exists()
        assert not Agent.objects.filter(slug="imports").exists()


def test_an_export_carries_over_to_another_project(cast: Cast, now: datetime) -> None:
    with tenancy.project(cast.project.pk):
        expires = now + timedelta(days=40)
        factories.approved(
            cast.project,
            cast.rita,
            "Offers in EUR.",
            key="choice:currency",
            value={"code": "EUR"},
            about="customer:a",
            everyone=False,
            agent_ids=[cast.support.pk],
            expires_at=expires,
            use="historical",
        )
    said = exported(cast)
    with tenancy.system("command"):
        other = Project.objects.create(slug="other", name="Other")
        support = Agent.objects.create(project=other, slug="support")
    brought = memories_in.bring_in(other, read("e.jsonl", said.encode()), person=None, now=now)
    with tenancy.project(other.pk):
        (fact,) = brought.facts
        fact = Fact.objects.get(pk=fact.pk)
        assert (fact.type, fact.key, fact.value, fact.text) == (
            "choice",
            "choice:currency",
            {"code": "EUR"},
            "Offers in EUR.",
        )
        assert (str(fact.subject), fact.everyone, fact.agent_ids) == ("customer:a", False, [support.pk])
        assert (fact.use, fact.expires_at, fact.status) == ("historical", expires, Status.PROPOSED)


def test_an_edited_export_is_a_proposal_and_touches_nothing_approved(cast: Cast, now: datetime) -> None:
    with tenancy.project(cast.project.pk):
        known = factories.approved(cast.project, cast.rita, "Prefers letters.", value="letter")
    said = exported(cast).replace('"value": "letter"', '"value": "phone"').replace("letters", "the phone")
    brought = bring(cast, "e.jsonl", said, now)
    assert sum(brought.outcomes[name] for name in memories_in.NEW) == 1
    with tenancy.project(cast.project.pk):
        assert Fact.objects.get(pk=known.pk).status == Status.APPROVED
        assert Decision.objects.filter(fact=known).count() == 2


def test_csv_and_markdown_say_the_sentence_on_one_line(cast: Cast, now: datetime) -> None:
    with tenancy.project(cast.project.pk):
        factories.approved(cast.project, cast.rita, "=cmd() is no formula.", key="note:formula")
        factories.approved(cast.project, cast.rita, "Runs on 5434.", key="environment:port")
    table = exported(cast, "csv")
    assert "'=cmd() is no formula." in table
    again = read("e.csv", table.encode())
    assert [line.text for line in again.lines] == ["=cmd() is no formula.", "Runs on 5434."]
    assert exported(cast, "markdown") == (
        "# What is known · shop\n\n## Environment\n\n- Runs on 5434.\n\n## Note\n\n- =cmd() is no formula.\n"
    )


def test_evidence_goes_with_a_subject_that_the_lines_name(cast: Cast, now: datetime) -> None:
    bring(cast, "m.csv", "memory,user\nLikes tea,x\n", now)
    brought = bring(cast, "m.csv", "memory,user_id\nLikes tea,c-17\nLikes cake,c-18\n", now)
    with tenancy.project(cast.project.pk):
        assert {str(one) for one in brought.session.subjects.all()} == {"customer:c-17", "customer:c-18"}
        assert Evidence.objects.filter(fact__subject__entity_id="c-17").count() == 1
