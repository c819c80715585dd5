"""The sample project: everything a first look should meet is there, and a second load adds nothing."""

from __future__ import annotations

from datetime import datetime

import pytest
from django.core.management import CommandError, call_command

from memory.models import BriefServed, DistillJob, Fact, JobStatus, Observation, Session, SessionStatus, Status
from projects import tenancy
from projects.models import AuditEvent, Person, Project
from review import sample

pytestmark = pytest.mark.django_db


def test_a_first_look_meets_all_a_reviewer_has_to_learn(now: datetime) -> None:
    sample.load(now)
    with tenancy.system("command"):
        check_pile(now)
        check_past()
        assert set(Session.objects.values_list("status", flat=True)) == {SessionStatus.DISTILLED}
        assert set(DistillJob.objects.values_list("status", flat=True)) == {JobStatus.DONE}
        served = BriefServed.objects.order_by("pk")
        assert {brief.agent.slug for brief in served} == {"sales", "support", "claude-code"}
        assert all(brief.fact_ids for brief in served)
        assert any("port 5433" in brief.text for brief in served)


def check_pile(now: datetime) -> None:
    """A repeat that was counted, personal data that is flagged, values that changed, all three agents, evidence."""
    waiting = Fact.objects.waiting(now)
    assert 5 <= waiting.count() <= 20
    assert waiting.filter(times_seen=2).exists()
    assert any(row["category"] == "contact" for fact in waiting for row in fact.findings)
    changes = [fact for fact in waiting if Fact.objects.rivals_of(fact).exists()]
    assert {fact.key for fact in changes} >= {"environment:postgres.port", "customer_fact:city"}
    assert all(fact.evidence.exists() for fact in waiting)
    agents = {fact.proposed_by_agent.slug for fact in waiting if fact.proposed_by_agent}
    assert agents == {"support", "sales", "claude-code"}


def check_past() -> None:
    """One of each outcome, a scope, a memory written by hand, one that was seen again after its approval."""
    facts = Fact.objects.all()
    for status in (Status.APPROVED, Status.EXPIRED, Status.REJECTED):
        assert facts.filter(status=status).exists()
    approved = facts.filter(status=Status.APPROVED)
    assert approved.filter(everyone=False).exists()
    assert approved.filter(source="manual").exists()
    assert approved.filter(times_seen=2).exists()


def test_a_second_load_adds_nothing_and_prints_the_same(capsys: pytest.CaptureFixture[str]) -> None:
    def counts() -> list[int]:
        with tenancy.system("command"):
            return [model.objects.count() for model in (Fact, Observation, Person, BriefServed, AuditEvent)]

    call_command("load_demo")
    first, before = capsys.readouterr().out, counts()
    call_command("load_demo")
    assert capsys.readouterr().out == first
    assert counts() == before
    lines = first.splitlines()
    assert [line.split(" / ")[0] for line in lines] == [f"login: {name}@example.com" for name in ("rita", "olga")]
    password = lines[0].split(" / ")[1].split()[0]
    rita = Person.objects.get(email="rita@example.com")
    assert rita.check_password(password)
    rita.set_password("another one of hers")
    rita.save()
    call_command("load_demo")
    assert password not in capsys.readouterr().out.splitlines()[0]


def test_a_project_of_the_same_name_is_left_alone() -> None:
    with tenancy.system("command"):
        Project.objects.create(slug="shop", name="Ours")
    with pytest.raises(CommandError, match="not loaded"):
        call_command("load_demo")
    with tenancy.system("command"):
        assert Session.objects.count() == 0


def test_half_a_sample_is_none(now: datetime, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sample, "STEPS", (sample.Step("what nobody ever said"),))
    with pytest.raises(sample.SampleIncomplete):
        sample.load(now)
    with tenancy.system("command"):
        assert Project.objects.count() == 0
