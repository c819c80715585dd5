"""The brief, as the model reads it."""

from __future__ import annotations

import re
from typing import Any

from memory import tokens
from tests.cases.expect.registry import Look, check, figure
from tests.cases.stage import USUAL_AGENT

_ENTRY = re.compile(r"- \[f-[0-9a-z]+\] .+")


def answer(look: Look) -> dict[str, Any]:
    body = look.last("brief").body
    assert isinstance(body, dict), "there is no brief"
    assert "text" in body, f"no brief: {body}"
    return body


@figure("brief", "brief_text")
def brief(look: Look) -> str:
    return str(answer(look)["text"])


@figure(r"brief_(\d+)")
def brief_at(look: Look, number: str) -> str:
    return str(look.nth("brief", int(number)).body["text"])


@check("contains_all")
def contains_all(look: Look, wanted: list[str]) -> None:
    missing = [one for one in wanted if one not in brief(look)]
    assert not missing, f"not in the brief: {missing}"


@figure("tokens")
def token_count(look: Look) -> int:
    """Counted anew from the text: the larger of that and what the answer says."""
    return max(tokens.count(brief(look)), int(answer(look)["tokens"]))


@figure("ends_on_entry_boundary")
def ends_on_entry(look: Look) -> bool:
    """The last line is a whole entry: its text is that of a memory as it is kept."""
    said = brief(look)
    last = said.rstrip("\n").split("\n")[-1]
    whole = [item["text"] for item in answer(look)["items"]]
    return said.endswith("\n") and _ENTRY.fullmatch(last) is not None and any(text in last for text in whole)


@check(r"brief_has_single_(\w+)_line")
def single_line(look: Look, wanted: bool, key: str) -> None:
    items = [item for item in answer(look)["items"] if item["key"].partition(":")[2] == key]
    assert (len(items) == 1) is wanted, f"{len(items)} entries of {key}: {[item['text'] for item in items]}"


@check("never_in_brief")
def never_in_brief(look: Look, wanted: str) -> None:
    """Neither in one that was asked for, nor in one asked for now about everything."""
    told = [result.text for result in look.of("brief")]
    now = look.stage.call(USUAL_AGENT, "POST", "briefs", {"max_tokens": 5000, "task": wanted})
    assert now.status == 200, f"no brief: {now.status}"
    assert not any(wanted in text for text in [*told, now.text]), "it stands in a brief"


def given_fact(look: Look, key: str, wanted: str) -> None:
    """`skipped or cut with a pointer`: the memory of that key is not in the brief and named as left out, or its line
    is shorter than what it says and bears its id."""
    assert wanted.startswith("skipped"), f"this runner does not know {wanted!r}"
    fact = look.stage.fact(key)
    assert fact is not None, f"no memory {key}"
    left_out = [one["id"] for one in answer(look)["dropped"]]
    lines = [line for line in brief(look).split("\n") if fact.short_id in line]
    sent = next(str(row["value"]) for row in look.stage.case.given if row["key"] == key)
    assert fact.short_id in left_out or (lines and len(lines[0]) < len(sent)), "neither left out nor cut"
