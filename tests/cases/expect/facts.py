"""Facts: how many, in which state, saying what, and how they stand to each other."""

from __future__ import annotations

from collections import Counter
from typing import Any

from memory.models import Fact, Relation, Status
from tests.cases.expect.registry import Look, check, figure
from tests.cases.stage import short_key

ALIVE = (Status.PROPOSED, Status.APPROVED)
OFFERED = {
    "": "separate proposal",
    Relation.CONFLICTS: "conflict",
    Relation.CHANGES: "change",
    Relation.SAME_THING: "near duplicate",
}


@figure("facts")
def facts(look: Look) -> int:
    return len(look.facts())


@figure("value")
def value(look: Look) -> str:
    return said_by(only(look.facts()))


@figure("key")
def key(look: Look) -> str:
    return short_key(only(look.facts()))


@figure("type")
def type_(look: Look) -> str:
    return only(look.facts()).type


@figure("type_assigned")
def type_assigned(look: Look) -> bool:
    return bool(look.facts()) and all(fact.type for fact in look.facts())


@figure("pending", "proposed")
def pending(look: Look) -> int:
    return len(look.facts(Status.PROPOSED))


@figure("active_rows")
def active_rows(look: Look) -> int:
    return len(look.facts(*ALIVE))


@figure("(approved|rejected|merged|lapsed|removed|superseded|expired)")
def in_state(look: Look, status: str) -> int:
    if status == "merged" and look.of("propose"):
        last = look.last("propose")
        return int(last.http == 200) or len(look.facts(Status.MERGED))
    return len(look.facts(status))


@figure("active_value")
def active_value(look: Look) -> str:
    """What holds under the key that was proposed last."""
    newest = look.rows(look.last("propose", "create_fact").facts)[0]
    return said_by(only([fact for fact in look.facts(Status.APPROVED) if _one_key(fact, newest)]))


@figure("current_value")
def current_value(look: Look) -> str:
    return said_by(only(look.facts(Status.APPROVED)))


@figure("old_row_status")
def old_row_status(look: Look) -> str:
    return look.facts()[0].status


@figure("old_row_kept_in_history")
def old_row_kept(look: Look) -> bool:
    """Its page still opens, with what it said, and it names what took its place."""
    old = look.facts()[0]
    said = look.stage.page("rita", f"/facts/{old.short_id}")
    return said.status == 200 and old.text in said.text and old.superseded_by_id is not None


@figure("old_one_stored_as")
def old_one_stored_as(look: Look) -> str:
    """Where what was told later, of an earlier time, went."""
    late = look.rows(look.last("propose").facts)[0]
    current = next(fact for fact in look.facts(Status.APPROVED) if _one_key(fact, late))
    is_before = late.status == Status.SUPERSEDED and late.superseded_by_id == current.pk
    return "history before the current one" if is_before else f"{late.status}"


@check("never_fact_text")
def never_fact_text(look: Look, wanted: Any) -> None:
    banned = wanted if isinstance(wanted, list) else [wanted]
    bad = [fact.text for fact in look.facts() for one in banned if one in f"{fact.text} {fact.key} {fact.value}"]
    assert not bad, f"a fact says it: {bad}"


@figure("evidence_merged")
def evidence_merged(look: Look) -> bool:
    """One fact that every one of those who said it was told of, with each quote that was shown, once."""
    said = [result for result in look.of("propose") if result.http in (200, 201)]
    fact = only(look.facts(*ALIVE))
    shown = {(result.step["session"], result.step["quote"]) for result in said if result.step.get("quote")}
    return all(result.facts == [fact.pk] for result in said) and fact.evidence.count() == len(shown)


@figure("offered_as")
def offered_as(look: Look) -> str:
    last = look.rows(look.last("propose").facts)[0]
    return OFFERED[last.relation] if last.status == Status.PROPOSED else last.status


@figure("second_text_kept")
def second_text_kept(look: Look) -> bool:
    words = str(look.last("propose").step["value"])
    return any(words in fact.text for fact in look.facts())


@figure("same_fact")
def same_fact(look: Look) -> bool:
    return bool(look.last("dedup_pair").notes["same_fact"])


@figure("conflict")
def conflict(look: Look) -> bool:
    return bool(look.last("dedup_pair").notes["conflict"])


@figure("facts_unique", "facts_once")
def facts_unique(look: Look) -> bool:
    """Each is there once, and a reading that was begun again did not count it twice."""
    alive = look.facts(*ALIVE)
    said = Counter((fact.subject_id, fact.fingerprint) for fact in alive)
    told_once = look.session is None or all(fact.times_seen == 1 for fact in alive)
    is_heard = look.session is None or bool(alive)
    return is_heard and told_once and all(count == 1 for count in said.values())


@figure(r"(\w+)_facts")
def of_a_type(look: Look, name: str) -> int:
    return sum(fact.type == name for fact in look.facts())


@figure("remaining_keys")
def remaining_keys(look: Look) -> list[str]:
    return sorted(short_key(fact) for fact in look.facts(*ALIVE))


@figure("swept")
def swept(look: Look) -> bool:
    """The sweep said of what had ended that it has."""
    ended = [fact for fact in look.facts() if fact.expires_at is not None and fact.expires_at <= look.stage.clock.at]
    return bool(ended) and all(fact.status == Status.EXPIRED for fact in ended)


def only(found: list[Fact]) -> Fact:
    assert len(found) == 1, f"{len(found)} facts where one was expected: {[fact.text[:80] for fact in found]}"
    return found[0]


def said_by(fact: Fact) -> str:
    """Its value as a case writes it: a text as it is, else its sentence."""
    return fact.value if isinstance(fact.value, str) else fact.text


def _one_key(fact: Fact, other: Fact) -> bool:
    return (fact.subject_id, fact.type, fact.key) == (other.subject_id, other.type, other.key)
