"""What capture stored."""

from __future__ import annotations

from datetime import timedelta
from typing import Any
from zoneinfo import ZoneInfo

from memory.capture_batch import CLOCK_MAY_RUN_AHEAD
from tests.cases.documented import chosen
from tests.cases.expect.registry import Look, check, figure
from tests.cases.script import moment

CUT = "characters cut"
IMAGE = "[image"


@figure("stored_observations")
def stored_observations(look: Look) -> int:
    return len(look.observations())


@figure("stored")
def stored(look: Look) -> list[str]:
    return [row.text for row in look.observations()]


@figure("text")
def text(look: Look) -> str:
    return "\n".join(row.text for row in look.observations())


@figure(r"text_(\d+)")
def text_at(look: Look, number: str) -> str:
    return look.observations()[int(number)].text


@check(r"text_(\d+)_keeps")
def text_keeps(look: Look, wanted: list[str], number: str) -> None:
    said = look.observations()[int(number)].text
    missing = [one for one in wanted if one not in said]
    assert not missing, f"{said[:200]!r} lost {missing}"


@figure("no_nul_anywhere")
def no_nul(look: Look) -> bool:
    """In no observation and no fact, nor in the name of a session."""
    rows = [f"{row.text}{row.external_id}{row.tool}{row.call_id}{row.session}" for row in look.observations()]
    rows += [f"{fact.text}{fact.key}{fact.value}" for fact in look.facts()]
    refused = all(result.refused for result in look.of("capture", "propose", "create_fact", "import_file"))
    return bool(rows or refused) and not any("\x00" in said or "\\u0000" in said for said in rows)


@figure("stored_text_is_valid_utf8")
def valid_utf8(look: Look) -> bool:
    rows = look.observations()
    for row in rows:
        row.text.encode("utf-8")
    return bool(rows)


@figure("stored_bytes")
def stored_bytes(look: Look) -> int:
    return max(len(row.text.encode()) for row in look.observations())


@figure("truncation_marked")
def truncation_marked(look: Look) -> bool:
    """Holds too where the whole call was refused as too large: then nothing was cut."""
    rows = look.observations()
    return all(CUT in row.text for row in rows if row.original_length > len(row.text)) and (
        any(CUT in row.text for row in rows) or _refused_as_too_large(look)
    )


@figure("head_and_tail_kept")
def head_and_tail(look: Look) -> bool:
    if _refused_as_too_large(look):
        return True
    sent = [one["text"] for result in look.of("capture") for one in result.step["observations"]]
    kept = [row.text for row in look.observations()]
    return bool(kept) and all(
        mine[:100] == theirs[:100] and mine[-100:] == theirs[-100:] for mine, theirs in zip(kept, sent, strict=True)
    )


@figure("has_image_placeholder")
def image_placeholder(look: Look) -> bool:
    return any(IMAGE in row.text for row in look.observations())


@figure("latest_text")
def latest_text(look: Look) -> str:
    return look.observations()[-1].text


@check("order_by")
def order_by(look: Look, wanted: str) -> None:
    """In the order they came, whatever their clocks said; and that this is so is documented."""
    sent = [one["text"] for result in look.of("capture") for one in result.step["observations"]]
    assert [row.text for row in look.observations()] == sent, "not in the order they were received"
    chosen(look.stage.case.kind)


@figure("future_ts_clamped_or_flagged")
def future_clamped(look: Look) -> bool:
    rows = {row.text: row for row in look.observations()}
    ahead = [
        rows[one["text"]]
        for result in look.of("capture")
        for one in result.step["observations"]
        if "ts" in one and moment(one["ts"]) > result.notes["now"] + CLOCK_MAY_RUN_AHEAD
    ]
    return bool(ahead) and all(row.occurred_source == "server" and row.occurred_at <= row.received_at for row in ahead)


@figure("session_not_kept_awake_by_future_ts")
def not_kept_awake(look: Look) -> bool:
    from memory.models import Session

    last = max(row.received_at for row in look.observations())
    with look.stage.looking():
        quiet = last + timedelta(minutes=look.stage.project.idle_minutes)
        sessions = Session.objects.filter(project=look.stage.project)
        return sessions.idle(quiet).count() == sessions.count()


@figure("local_session_date")
def local_session_date(look: Look) -> str:
    row = look.observations()[-1]
    return row.occurred_at.astimezone(ZoneInfo(row.session.timezone)).date().isoformat()


@figure("user_messages")
def user_messages(look: Look) -> list[str]:
    return [row.text for row in look.observations() if (row.kind, row.role) == ("message", "user")]


def pairs(look: Look) -> list[list[str]]:
    """[what was asked, what came back]: a result belongs to the nearest call before it with its id."""
    rows, found = look.observations(), []
    for place, row in enumerate(rows):
        if row.kind == "tool_result":
            calls = [one for one in rows[:place] if one.kind == "tool_call" and one.call_id == row.call_id]
            found.append([calls[-1].text if calls else "", row.text])
    return found


@check("pairs")
def paired(look: Look, wanted: list[list[str]]) -> None:
    came: Any = pairs(look)
    assert len(came) == len(wanted), f"{len(came)} results, wanted {len(wanted)}"
    for (asked, answered), (question, answer) in zip(came, wanted, strict=True):
        assert question in asked, f"{answered!r} answers {asked!r}, wanted {question!r}"
        assert answer in answered, f"{answered!r} answers {asked!r}, wanted {answer!r}"


def _refused_as_too_large(look: Look) -> bool:
    return any(result.http == 413 for result in look.of("capture"))
