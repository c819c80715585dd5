"""Whom facts are about, and what is left of somebody."""

from __future__ import annotations

from memory.models import FactEmbedding, Session, Subject
from tests.cases.expect.pages import queue_rows
from tests.cases.expect.registry import Look, check, figure


@figure("entities")
def entities(look: Look) -> int:
    """Customers that the project knows."""
    with look.stage.looking():
        return Subject.objects.filter(project=look.stage.project, entity_type="customer").count()


@figure(r"(\w+)_rows")
def rows_of(look: Look, name: str) -> int | None:
    """`ben_rows`: cards in his pile. `alice_rows`: facts about her."""
    waiting = queue_rows(look, name)
    return waiting if waiting is not None else len(look.stage.facts(name))


@figure("remaining", "rows_left")
def remaining(look: Look) -> int:
    """Facts about whom was erased."""
    return sum(len(look.stage.facts(result.step["entity"])) for result in look.of("erase"))


@figure("receipt_count")
def receipt_count(look: Look) -> int:
    return int(look.last("erase").notes["receipt_count"])


@figure("tables_with_hit")
def tables_with_hit(look: Look) -> list[str]:
    return list(look.last("sql_grep_all_tables").notes["tables"])


@figure("embedding_rows")
def embedding_rows(look: Look) -> int:
    with look.stage.looking():
        return FactEmbedding.objects.filter(project=look.stage.project).count()


@figure("cache_hits")
def cache_hits(look: Look) -> int:
    """Answers since the erasure that still hold it."""
    erased = look.last("erase")
    after = look.results[look.results.index(erased) + 1 :]
    needles = [result.step["needle"] for result in look.of("sql_grep_all_tables")]
    return sum(needle in result.text for result in after for needle in needles if result.op != "sql_grep_all_tables")


@figure("session_recreated")
def session_recreated(look: Look) -> bool:
    with look.stage.looking():
        names = [result.step["session"] for result in look.of("capture")]
        return Session.objects.filter(project=look.stage.project, external_id__in=names).exists()


@check("late_event_in")
def late_event_in(look: Look, wanted: list[str]) -> None:
    """What the last capture was answered: dropped by a counted reason, kept apart, or refused whole."""
    last = look.last("capture")
    dropped = bool(last.body.get("dropped")) if isinstance(last.body, dict) else False
    stored = bool(last.body.get("accepted")) if isinstance(last.body, dict) else False
    became = "stored" if stored else "dropped" if dropped or last.refused else "quarantined"
    assert became in wanted, f"{became}, wanted one of {wanted}"


@figure("never_a_second_agent_row")
def one_agent_row(look: Look) -> bool:
    """No two agents whose names look the same."""
    import unicodedata

    from projects.models import Agent

    with look.stage.looking():
        slugs = Agent.objects.filter(project=look.stage.project).values_list("slug", flat=True)
        folded = [
            "".join(char for char in unicodedata.normalize("NFKC", slug).casefold().strip() if char.isprintable())
            for slug in slugs
        ]
    return len(folded) == len(set(folded))


@figure("zero_width_refused")
def zero_width_refused(look: Look) -> bool:
    """Every call by, or about, a name with a character that nobody sees was refused."""
    import unicodedata

    def hidden(value: object) -> bool:
        return isinstance(value, str) and any(unicodedata.category(char) == "Cf" for char in value)

    asked = [result for result in look.results if any(hidden(result.step.get(name)) for name in ("agent", "entity"))]
    return bool(asked) and all(result.refused for result in asked)
