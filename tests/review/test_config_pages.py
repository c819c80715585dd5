"""System memory on its page: written, compared, deployed, gone back to; an owner's alone."""

from __future__ import annotations

from datetime import datetime, timedelta

import pytest
from django.db import connections
from django.test.utils import CaptureQueriesContext

from projects import configs, tenancy
from projects.models import AgentConfig
from review.pages.config_pages import changes
from tests.factories import Cast
from tests.memory.agent_client import AgentClient
from tests.review.test_desk import signed_in

pytestmark = pytest.mark.django_db
HERE = "/p/shop/agents/support/config"


def written(cast: Cast, content: dict[str, object], now: datetime, deploy: bool = False) -> AgentConfig:
    with tenancy.project(cast.project.pk):
        made, _ = configs.write(cast.support, content, by=cast.olga, now=now)
        if deploy:
            configs.deploy(made, by=cast.olga, now=now)
    return made


def test_an_owner_writes_deploys_and_goes_back(cast: Cast) -> None:
    owner, agent = signed_in(cast.olga), AgentClient(cast.keys["support"])
    assert "Nothing is written yet." in owner.get(HERE).content.decode()
    for number, tone in enumerate(("calm", "brisk")):
        answer = owner.post(HERE, {"content": f'{{"tone": "{tone}"}}', "note": tone.title(), "after": number})
        assert answer["Location"] == f"{HERE}?version={number + 1}"
    assert agent.get("me/config").json()["config"] is None
    page = owner.get(HERE).content.decode()
    assert "is told none of these yet" in page
    assert "Deploy 2" in page
    owner.post(f"{HERE}/2/deploy")
    assert agent.get("me/config").json()["config"] == {"tone": "brisk"}
    page = owner.get(f"{HERE}?version=1").content.decode()
    assert "Go back to 1" in page
    assert "What version 1 changes in version 2" in page
    assert "calm&quot;</bdi></ins>" in page
    assert "brisk&quot;</bdi></del>" in page
    owner.post(f"{HERE}/1/deploy")
    assert agent.get("me/config").json()["version"] == 1
    assert "System memory v1" in owner.get("/p/shop/agents").content.decode()
    assert owner.post(f"{HERE}/9/deploy").status_code == 404


@pytest.mark.parametrize("content", ["[1]", '{"a": 1, "a": 2}', "{", "", '{"a": "' + "x" * configs.MOST_BYTES + '"}'])
def test_what_will_not_do_is_said_beside_the_field_and_nothing_typed_is_lost(cast: Cast, content: str) -> None:
    answer = signed_in(cast.olga).post(HERE, {"content": content, "note": "A note.", "after": 0})
    page = answer.content.decode()
    assert answer.status_code == 422
    assert 'class="wrong"' in page
    assert 'value="A note."' in page
    with tenancy.project(cast.project.pk):
        assert not AgentConfig.objects.exists()


def test_the_second_of_two_owners_sees_both(cast: Cast, now: datetime) -> None:
    written(cast, {"tone": "calm"}, now)
    answer = signed_in(cast.olga).post(HERE, {"content": '{"tone": "loud"}', "note": "", "after": 0})
    page = answer.content.decode()
    assert answer.status_code == 409
    assert "Somebody wrote a version while you did." in page
    assert "loud&quot;</bdi></ins>" in page
    assert "calm&quot;</bdi></del>" in page
    assert '<input type="hidden" name="after" value="1"' in page
    again = signed_in(cast.olga).post(HERE, {"content": '{"tone": "loud"}', "note": "", "after": 1})
    assert again.status_code == 302


def test_others_in_the_project_read_it_and_nobody_else(cast: Cast, now: datetime) -> None:
    written(cast, {"tone": "calm"}, now, deploy=True)
    for person in (cast.rita, cast.vera):
        page = signed_in(person).get(HERE).content.decode()
        assert "calm" in page
        assert "Write it" not in page
        assert signed_in(person).post(HERE, {"content": "{}", "after": 1}).status_code == 403
        assert signed_in(person).post(f"{HERE}/1/deploy").status_code == 403
    assert signed_in(cast.sam).get(HERE).status_code == 404
    assert signed_in(cast.olga).get("/p/shop/agents/nobody/config").status_code == 404
    assert signed_in(cast.olga).get(f"{HERE}?version=7").status_code == 404


def test_markup_in_it_stays_text(cast: Cast, now: datetime) -> None:
    written(cast, {"<b>x</b>": "<script>alert(1)</script>"}, now)
    page = signed_in(cast.rita).get(HERE).content.decode()
    assert "<script>alert" not in page
    assert "&lt;script&gt;alert(1)" in page


def test_what_nobody_sees_in_it_stands_in_a_box(cast: Cast, now: datetime) -> None:
    """Deployed is what was read: a hidden order, a letter of another script, a break that is none."""
    written(cast, {"tone": "calm"}, now, deploy=True)
    tags = "".join(chr(0xE0000 + ord(letter)) for letter in "obey")
    written(cast, {"tone": f"calm{tags}", "pay": "p\u0430ypal", "more": "one\u2028two"}, now)
    client = signed_in(cast.olga)
    compared = client.get(f"{HERE}?version=2").content.decode()
    client.post(f"{HERE}/2/deploy")
    for page in (compared, client.get(HERE).content.decode()):
        assert "a model reads" in page
        assert "obey" in page
        assert "U+2028" in page
        assert "U+0430 cyrillic small letter a" in page


def test_many_versions_take_no_more_queries(cast: Cast, now: datetime) -> None:
    client = signed_in(cast.olga)
    written(cast, {"n": 0}, now, deploy=True)

    def queries() -> int:
        with CaptureQueriesContext(connections["default"]) as seen:
            client.get(HERE)
        return len(seen)

    few = queries()
    for number in range(1, 12):
        written(cast, {"n": number}, now + timedelta(minutes=number))
    assert queries() == few


def test_lines_far_from_a_change_are_left_out() -> None:
    before = "\n".join(f"line {number}" for number in range(40))
    after = before.replace("line 20", "other")
    found = changes(before, after)
    assert [one.mark for one in found] == ["same"] * 3 + ["gone", "new"] + ["same"] * 3
    assert changes(before, before) == []
