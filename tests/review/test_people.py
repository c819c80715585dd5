"""People: who may invite and change whom, and the link by which somebody comes in."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import Any

import pytest
from django.core.mail import EmailMessage
from django.test import Client
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries

from projects.models import ApiKey, AuditEvent, Invitation, Membership, Person, Role
from review.pages import people_pages
from tests import factories
from tests.factories import PASSWORD, Cast

pytestmark = [pytest.mark.django_db(databases="__all__"), pytest.mark.usefixtures("sight")]
LINE = "a line of my own to sign"
NEW = {"name": "Nina", "password1": LINE, "password2": LINE}
GONE = "This link does not work"


def words(response: Any) -> str:
    return response.content.decode()


def invite(client: Client, cast: Cast, email: str = "nina@example.com", role: str = "reviewer") -> str:
    """The path of a new link, as the owner's page shows it."""
    client.force_login(cast.olga)
    page = words(client.post("/p/shop/invitations", {"email": email, "role": role}))
    found = re.search(r"http://testserver(/invitation/[\w-]+)", page)
    assert found, page
    return found[1]


def member(person: Person) -> Membership:
    return Membership.objects.get(person=person, project__slug="shop")


def actions(cast: Cast) -> list[str]:
    return list(AuditEvent.objects.filter(project_id=cast.project.pk).order_by("pk").values_list("action", flat=True))


def test_everybody_in_the_project_sees_who_is_in_it(
    client: Client, cast: Cast, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    client.force_login(cast.vera)
    with django_assert_max_num_queries(20):
        page = words(client.get("/p/shop/people"))
    assert "rita@example.com" in page
    assert "sam@example.com" not in page
    assert "Invite somebody" not in page


@pytest.mark.parametrize(
    "path", ["people", "invitations", "invitations/1/withdrawal", "members/1/role", "members/1/removal"]
)
def test_strangers_sign_in_and_members_of_another_project_find_nothing(client: Client, cast: Cast, path: str) -> None:
    ask = client.get if path == "people" else client.post
    assert ask(f"/p/shop/{path}")["Location"].startswith("/sign-in")
    client.force_login(cast.sam)
    assert ask(f"/p/shop/{path}").status_code == 404


@pytest.mark.parametrize("who", ["rita", "vera"])
def test_only_an_owner_invites_changes_roles_and_removes(client: Client, cast: Cast, who: str) -> None:
    client.force_login(getattr(cast, who))
    pk = member(cast.olga).pk
    for path, fields in (
        ("invitations", {"email": "nina@example.com", "role": "owner"}),
        (f"members/{pk}/role", {"role": "viewer"}),
        (f"members/{pk}/removal", {}),
    ):
        answer = client.post(f"/p/shop/{path}", fields)
        assert answer.status_code == 403
        assert "This is not yours to do" in words(answer)
    assert not Invitation.objects.exists()
    assert member(cast.olga).role == Role.OWNER


def test_the_link_is_shown_once_and_the_invitation_waits(client: Client, cast: Cast) -> None:
    path = invite(client, cast)
    page = words(client.get("/p/shop/people"))
    assert "nina@example.com" in page
    assert path not in page
    assert actions(cast) == ["invitation.create"]


def test_a_link_is_mailed_where_a_mail_server_is_set(
    client: Client, cast: Cast, settings: Any, mailoutbox: list[EmailMessage]
) -> None:
    settings.MAIL_IS_SENT = True
    path = invite(client, cast)
    assert path in str(mailoutbox[0].body)
    assert "Olga invites you" in str(mailoutbox[0].body)


def test_inviting_again_ends_the_link_before(client: Client, cast: Cast) -> None:
    old, new = invite(client, cast), invite(client, cast)
    assert Invitation.objects.count() == 1
    stranger = Client()
    assert stranger.get(old).status_code == 404
    assert stranger.get(new).status_code == 200


@pytest.mark.parametrize(
    ("email", "role", "sentence"),
    [
        ("rita@example.com", "owner", "in the project already"),
        ("no address", "viewer", "valid email address"),
        ("nina@example.com", "king", "not one of the available choices"),
    ],
)
def test_what_is_wrong_with_an_invitation_is_said_beside_the_field(
    client: Client, cast: Cast, email: str, role: str, sentence: str
) -> None:
    client.force_login(cast.olga)
    answer = client.post("/p/shop/invitations", {"email": email, "role": role})
    assert answer.status_code == 422
    assert sentence in words(answer)
    assert not Invitation.objects.exists()


def test_somebody_new_sets_a_name_and_a_password_and_is_in(client: Client, cast: Cast) -> None:
    path = invite(client, cast)
    nina = Client()
    page = words(nina.get(path))
    assert "Olga invites" in page
    assert "Come into Shop" in page
    answer = nina.post(path, NEW)
    assert (answer.status_code, answer["Location"]) == (302, "/p/shop/review")
    person = Person.objects.get(email="nina@example.com")
    assert (person.name, member(person).role) == ("Nina", Role.REVIEWER)
    assert nina.get("/p/shop/people").status_code == 200
    assert actions(cast) == ["invitation.create", "invitation.accept"]
    assert Client().post("/sign-in", {"login": "nina@example.com", "password": LINE}).status_code == 302


def test_a_weak_password_is_said_beside_the_field_and_the_link_stays_good(client: Client, cast: Cast) -> None:
    path = invite(client, cast)
    nina = Client()
    answer = nina.post(path, {**NEW, "password1": "short", "password2": "short"})
    assert answer.status_code == 422
    assert "too short" in words(answer)
    assert 'value="Nina"' in words(answer)
    assert nina.post(path, NEW).status_code == 302


def test_used_expired_withdrawn_and_invented_links_answer_byte_for_byte_alike(client: Client, cast: Cast) -> None:
    used, expired, withdrawn = (invite(client, cast, f"{name}@example.com") for name in ("a", "b", "c"))
    assert Client().post(used, NEW).status_code == 302
    Invitation.objects.filter(email="b@example.com").update(expires_at=timezone.now() - timedelta(seconds=1))
    waiting = Invitation.objects.get(email="c@example.com")
    client.post(f"/p/shop/invitations/{waiting.pk}/withdrawal")
    answers = [Client().get(path) for path in (used, expired, withdrawn, "/invitation/invented")]
    assert {answer.status_code for answer in answers} == {404}
    fresh = r'nonce="[^"]*"|"X-CSRFToken": "[^"]*"'  # new on every page
    assert len({re.sub(fresh, "", words(answer)) for answer in answers}) == 1
    assert GONE in words(answers[0])
    assert {Client().post(path, NEW).status_code for path in (used, expired, withdrawn)} == {404}
    assert not Person.objects.filter(email__in=["b@example.com", "c@example.com"]).exists()


def test_an_address_with_an_account_must_be_signed_in_to(client: Client, cast: Cast) -> None:
    path = invite(client, cast, "Sam@example.com", "owner")
    stranger = Client()
    assert "This address has a sign-in here" in words(stranger.get(path))
    stranger.post(path, NEW)  # no way round: a link that an owner was shown sets nobody's password
    assert Client().post("/sign-in", {"login": "sam@example.com", "password": LINE}).status_code == 200

    assert "You are signed in as rita@example.com" in words(_as(cast.rita).get(path))
    _as(cast.rita).post(path)
    assert member(cast.rita).role == Role.REVIEWER

    signed_in = stranger.post("/sign-in", {"login": "sam@example.com", "password": PASSWORD, "next": path})
    assert signed_in["Location"] == path
    assert "Accept" in words(stranger.get(path))
    assert stranger.post(path)["Location"] == "/p/shop/start"
    assert member(cast.sam).role == Role.OWNER


def _as(person: Person) -> Client:
    client = Client()
    client.force_login(person)
    return client


def test_two_invitations_of_one_address_accepted_at_once_make_one_account(
    client: Client, cast: Cast, monkeypatch: pytest.MonkeyPatch
) -> None:
    link = invite(_as(cast.olga), cast)
    is_valid = people_pages.Join.is_valid

    def and_the_other_is_accepted(form: people_pages.Join) -> bool:
        factories.person("Nina@example.com")
        return is_valid(form)

    monkeypatch.setattr(people_pages.Join, "is_valid", and_the_other_is_accepted)
    form = {"name": "Nina", "password1": "another ruled line", "password2": "another ruled line"}
    answer = client.post(link, form)
    assert (answer.status_code, answer["Location"]) == (302, link)
    assert Person.objects.get(email="nina@example.com").check_password(PASSWORD)
    assert "Sign in" in client.get(link).content.decode()


def test_an_invitation_never_lowers_a_role(client: Client, cast: Cast) -> None:
    path = invite(client, cast, "sam@example.com", "viewer")
    Membership.objects.create(project=cast.project, person=cast.sam, role=Role.REVIEWER)
    _as(cast.sam).post(path)
    assert member(cast.sam).role == Role.REVIEWER


def test_an_owner_changes_a_role_and_takes_somebody_out_with_her_keys(client: Client, cast: Cast) -> None:
    client.force_login(cast.olga)
    rita = member(cast.rita)
    key, _ = ApiKey.objects.issue(cast.support, cast.rita)
    assert client.post(f"/p/shop/members/{rita.pk}/role", {"role": "viewer"}).status_code == 302
    assert member(cast.rita).role == Role.VIEWER
    assert client.post(f"/p/shop/members/{rita.pk}/removal").status_code == 302
    assert not Membership.objects.filter(person=cast.rita).exists()
    key.refresh_from_db()
    assert key.revoked_at is not None
    assert actions(cast) == ["membership.role", "key.revoke", "membership.remove"]
    assert _as(cast.rita).get("/p/shop/people").status_code == 404


def test_the_last_owner_neither_leaves_nor_steps_down(client: Client, cast: Cast) -> None:
    client.force_login(cast.olga)
    pk = member(cast.olga).pk
    for path, fields in ((f"members/{pk}/role", {"role": "viewer"}), (f"members/{pk}/removal", {})):
        answer = client.post(f"/p/shop/{path}", fields)
        assert answer.status_code == 422
        assert "keeps at least one owner" in words(answer)
    assert member(cast.olga).role == Role.OWNER
    client.post(f"/p/shop/members/{member(cast.vera).pk}/role", {"role": "owner"})
    assert client.post(f"/p/shop/members/{pk}/removal")["Location"] == "/"


def test_a_member_of_another_project_is_out_of_reach(client: Client, cast: Cast) -> None:
    client.force_login(cast.olga)
    foreign = Membership.objects.get(person=cast.sam)
    assert client.post(f"/p/shop/members/{foreign.pk}/role", {"role": "viewer"}).status_code == 404
    assert client.post(f"/p/shop/members/{foreign.pk}/removal").status_code == 404


def test_names_and_addresses_that_look_like_markup_stay_text(client: Client, cast: Cast) -> None:
    bold = factories.person("b@example.com", name="<b onclick=x>Bea</b>")
    Membership.objects.create(project=cast.project, person=bold, role=Role.VIEWER)
    client.force_login(cast.olga)
    page = words(client.get("/p/shop/people"))
    assert "<b onclick" not in page
    assert "&lt;b onclick" in page
