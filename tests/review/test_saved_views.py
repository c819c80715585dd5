"""Views of the list under a name: the address alone shows the same, and nothing else is kept of it."""

from __future__ import annotations

import pytest
from django.db import connections
from django.http import QueryDict
from django.test import Client
from django.test.utils import CaptureQueriesContext

from projects import tenancy
from projects.models import Person
from review.models import SavedView
from review.pages import saved_views
from tests import factories
from tests.factories import Cast
from tests.review.test_desk import signed_in

pytestmark = pytest.mark.django_db

HERE = "view=rejected&type=fix&agent=sales&agent=support"


def save(client: Client, name: str, here: str = HERE, **data: str):  # type: ignore[no-untyped-def]
    return client.post(f"/p/shop/views?{here}", {"name": name, **data}, follow=True)


def names(person: Person) -> list[str]:
    with tenancy.system("command"):
        return list(SavedView.objects.filter(person=person).values_list("name", flat=True))


@pytest.mark.parametrize(
    ("address", "kept"),
    [
        ("type=fix&before=m_1&done=x&utm_source=mail", "type=fix"),
        ("agent=support&agent=sales&agent=sales", "agent=sales&agent=support"),
        ("view=approved", ""),
        ("view=approved&q=%20refund%20", "q=refund"),
        ("q=" + "a" * 301, ""),
        ("q=&type=&seen=5", "seen=5"),
        ("by=" + "&by=".join(str(number) for number in range(100, 140)), None),
        ("csrfmiddlewaretoken=secret&next=//evil.example", ""),
    ],
)
def test_only_what_says_which_memories_is_kept(address: str, kept: str | None) -> None:
    found = saved_views.cleaned(QueryDict(address))
    if kept is None:
        assert found.count("by=") == saved_views.MOST_VALUES
    else:
        assert found == kept
    assert saved_views.cleaned(QueryDict(found)) == found


def test_a_view_is_saved_shown_with_its_count_renamed_and_taken_away(cast: Cast) -> None:
    with tenancy.project(cast.project.pk):
        for number in range(3):
            fact = factories.proposal(cast.project, f"Fix {number}.", key=f"fix:{number}")
            fact.reject(cast.rita, revision=fact.revision, now=fact.first_seen_at, reason="vague")
    rita = signed_in(cast.rita)
    page = save(rita, "Bad fixes").content.decode()
    assert "Saved as “Bad fixes”" in page
    assert '<bdi dir="auto">Bad fixes</bdi><span>3</span>' in page
    with tenancy.system("command"):
        view = SavedView.objects.get()
    assert view.query == "view=rejected&type=fix&agent=sales&agent=support"
    page = rita.post(f"/p/shop/views/{view.pk}", {"name": "Refused fixes"}, follow=True).content.decode()
    assert '<bdi dir="auto">Refused fixes</bdi>' in page
    page = rita.post(f"/p/shop/views/{view.pk}/end", follow=True).content.decode()
    assert "its filters are still set" in page
    assert names(cast.rita) == []


def test_the_address_alone_shows_the_same(cast: Cast) -> None:
    with tenancy.project(cast.project.pk):
        factories.approved(cast.project, cast.rita, "Sarah prefers e-mail.")
        factories.approved(cast.project, cast.rita, "The shop opens at nine.", key="note:hours", about="customer:other")
    save(signed_in(cast.rita), "Mine", "q=e-mail")
    for person in (cast.rita, cast.vera):
        page = signed_in(person).get("/p/shop/memory?q=e-mail").content.decode()
        assert "Sarah prefers" in page
        assert "opens at nine" not in page
    with tenancy.system("command"):
        SavedView.objects.update(query="q=e-mail&view=approved")  # kept by an earlier version, in another order
    assert "This view" in signed_in(cast.rita).get("/p/shop/memory?q=e-mail").content.decode()
    assert "Mine" in signed_in(cast.rita).get("/p/shop/memory").content.decode()
    assert "Mine" not in signed_in(cast.vera).get("/p/shop/memory").content.decode()


def test_a_reviewer_shares_a_view_and_a_viewer_cannot(cast: Cast) -> None:
    save(signed_in(cast.rita), "Shared one", shared="1")
    save(signed_in(cast.vera), "Own one", "type=fix", shared="1")
    with tenancy.system("command"):
        assert SavedView.objects.get(name="Shared one").person is None
        assert SavedView.objects.get(name="Own one").person == cast.vera
        shared = SavedView.objects.get(name="Shared one")
        own = SavedView.objects.get(name="Own one")
    assert "Shared one" in signed_in(cast.vera).get("/p/shop/memory").content.decode()
    assert signed_in(cast.vera).post(f"/p/shop/views/{shared.pk}", {"name": "X"}).status_code == 404
    assert signed_in(cast.rita).post(f"/p/shop/views/{own.pk}/end").status_code == 404
    assert signed_in(cast.olga).post(f"/p/shop/views/{shared.pk}", {"name": "Ours"}).status_code == 302


@pytest.mark.parametrize(
    ("name", "here", "says"),
    [
        ("", HERE, "Give the view a name"),
        ("All", "view=approved&before=m_1", "the whole list needs no name"),
        ("Twice", HERE, "There is a view “Twice” already"),
        ("Long", "subject=" + "&subject=".join(["ü" * 299] * 2), "too long"),
    ],
)
def test_what_cannot_be_saved_says_why(cast: Cast, name: str, here: str, says: str) -> None:
    rita = signed_in(cast.rita)
    save(rita, "Twice", "type=error")
    assert says in save(rita, name, here).content.decode()
    assert names(cast.rita) == ["Twice"]


def test_more_than_ten_are_refused_and_the_list_stays_bounded(cast: Cast) -> None:
    rita = signed_in(cast.rita)

    def queries() -> int:
        with CaptureQueriesContext(connections["default"]) as seen:
            rita.get("/p/shop/memory")
        return len(seen)

    before = queries()
    for number in range(12):
        save(rita, f"View {number:02}", f"seen={number + 2}&subject=cust_123&by={cast.rita.pk}")
    assert len(names(cast.rita)) == saved_views.MOST
    # A count, the subject and the people of each.
    assert queries() <= before + 3 * saved_views.MOST
