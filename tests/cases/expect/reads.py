"""What came through the doors of reading, and through none."""

from __future__ import annotations

from typing import Any

from tests.cases.expect.facts import said_by
from tests.cases.expect.registry import Look, check, figure
from tests.cases.result import Result
from tests.cases.stage import USUAL_AGENT, short_key

OPS = ("search", "lookup", "brief", "list", "get_by_id", "count", "history", "export", "text_filter", "context")
_NUMBERED = r"(search|lookup|list|count|get_by_id)_(\d+)"


@figure(_NUMBERED)
def values(look: Look, op: str, number: str) -> list[str]:
    return [said_by(fact) for fact in look.rows(look.nth(op, int(number)).facts)]


@figure(rf"{_NUMBERED}_keys")
def keys_of(look: Look, op: str, number: str) -> list[str]:
    return [short_key(fact) for fact in look.rows(look.nth(op, int(number)).facts)]


@figure(rf"{_NUMBERED}_rows")
def rows_of(look: Look, op: str, number: str) -> int | None:
    return look.nth(op, int(number)).rows


@figure(r"filter_(\d+)_keys")
def filter_keys(look: Look, number: str) -> list[str]:
    return sorted(short_key(fact) for fact in look.rows(look.nth("text_filter", int(number)).facts))


@figure(r"filter_(\d+)_rows")
def filter_rows(look: Look, number: str) -> int | None:
    return look.nth("text_filter", int(number)).rows


@figure("rows")
def rows(look: Look) -> int | None:
    return look.last().rows


@figure("keys")
def keys(look: Look) -> list[str]:
    return [short_key(fact) for fact in look.rows(look.last(*OPS).facts)]


@figure("total")
def total(look: Look) -> int:
    return int(look.last("list", "text_filter", "walk_pages").notes["total"])


@figure("unique_ids")
def unique_ids(look: Look) -> int:
    return len(set(look.last("walk_pages").facts))


@figure("duplicates")
def duplicates(look: Look) -> int:
    found = look.last("walk_pages").facts
    return len(found) - len(set(found))


@figure("search_rows")
def search_rows(look: Look) -> int | None:
    """Of the last search; where the case has none, of one for whom the case was about."""
    if look.of("search"):
        return look.last("search").rows
    entity = next(result.step["entity"] for result in reversed(look.results) if "entity" in result.step)
    said = look.stage.call(USUAL_AGENT, "POST", "facts/search", {"query": entity, "min_score": 0, "limit": 50})
    return len(said.body["items"])


@check(r"search_(\d+)_not_above_floor_with_text")
def not_found_with(look: Look, wanted: str, number: str) -> None:
    found = [said for said in values(look, "search", number) if wanted in said]
    assert not found, f"found: {found}"


@check("every_read_path_hides")
def hides(look: Look, wanted: Any) -> None:
    """By none of the doors; and what an agent cannot call at all is refused, not merely silent."""
    shut = {result.op: result.http for result in look.of("history", "export") if "agent" in result.step}
    assert set(shut.values()) <= {401, 403, 404}, f"not refused: {shut}"
    for words in wanted if isinstance(wanted, list) else [wanted]:
        told = [result.op for result in _reads(look) if words in result.text]
        assert not told, f"{words!r} was told by: {told}"


@check("every_read_path_shows")
def shows(look: Look, wanted: Any) -> None:
    for words in wanted if isinstance(wanted, list) else [wanted]:
        silent = [result.op for result in _reads(look) if words not in result.text]
        assert not silent, f"{words!r} was not told by: {silent}"


@figure("counts_do_not_reveal")
def counts_do_not_reveal(look: Look) -> bool:
    """No door gave as much as a number above nothing."""
    return all(not result.rows for result in _reads(look))


@figure("never_returns_scoped_rows")
def never_returns(look: Look) -> bool:
    return all(not result.facts and not result.rows for result in _reads(look))


@figure("visible")
def visible(look: Look) -> bool:
    """Through any door of reading."""
    return any(_seen(look, result) for result in _reads(look))


@figure("all_paths_agree")
def all_paths_agree(look: Look) -> bool:
    return len({_seen(look, result) for result in _reads(look)}) == 1


@figure("embedder_called")
def embedder_called(look: Look) -> bool:
    return bool(look.last("search").notes["embedded"])


def _reads(look: Look) -> list[Result]:
    found = look.of(*OPS)
    assert found, "the case reads nothing"
    return found


def _seen(look: Look, result: Result) -> bool:
    made = {pk for made in look.of("propose", "create_fact") for pk in made.facts}
    assert made, "nothing was made that could be seen"
    return bool(made & set(result.facts))
