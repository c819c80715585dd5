"""How a figure is held against what is wanted."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tests.cases.documented import number_of
from tests.cases.expect.registry import Look

MOST_SHOWN = 400


def same(look: Look, found: Any, wanted: Any) -> None:
    """Equal; a list that is wanted of a single word or number names those allowed."""
    if isinstance(wanted, bool):
        assert bool(found) is wanted, _told(found, wanted)
    elif isinstance(wanted, list) and not isinstance(found, list):
        assert found in wanted, _told(found, wanted)
    elif isinstance(wanted, str) and isinstance(found, int | float) and not isinstance(found, bool):
        assert found == number_of(wanted), _told(found, wanted)
    elif isinstance(wanted, str) and not isinstance(found, list):
        assert str(found) == wanted, _told(found, wanted)
    else:
        assert found == wanted, _told(found, wanted)


def is_in(look: Look, found: Any, wanted: Any) -> None:
    assert found in wanted, _told(found, wanted)


def at_most(look: Look, found: Any, wanted: Any) -> None:
    limit = number_of(wanted) if isinstance(wanted, str) else wanted
    assert found is not None, _told(found, wanted)
    assert found <= limit, f"{found}, wanted at most {limit}"


def at_least(look: Look, found: Any, wanted: Any) -> None:
    assert found is not None, _told(found, wanted)
    assert found >= wanted, f"{found}, wanted at least {wanted}"


def contains(look: Look, found: Any, wanted: Any) -> None:
    said = _said(found)
    missing = [one for one in _list(wanted) if one not in said]
    assert not missing, f"{_short(said)} does not hold {missing}"


def contains_not(look: Look, found: Any, wanted: Any) -> None:
    said = _said(found)
    held = [one for one in _list(wanted) if one in said]
    assert not held, f"{_short(said)} holds {held}"


def in_order(look: Look, found: Any, wanted: Any) -> None:
    assert sorted(found) == sorted(wanted), _told(sorted(found), wanted)


def in_order_in(look: Look, found: Any, wanted: Any) -> None:
    assert sorted(found) in wanted, _told(sorted(found), wanted)


# The longest first: `_not_contains` ends with `_contains`.
COMPARISONS: dict[str, Callable[[Look, Any, Any], None]] = {
    "_not_contains": contains_not,
    "_contains_all": contains,
    "_contains_any": lambda look, found, wanted: _any_in(found, wanted),
    "_contains": contains,
    "_sorted_in": in_order_in,
    "_sorted": in_order,
    "_at_most": at_most,
    "_at_least": at_least,
    "_max": at_most,
    "_min": at_least,
    "_in": is_in,
    "_is": same,
}


def _any_in(found: Any, wanted: Any) -> None:
    said = _said(found)
    assert any(one in said for one in _list(wanted)), f"{_short(said)} holds none of {wanted}"


def _said(found: Any) -> str:
    return found if isinstance(found, str) else "\n".join(map(str, found)) if isinstance(found, list) else str(found)


def _list(wanted: Any) -> list[Any]:
    return wanted if isinstance(wanted, list) else [wanted]


def _told(found: Any, wanted: Any) -> str:
    return f"{_short(found)!r}, wanted {wanted!r}"


def _short(found: Any) -> Any:
    return f"{found[:MOST_SHOWN]}…" if isinstance(found, str) and len(found) > MOST_SHOWN else found
