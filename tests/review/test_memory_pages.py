"""The list of all memories: what stands in which view, and how it is narrowed."""

from __future__ import annotations

from datetime import datetime, timedelta

import pytest

from memory.models import Fact
from projects import tenancy
from tests import factories
from tests.factories import Cast
from tests.review.test_desk import signed_in

pytestmark = pytest.mark.django_db


def listed(cast: Cast, query: str) -> str:
    return signed_in(cast.rita).get(f"/p/shop/memory?{query}").content.decode()


def known(cast: Cast, text: str, **fields: object) -> Fact:
    with tenancy.project(cast.project.pk):
        return factories.approved(cast.project, cast.rita, text, **fields)


def test_what_has_ended_by_the_clock_is_not_listed_as_approved(cast: Cast, now: datetime) -> None:
    known(cast, "Parcels go to Mill Lane.")
    over = known(cast, "Closed until noon.", key="environment:hours", now=now - timedelta(hours=2))
    with tenancy.project(cast.project.pk):
        Fact.objects.filter(pk=over.pk).update(expires_at=now)
    page = listed(cast, "view=approved")
    assert "Parcels go to Mill Lane." in page
    assert "Closed until noon." not in page
    assert "Approved<span>1</span>" in page
    assert "Ended<span>1</span>" in page
    assert "Closed until noon." in listed(cast, "view=ended")


def test_the_list_is_narrowed_to_what_was_seen_often(cast: Cast) -> None:
    often, once = known(cast, "Run make seed first."), known(cast, "Use port 5433.", key="environment:port")
    with tenancy.project(cast.project.pk):
        Fact.objects.filter(pk=often.pk).update(times_seen=8)
    page = listed(cast, "seen=7")
    assert f'id="fact-{often.short_id}"' in page
    assert f'id="fact-{once.short_id}"' not in page
    assert "seen 7 times or more" in page
    for odd in ("seen=-1", "seen=x", "seen=99999999999999999999", "seen=%D9%A3"):
        assert f'id="fact-{once.short_id}"' in listed(cast, odd), odd
