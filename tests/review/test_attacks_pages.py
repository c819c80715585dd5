"""What a hostile browser, or a slip of the finger, sends to the pages: never a failure, never half a decision."""

from __future__ import annotations

from typing import Any
from urllib.parse import unquote

import pytest
from django.db import connections
from django.http import HttpResponse
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from memory.models import Decision, Fact, FactChanged, Status, Subject
from memory.models.fact import NotAllowed
from projects import agents, people, tenancy
from projects.models import ApiKey, Invitation, Membership, Role
from review.deciding import undoing
from review.pages import agent_pages
from tests import factories
from tests.factories import Cast
from tests.review.test_desk import signed_in

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("sight")]


def decided(cast: Cast, fact: Fact, verb: str, **fields: Any) -> HttpResponse:
    client = signed_in(cast.rita)
    return client.post(f"/facts/{fact.short_id}/decisions", {"verb": verb, "revision": fact.revision, **fields})


def said(cast: Cast, fact: Fact, verb: str, **fields: Any) -> str:
    """What the memory's own page says after this decision."""
    client = signed_in(cast.rita)
    form = {"verb": verb, "revision": fact.revision, "back": "fact", **fields}
    return client.post(f"/facts/{fact.short_id}/decisions", form, follow=True).content.decode()


def member(cast: Cast) -> Membership:
    return Membership.objects.select_related("person", "project").get(person=cast.rita)


@pytest.mark.parametrize("day", ["9999-12-31", "0001-01-01", "2026-02-30", "0000-00-00", "\x00", "x", ""])
def test_a_day_that_is_none_is_asked_for_again(cast: Cast, day: str) -> None:
    fact = factories.proposal(cast.project)
    answer = decided(cast, fact, "edit", lives="1", expires_on=day)
    assert answer.status_code == 422
    assert "Choose its last day" in answer.content.decode()
    assert Fact.objects.get().revision == fact.revision


@pytest.mark.parametrize("reason", ["\x00", "x" * 10_000, "it leaks"])
def test_a_reason_is_one_of_ours(cast: Cast, reason: str) -> None:
    fact = factories.approved(cast.project, cast.rita)
    assert "Say why: choose one of the ten reasons." in said(cast, fact, "remove", reason=reason)
    assert Fact.objects.get().status == Status.APPROVED


@pytest.mark.parametrize("page", ["sessions", "briefs"])
@pytest.mark.parametrize("agent", ["\x00", "nobody", "x" * 5_000])
def test_an_agent_that_is_none_filters_everything_out(cast: Cast, page: str, agent: str) -> None:
    factories.session(cast.support)
    assert signed_in(cast.rita).get(f"/p/shop/{page}", {"agent": agent}).status_code == 200


def test_a_refused_memory_by_hand_leaves_no_proposal(cast: Cast) -> None:
    factories.subject(cast.project, "customer:c1")
    Subject.objects.update(frozen_at=timezone.now())
    form = {"text": "Pays late.", "type": "customer_fact", "subject": "customer:c1"}
    answer = signed_in(cast.rita).post("/p/shop/memory/new", form)
    assert answer.status_code == 422
    assert "frozen" in answer.content.decode()
    assert not Fact.objects.exists()


def test_a_memory_that_waits_already_is_not_counted_by_a_refusal(cast: Cast) -> None:
    factories.proposal(cast.project, "Pays late.", key="customer_fact:pays", about="customer:c1")
    form = {"text": "Pays late.", "type": "customer_fact", "key": "pays", "subject": "customer:c1"}
    assert signed_in(cast.rita).post("/p/shop/memory/new", form).status_code == 422
    assert Fact.objects.get().times_seen == 1


@pytest.mark.parametrize("field", ["key", "subject"])
def test_a_secret_is_no_key_and_no_subject_of_a_memory_by_hand(cast: Cast, field: str) -> None:
    secret = "gh" + "p_" + "a1B2c3D4e5" * 3 + "f6G7h8"
    form = {"text": "Pays late.", "type": "customer_fact", field: secret}
    answer = signed_in(cast.rita).post("/p/shop/memory/new", form)
    assert answer.status_code == 422
    assert "cannot hold a secret" in answer.content.decode()
    assert not Fact.objects.exists()


def test_an_undo_that_cannot_be_finished_changes_nothing(cast: Cast) -> None:
    """Approving the second value took one agent from the first, whose words were edited since."""
    both, one = [cast.sales.pk, cast.support.pk], [cast.sales.pk]
    city = {"key": "customer_fact:city", "everyone": False}
    first = factories.approved(cast.project, cast.rita, "Lives in Rome.", agent_ids=both, **city)
    second = factories.approved(cast.project, cast.rita, "Lives in Oslo.", agent_ids=one, **city)
    first.refresh_from_db()
    first.edit(cast.rita, revision=first.revision, now=timezone.now(), text="Lives in Milan.")
    approval = Decision.objects.get(fact=second, verb="approve")
    with pytest.raises(FactChanged):
        undoing.undo(member(cast), approval, timezone.now())
    assert Fact.objects.get(pk=second.pk).status == Status.APPROVED


@pytest.mark.parametrize("agents", [[], ["sales"]])
def test_an_undo_never_makes_two_values_of_one_key(cast: Cast, agents: list[str]) -> None:
    scope = {"everyone": not agents, "agent_ids": [cast.sales.pk] if agents else []}
    first = factories.approved(cast.project, cast.rita, "Lives in Rome.", key="customer_fact:city", **scope)
    withdrawal = first.remove(cast.rita, revision=first.revision, now=timezone.now())
    factories.approved(cast.project, cast.rita, "Lives in Oslo.", key="customer_fact:city", **scope)
    with pytest.raises(NotAllowed, match="Another value"):
        undoing.undo(member(cast), withdrawal, timezone.now())
    answer = signed_in(cast.rita).post(f"/decisions/{withdrawal.pk}/undo")
    assert answer.status_code == 422
    assert Fact.objects.filter(status=Status.APPROVED).count() == 1


def test_an_edit_never_makes_two_values_of_one_key_for_one_agent(cast: Cast) -> None:
    city = {"key": "customer_fact:city", "everyone": False}
    factories.approved(cast.project, cast.rita, "Lives in Rome.", agent_ids=[cast.sales.pk], **city)
    other = factories.approved(cast.project, cast.rita, "Lives in Oslo.", agent_ids=[cast.support.pk], **city)
    both = {"scope": "agents", "agent": [cast.sales.pk, cast.support.pk], "text": "Lives in Bergen."}
    assert "Who sees it is changed by itself." in said(cast, other, "edit", **both)
    assert [fact.agent_ids for fact in Fact.objects.order_by("pk")] == [[cast.sales.pk], [cast.support.pk]]
    # By its own verb, the value that was there gives way.
    assert decided(cast, other, "rescope", **both).status_code == 302
    assert [fact.text for fact in Fact.objects.filter(status=Status.APPROVED)] == ["Lives in Oslo."]


@pytest.mark.parametrize("verb", ["approve", "remove", "reject"])
def test_a_decision_that_was_made_is_not_made_again(cast: Cast, verb: str) -> None:
    fact = factories.proposal(cast.project)
    assert decided(cast, fact, verb, reason="not_true").status_code == 302
    fact.refresh_from_db()
    assert "cannot become" in said(cast, fact, verb, reason="not_true")
    assert fact.decisions.filter(verb=verb).count() == 1


def test_a_sentence_that_another_proposal_has_is_refused_with_words(cast: Cast) -> None:
    factories.proposal(cast.project, "Lives in Rome.", key="customer_fact:city")
    other = factories.proposal(cast.project, "Lives in Oslo.", key="customer_fact:city")
    answer = decided(cast, other, "edit", text="Lives in Rome.")
    assert answer.status_code == 422
    assert "Another memory says the same" in answer.content.decode()
    assert Fact.objects.get(pk=other.pk).text == "Lives in Oslo."


def test_a_static_file_carries_the_headers_of_a_page(db: None, settings) -> None:  # type: ignore[no-untyped-def]
    settings.WHITENOISE_USE_FINDERS = True
    answer = Client().get("/static/app.css")
    assert answer.status_code == 200
    assert "default-src 'none'" in answer["Content-Security-Policy"]
    assert answer["Cross-Origin-Resource-Policy"] == "same-origin"
    assert answer["X-Content-Type-Options"] == "nosniff"


def test_a_link_check_by_head_accepts_no_invitation_and_logs_no_link(
    cast: Cast, caplog: pytest.LogCaptureFixture
) -> None:
    with tenancy.system("command"):
        _, token = Invitation.objects.invite(cast.project, "sam@example.com", Role.VIEWER, cast.olga, timezone.now())
    assert signed_in(cast.sam).head(f"/invitation/{token}").status_code == 200
    assert Invitation.objects.get().accepted_at is None
    assert token not in caplog.text


def test_two_invitations_at_once_wait_for_each_other(cast: Cast) -> None:
    with CaptureQueriesContext(connections["default"]) as queries:
        people.invite(cast.project, "new@example.com", Role.VIEWER, by=cast.olga, now=timezone.now())
    locks = [row["sql"] for row in queries if "FOR UPDATE" in row["sql"]]
    assert [sql for sql in locks if '"projects_project"' in sql]


def test_no_key_comes_after_its_holder_was_taken_out(cast: Cast, monkeypatch: pytest.MonkeyPatch) -> None:
    """The request of somebody who is removed while it is on its way: their keys ended, and none is made after that."""
    form = agent_pages._key_form(member(cast), agent=cast.support).initial
    sent = {"agent": cast.support.pk, "permissions": ["brief"], "lifetime": "90", "after": form["after"]}
    known = ApiKey.objects.count()

    def in_between(membership: Membership, data: Any = None, agent: Any = None) -> Any:
        built = original(membership, data, agent)
        if data is not None:
            Membership.objects.filter(person=membership.person).delete()
        return built

    original = agent_pages._key_form
    assert signed_in(cast.rita).post("/p/shop/keys", sent).status_code == 200
    assert ApiKey.objects.count() == known + 1
    monkeypatch.setattr(agent_pages, "_key_form", in_between)
    sent["after"] = ApiKey.objects.order_by("-pk")[0].pk
    assert signed_in(cast.rita).post("/p/shop/keys", sent).status_code == 404
    assert ApiKey.objects.count() == known + 1


def test_an_owner_issues_none_to_somebody_who_left(cast: Cast) -> None:
    Membership.objects.filter(person=cast.vera).delete()
    with pytest.raises(agents.HolderLeft):
        agents.issue(
            cast.support,
            cast.vera,
            ("brief",),
            None,
            after=agents.newest_key(cast.project),
            by=cast.olga,
            now=timezone.now(),
        )


def test_nothing_comes_back_into_use_by_undo_while_its_subject_is_frozen(cast: Cast) -> None:
    fact = factories.approved(cast.project, cast.rita, "Lives in Rome.", key="customer_fact:city")
    gone = fact.remove(cast.rita, revision=fact.revision, now=timezone.now())
    Subject.objects.update(frozen_at=timezone.now())
    answer = signed_in(cast.rita).post(f"/decisions/{gone.pk}/undo")
    assert answer.status_code == 422
    assert "frozen while a privacy request runs" in answer.content.decode()
    assert Fact.objects.get().status == Status.REMOVED
    Subject.objects.update(frozen_at=None)
    assert signed_in(cast.rita).post(f"/decisions/{gone.pk}/undo").status_code == 302
    assert Fact.objects.get().status == Status.APPROVED


@pytest.mark.parametrize("path", ["//evil.example/x", "///evil.example", "/\\evil.example"])
@pytest.mark.parametrize("htmx", [False, True])
def test_no_form_leads_back_to_another_machine(cast: Cast, path: str, htmx: bool) -> None:
    fact = factories.proposal(cast.project)
    here = f"http://testserver{path}"
    headers = {"HX-Request": "true", "HX-Current-URL": here} if htmx else {"Referer": here}
    answer = Client().post(f"/facts/{fact.short_id}/decisions", {"verb": "approve"}, headers=headers)
    target = unquote(answer.headers.get("HX-Redirect") or answer.headers["Location"])
    assert "next=//" not in target
    assert "next=/\\" not in target
    client = Client(enforce_csrf_checks=True)
    client.force_login(cast.rita, backend="allauth.account.auth_backends.AuthenticationBackend")
    answer = client.post(f"/facts/{fact.short_id}/decisions", {"verb": "approve"}, headers=headers)
    assert 'href="//' not in answer.content.decode()
    assert not unquote(answer.headers.get("HX-Redirect", "/")).startswith(("//", "/\\"))
