"""The review policy: who may change what, when "on arrival" may be chosen, and who is told what became of it."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.db import connection
from django.http import HttpResponse
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from memory.models import Fact
from projects import tenancy
from projects.models import AuditEvent, Membership, Person, Project
from review.deciding import arrival, decisions, policy, sampling
from review.deciding.policy import Level, Policy
from tests.factories import Cast
from tests.review.arriving import found, rule_for
from tests.review.test_desk import signed_in

pytestmark = pytest.mark.django_db

PAGE = "/p/shop/policy"


def standing(cast: Cast) -> Policy:
    with tenancy.project(cast.project.pk):
        return Policy.of(Project.objects.get(pk=cast.project.pk))


def send(client: Client, cast: Cast, **fields: object) -> HttpResponse:
    """The form as the page shows it, with these fields changed; a level as `level_fix`."""
    now = standing(cast)
    form: dict[str, object] = {"sitting": now.sitting, "seen": now.version}
    form |= {"gold": "on"} if now.gold else {}
    form |= {name.replace("level_", "level-"): value for name, value in fields.items()}
    return client.post(PAGE, form)


def decide_many(cast: Cast, person: Person, count: int) -> None:
    now = timezone.now()
    with tenancy.project(cast.project.pk):
        member = Membership.objects.get(project=cast.project, person=person)
        for number in range(count):
            fact = found(cast, number, now=now)
            decisions.decide(member, fact, "approve", fact.revision, {}, now)


def test_everybody_reads_it_and_an_owner_changes_it(cast: Cast) -> None:
    for person, status in ((cast.vera, 403), (cast.rita, 403), (cast.olga, 302)):
        client = signed_in(person)
        page = client.get(PAGE)
        assert page.status_code == 200
        assert ("Keep these" in page.content.decode()) == (status == 302)
        assert send(client, cast, sitting=20).status_code == status
    assert standing(cast).sitting == 20


def test_a_change_says_who_and_when_and_is_in_the_audit(cast: Cast) -> None:
    olga = signed_in(cast.olga)
    send(olga, cast, sitting=25, level_fix="one by one")
    rule = standing(cast).rules["fix"]
    assert (rule.level, rule.by) == (Level.ONE_BY_ONE, cast.olga.pk)
    assert rule.since is not None
    with tenancy.project(cast.project.pk):
        kept = Project.objects.get(pk=cast.project.pk).review_policy
    assert kept["levels"]["fix"] == {"level": "one by one", "since": rule.since.isoformat(), "by": cast.olga.pk}
    with tenancy.project(cast.project.pk):
        trail = AuditEvent.objects.get(action="policy.change")
    assert (trail.actor_id, trail.count) == (cast.olga.pk, 2)
    page = olga.get(PAGE).content.decode()
    for words in ("What was changed", "Cards in one sitting", '<td data-l="From">40</td>', ">Olga</td>", "One by one"):
        assert words in page
    assert send(olga, cast).status_code == 302
    assert standing(cast).version == 1, "nothing changed is no change"


@pytest.mark.parametrize("sitting", ["4", "201", "", "many", "-1"])
def test_a_sitting_has_bounds(cast: Cast, sitting: str) -> None:
    answer = send(signed_in(cast.olga), cast, sitting=sitting)
    assert answer.status_code == 422
    assert standing(cast).sitting == 40


def test_two_owners_do_not_overwrite_each_other(cast: Cast) -> None:
    first = signed_in(cast.olga)
    send(first, cast, sitting=20)
    answer = first.post(PAGE, {"sitting": 30, "seen": 0})
    assert answer.status_code == 409
    assert "Somebody changed the policy" in answer.content.decode()
    assert 'value="20"' in answer.content.decode()
    assert standing(cast).sitting == 20


def test_on_arrival_is_not_there_before_sixty_clean_decisions(cast: Cast, monkeypatch: pytest.MonkeyPatch) -> None:
    olga = signed_in(cast.olga)
    assert "0 of 60 decisions without a severe reject" in olga.get(PAGE).content.decode()
    monkeypatch.setattr(sampling, "NEEDED", 5)
    decide_many(cast, cast.rita, 4)
    page = olga.get(PAGE).content.decode()
    assert "4 of 5 decisions without a severe reject" in page
    assert 'name="level-fix" value="on arrival"' not in page
    answer = send(olga, cast, level_fix="on arrival")
    assert answer.status_code == 422
    assert "cannot come in on arrival" in answer.content.decode()
    assert not standing(cast).rules
    with tenancy.project(cast.project.pk):
        fact = found(cast, 100, now=timezone.now())
        member = Membership.objects.get(project=cast.project, person=cast.rita)
        decisions.decide(member, fact, "approve", fact.revision, {}, timezone.now())
    assert 'name="level-fix" value="on arrival"' in olga.get(PAGE).content.decode()
    assert send(olga, cast, level_fix="on arrival").status_code == 302
    assert set(standing(cast).arriving) == {"fix"}


def test_types_that_are_reviewed_one_by_one_stay_so(cast: Cast) -> None:
    olga = signed_in(cast.olga)
    page = olga.get(PAGE).content.decode()
    assert 'name="level-sentiment" value="as a list"' not in page
    assert "Always one by one" in page
    for level in ("as a list", "on arrival"):
        send(olga, cast, level_sentiment=level)
        assert standing(cast).level("sentiment") == Level.ONE_BY_ONE
    assert "sentiment" not in standing(cast).rules


def test_the_type_table_is_stricter_than_a_rule(shop: Cast) -> None:
    now = timezone.now()
    rule_for(shop, now)
    shop.project.refresh_from_db()
    shop.project.types = {"fix": {"one_by_one": True}}
    shop.project.save(update_fields=["types"])
    assert Policy.of(shop.project).level("fix") == Level.ONE_BY_ONE
    assert not Policy.of(shop.project).arriving


@pytest.mark.parametrize("written", [{"levels": {"fix": {"level": "never"}}}, {"levels": 3, "sitting": "many"}, [], 7])
def test_an_unreadable_policy_is_the_one_that_is_shipped(shop: Cast, written: object) -> None:
    shop.project.review_policy = written
    assert Policy.of(shop.project).sitting == 40
    assert Policy.of(shop.project).level("fix") == Level.LIST
    assert not Policy.of(shop.project).arriving


def test_the_page_tells_the_watch_and_its_bound(cast: Cast) -> None:
    now = timezone.now()
    with tenancy.project(cast.project.pk):
        rule_for(cast, now)
        facts = [found(cast, number, now=now) for number in range(3)]
    arrival.sweep(now)
    page = signed_in(cast.olga).get(PAGE).content.decode()
    assert "Olga’s rule of" in page
    assert "3 came in," in page
    assert "0 of 3 drawn were looked at." in page
    assert "Nothing is known yet" in page
    with tenancy.project(cast.project.pk):
        member = Membership.objects.get(project=cast.project, person=cast.rita)
        for fact in Fact.objects.filter(pk__in=[one.pk for one in facts]):
            decisions.decide(member, fact, "approve", fact.revision, {}, now)
    page = signed_in(cast.olga).get(PAGE).content.decode()
    # 1 − 0.05^(1/3): three clean ones say little.
    assert "at most 63.2 % of what came in is severe" in page


def test_an_ended_rule_is_told_until_an_owner_has_seen_it(cast: Cast) -> None:
    now = timezone.now()
    with tenancy.project(cast.project.pk):
        rule_for(cast, now)
        fact = found(cast, 1, now=now, kind="message", role="user")
        found(cast, 2, now=now)
    arrival.sweep(now)
    with tenancy.project(cast.project.pk):
        Fact.objects.filter(key="fix:step.2").update(review_due_at=None)
        member = Membership.objects.get(project=cast.project, person=cast.rita)
        decisions.decide(member, fact, "reject", fact.revision, {"reason": "misread"}, now + timedelta(seconds=1))
    olga, rita = signed_in(cast.olga), signed_in(cast.rita)
    for client, sees in ((olga, True), (rita, False)):
        strip = "“On arrival” for fix has ended" in client.get("/p/shop/memory").content.decode()
        assert strip == sees, "a strip on every page, for who can do something about it"
    page = olga.get(PAGE).content.decode()
    assert "Misread the quote" in page
    assert "1 memory went back in the pile" in page
    assert "a severe reject" in page
    assert rita.post("/p/shop/policy/fix/note").status_code == 403
    assert olga.post("/p/shop/policy/fix/note").status_code == 302
    assert olga.post("/p/shop/policy/nothing/note").status_code == 404
    assert "has ended" not in olga.get("/p/shop/memory").content.decode()
    assert not standing(cast).ended


def test_planted_cards_are_offered_to_a_busy_team_only(cast: Cast) -> None:
    olga = signed_in(cast.olga)
    page = olga.get(PAGE).content.decode()
    assert "Offered from 3 reviewers and 300 decisions a week." in page
    assert "There are 2 reviewers and 0 decisions in the last week." in page
    assert 'name="gold"' not in page
    assert send(olga, cast, gold="on").status_code == 422
    assert not standing(cast).gold


def test_the_page_takes_the_same_queries_for_many_types(cast: Cast) -> None:
    olga = signed_in(cast.olga)
    olga.get(PAGE)
    with CaptureQueriesContext(connection) as few:
        olga.get(PAGE)
    with tenancy.project(cast.project.pk):
        Project.objects.filter(pk=cast.project.pk).update(
            types={f"type_{number}": {"words": f"type {number}"} for number in range(20)}
        )
        decide_many(cast, cast.rita, 3)
    with CaptureQueriesContext(connection) as many:
        olga.get(PAGE)
    assert len(many) <= len(few)


def test_the_policy_cannot_be_overwritten_by_a_rule_that_ends(shop: Cast) -> None:
    """Two things change it: an owner, and a severe reject. Each is one version further."""
    now = timezone.now()
    rule_for(shop, now)
    seen = Policy.of(shop.project).version
    fact = found(shop, 1, now=now, kind="message", role="user")
    member = Membership.objects.get(project=shop.project, person=shop.rita)
    decisions.decide(member, fact, "reject", fact.revision, {"reason": "not_true"}, now)
    with pytest.raises(policy.PolicyChanged):
        policy.change(shop.project, seen=seen, by=shop.olga, now=now, levels={"fix": Level.ARRIVAL})
