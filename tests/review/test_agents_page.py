"""Agents and keys: made, paused, archived; a key is shown once, in lines that work."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries

from projects.models import Agent, ApiKey, AuditEvent, Membership, Person, Role, hash_key
from tests.factories import Cast

pytestmark = [pytest.mark.django_db(databases="__all__"), pytest.mark.usefixtures("sight")]


def words(response: Any) -> str:
    return response.content.decode()


def sent(client: Client) -> dict[str, Any]:
    """What the form for a key holds as the page shows it."""
    page = words(client.get("/p/shop/agents"))
    after = re.search(r'name="after" value="(\d+)"', page)
    assert after, page
    return {"after": after[1], "permissions": ["capture", "brief"], "lifetime": "90"}


def shown(response: Any) -> str:
    found = re.search(r'id="issued-key">(cs_[0-9a-f_]+)<', words(response))
    assert found, words(response)
    return found[1]


def actions(cast: Cast) -> list[str]:
    return list(AuditEvent.objects.filter(project_id=cast.project.pk).order_by("pk").values_list("action", flat=True))


def test_everybody_sees_agents_and_keys_in_a_bounded_number_of_queries(
    client: Client, cast: Cast, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    cast.support.dropped_count = 14
    cast.support.last_heard_at = timezone.now() - timedelta(minutes=3)
    cast.support.save()
    for agent in (cast.support, cast.sales, cast.coder):
        for person in (cast.rita, cast.vera, cast.olga):
            ApiKey.objects.issue(agent, person)
    client.force_login(cast.vera)
    with django_assert_max_num_queries(24):
        page = words(client.get("/p/shop/agents"))
    assert "3 min ago" in page
    assert "14 records" in page
    assert "No key can approve" in page
    assert "Pause" not in page
    assert cast.keys["support"] not in page


def test_an_agent_is_connected_and_the_form_for_its_key_is_ready(client: Client, cast: Cast) -> None:
    client.force_login(cast.olga)
    answer = client.post("/p/shop/agents/new", {"slug": "billing"})
    assert answer["Location"] == "/p/shop/agents?agent=billing#issue"
    billing = Agent.objects.get(slug="billing")
    assert f'<option value="{billing.pk}" selected>' in words(client.get("/p/shop/agents?agent=billing"))
    assert actions(cast) == ["agent.create"]


@pytest.mark.parametrize(
    ("slug", "sentence"), [("support", "an agent of that name"), ("Bad Name", "lower-case"), ("", "required")]
)
def test_a_name_that_will_not_do_is_said_beside_the_field(client: Client, cast: Cast, slug: str, sentence: str) -> None:
    client.force_login(cast.olga)
    answer = client.post("/p/shop/agents/new", {"slug": slug})
    assert answer.status_code == 422
    assert sentence in words(answer)


def test_a_key_is_shown_once_inside_lines_to_copy_and_only_its_hash_is_kept(
    client: Client, cast: Cast, settings: Any
) -> None:
    settings.PUBLIC_URL = "https://memory.shop.example"
    client.force_login(cast.olga)
    fields = {**sent(client), "agent": cast.support.pk, "holder": cast.rita.pk}
    answer = client.post("/p/shop/keys", fields)
    secret = shown(answer)
    assert answer["Cache-Control"] == "no-store"
    page = words(answer)
    assert "https://memory.shop.example/api/v1/me" in page
    assert page.count(secret) >= 4
    key = ApiKey.objects.get(key_hash=hash_key(secret))
    assert (key.agent, key.person, sorted(key.permissions)) == (cast.support, cast.rita, ["brief", "capture"])
    assert key.expires_at
    assert timedelta(days=89) < key.expires_at - timezone.now() <= timedelta(days=90)
    assert secret not in words(client.get("/p/shop/agents"))
    assert secret not in str(dict(client.session))
    assert "key.issue" in actions(cast)


def test_a_page_sent_again_issues_nothing_and_says_so(client: Client, cast: Cast) -> None:
    client.force_login(cast.olga)
    fields = {**sent(client), "agent": cast.support.pk, "holder": cast.olga.pk}
    client.post("/p/shop/keys", fields)
    count = ApiKey.objects.count()
    again = client.post("/p/shop/keys", fields)
    assert again.status_code == 409
    assert "none was issued now" in words(again)
    assert ApiKey.objects.count() == count


@pytest.mark.parametrize("who", ["vera", "rita"])
def test_a_viewer_and_a_reviewer_issue_keys_in_their_own_name_alone(client: Client, cast: Cast, who: str) -> None:
    person: Person = getattr(cast, who)
    client.force_login(person)
    answer = client.post("/p/shop/keys", {**sent(client), "agent": cast.coder.pk, "holder": cast.olga.pk})
    assert ApiKey.objects.get(key_hash=hash_key(shown(answer))).person == person


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"permissions": []}, "Tick at least one"),
        ({"permissions": ["approve"]}, "not one of the available choices"),
        ({"lifetime": "99999"}, "not one of the available choices"),
        ({"agent": 0}, "not one of the available choices"),
    ],
)
def test_a_key_that_cannot_be_is_refused_beside_the_field(
    client: Client, cast: Cast, change: dict[str, Any], sentence: str
) -> None:
    client.force_login(cast.olga)
    count = ApiKey.objects.count()
    fields = {**sent(client), "agent": cast.support.pk, "holder": cast.olga.pk, **change}
    answer = client.post("/p/shop/keys", fields)
    assert answer.status_code == 422
    assert sentence in words(answer)
    assert ApiKey.objects.count() == count


def test_no_key_for_another_projects_agent_or_person(client: Client, cast: Cast) -> None:
    client.force_login(cast.olga)
    fields = {**sent(client), "agent": cast.foreign.pk, "holder": cast.olga.pk}
    assert client.post("/p/shop/keys", fields).status_code == 422
    fields = {**sent(client), "agent": cast.support.pk, "holder": cast.sam.pk}
    assert client.post("/p/shop/keys", fields).status_code == 422


def test_a_key_without_the_right_to_send_shows_no_line_that_sends(client: Client, cast: Cast) -> None:
    client.force_login(cast.olga)
    fields = {
        **sent(client),
        "agent": cast.support.pk,
        "holder": cast.olga.pk,
        "permissions": ["brief"],
        "lifetime": "none",
    }
    page = words(client.post("/p/shop/keys", fields))
    assert "/observations" not in page
    assert "/api/v1/briefs" in page
    assert "no end" in page


def test_an_owner_revokes_any_key_and_others_their_own(client: Client, cast: Cast) -> None:
    mine, _ = ApiKey.objects.issue(cast.support, cast.vera)
    hers, _ = ApiKey.objects.issue(cast.support, cast.rita)
    client.force_login(cast.vera)
    answer = client.post(f"/p/shop/keys/{hers.pk}/revocation")
    assert answer.status_code == 403
    assert "Only an owner revokes the key of somebody else" in words(answer)
    assert client.post(f"/p/shop/keys/{mine.pk}/revocation").status_code == 302
    client.force_login(cast.olga)
    assert client.post(f"/p/shop/keys/{hers.pk}/revocation").status_code == 302
    usable = ApiKey.objects.all().usable(timezone.now())
    assert not usable.filter(pk__in=[mine.pk, hers.pk]).exists()
    assert actions(cast) == ["key.revoke", "key.revoke"]
    foreign = ApiKey.objects.get(agent=cast.foreign)
    assert client.post(f"/p/shop/keys/{foreign.pk}/revocation").status_code == 404


def test_a_paused_agent_is_said_on_every_page_until_it_is_resumed_there(client: Client, cast: Cast) -> None:
    client.force_login(cast.rita)
    client.post("/p/shop/agents/sales/pause")
    said = f"Briefs to sales are paused since {timezone.localtime():%H:%M} by Rita."
    assert "1 is paused" in words(client.get("/p/shop/agents"))
    for address in ("/p/shop/agents", "/p/shop/review", "/p/shop/memory", "/p/shop/briefs"):
        assert said in words(client.get(address)), address
    page = words(client.get("/"))
    assert f"shop: briefs to sales are paused since {timezone.localtime():%H:%M} by Rita." in page
    assert '<input type="hidden" name="next" value="/">' in page
    answer = client.post("/p/shop/agents/sales/pause", {"resume": "1", "next": "/p/shop/briefs?agent=sales"})
    assert answer["Location"] == "/p/shop/briefs?agent=sales"
    for address in ("/p/shop/agents", "/"):
        assert "are paused since" not in words(client.get(address))
    assert actions(cast) == ["agent.pause", "agent.resume"]


@pytest.mark.parametrize("elsewhere", ["https://evil.example/", "//evil.example/", "javascript:alert(1)", ""])
def test_a_button_leads_back_to_our_pages_alone(client: Client, cast: Cast, elsewhere: str) -> None:
    client.force_login(cast.rita)
    answer = client.post("/p/shop/agents/sales/pause", {"next": elsewhere})
    assert answer["Location"] == "/p/shop/agents"


def test_all_briefs_of_a_project_are_paused_with_one_button(client: Client, cast: Cast) -> None:
    client.force_login(cast.rita)
    client.post("/p/shop/pause")
    assert f"All briefs of shop are paused since {timezone.localtime():%H:%M} by Rita." in words(client.get("/"))
    client.post("/p/shop/pause", {"resume": "1"})
    assert actions(cast) == ["project.pause", "project.resume"]


def test_who_may_only_look_sees_the_pause_and_no_button(client: Client, cast: Cast) -> None:
    client.force_login(cast.rita)
    client.post("/p/shop/agents/sales/pause")
    client.force_login(cast.vera)
    page = words(client.get("/p/shop/memory"))
    assert "Briefs to sales are paused since" in page
    assert 'name="resume"' not in page
    assert client.post("/p/shop/agents/sales/pause", {"resume": "1"}).status_code == 403


def test_a_stranger_hears_nothing_of_a_pause(client: Client, cast: Cast) -> None:
    client.force_login(cast.rita)
    client.post("/p/shop/agents/sales/pause")
    client.post("/p/shop/pause")
    client.force_login(cast.sam)
    for address in ("/", "/p/depot/memory"):
        assert "paused since" not in words(client.get(address))


def test_many_pauses_take_few_lines_and_few_queries(
    client: Client, cast: Cast, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    Agent.objects.bulk_create(
        Agent(project=cast.project, slug=f"agent-{number}", paused_at=timezone.now(), paused_by=cast.rita)
        for number in range(20)
    )
    cast.project.pause(timezone.now(), cast.olga)
    client.force_login(cast.rita)
    with django_assert_max_num_queries(24):
        page = words(client.get("/p/shop/agents"))
    assert page.count("paused since") - page.count('<b class="amber strong">paused</b>') <= 4
    assert "17 more are paused" in page


def test_an_archived_agent_keeps_its_name_and_comes_back(client: Client, cast: Cast) -> None:
    client.force_login(cast.olga)
    client.post("/p/shop/agents/sales/archive")
    assert not ApiKey.objects.filter(agent=cast.sales).usable(timezone.now()).exists()
    page = words(client.get("/p/shop/agents"))
    assert "Bring back" in page
    assert client.post("/p/shop/agents/sales/pause").status_code == 404
    assert client.post("/p/shop/agents/new", {"slug": "sales"}).status_code == 422
    client.post("/p/shop/agents/sales/archive", {"bring_back": "1"})
    assert "Bring back" not in words(client.get("/p/shop/agents"))
    assert actions(cast) == ["agent.archive", "agent.bring back"]


@pytest.mark.parametrize(
    ("path", "lowest"),
    [
        ("agents/new", Role.OWNER),
        ("agents/support/archive", Role.OWNER),
        ("agents/support/pause", Role.REVIEWER),
        ("pause", Role.REVIEWER),
    ],
)
def test_what_needs_a_higher_role_is_refused_with_a_sentence(
    client: Client, cast: Cast, path: str, lowest: Role
) -> None:
    assert client.post(f"/p/shop/{path}")["Location"].startswith("/sign-in")
    for person in (cast.vera, cast.rita):
        if Membership.objects.get(person=person).has(lowest):
            continue
        client.force_login(person)
        answer = client.post(f"/p/shop/{path}", {"slug": "new"})
        assert answer.status_code == 403
        assert "An owner of the project can do it" in words(answer)
    client.force_login(cast.sam)
    assert client.post(f"/p/shop/{path}").status_code == 404
    assert actions(cast) == []


def test_a_project_without_agents_teaches_what_one_is(client: Client, cast: Cast) -> None:
    client.force_login(cast.olga)
    Agent.objects.filter(project=cast.project).update(archived_at=timezone.now())
    page = words(client.get("/p/shop/agents"))
    assert "No agent is connected yet" in page
    assert "Connect it" in page
