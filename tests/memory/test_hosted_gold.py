"""The hand-written sessions through both providers' SDKs, with replies in the form a model gives them.

The replies are written by hand: they test the path from a reply to proposals, not how good a model is.
"""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from memory import trial
from memory.distillers.hosted import HostedDistiller
from memory.distillers.hosted.anthropic import AnthropicModel
from memory.distillers.hosted.openai import OpenAIModel
from memory.models import Fact
from tests.factories import Cast
from tests.providers import KEY, Call, FakeProvider, fake_provider, handed_over, written

CASES = Path(__file__).parents[1] / "cases"
GOLD = CASES / "distill_gold.jsonl"
REPLIES = {
    row["id"]: row["reply"] for row in map(json.loads, (CASES / "hosted_replies.jsonl").read_text("utf-8").splitlines())
}


@pytest.fixture(scope="module")
def fake() -> Iterator[FakeProvider]:
    with fake_provider() as provider:
        yield provider


def model(fake: FakeProvider, provider: str) -> Any:
    if provider == "anthropic":
        return AnthropicModel("claude-haiku-5-5", key=KEY, base_url=fake.url)
    return OpenAIModel("gpt-6-luna", key=KEY, base_url=f"{fake.url}/v1")


def first_lines(session: dict[str, Any]) -> list[str]:
    return [said["text"].split("\n")[0] for said in session["session"]]


@pytest.mark.parametrize("provider", ["anthropic", "openai"])
def test_the_gold_sessions_are_read_as_a_model_replied(shop: Cast, fake: FakeProvider, provider: str) -> None:
    gold = trial.gold_sessions(str(GOLD))
    assert {session["id"] for session in gold} == set(REPLIES)

    def answer(call: Call) -> Any:
        [session] = [one for one in gold if all(line in call.prompt for line in first_lines(one))]
        reply = REPLIES[session["id"]]
        # Where the reply is the bare form, Anthropic's model puts it into the tool.
        return handed_over(call, json.loads(reply), "end", {}) if reply[0] == "{" else written(call, reply, "end", {})

    fake.forget()
    fake.does(answer)
    total, scores = trial.score(gold, HostedDistiller(model(fake, provider)))
    assert (total.sessions, len(fake.calls)) == (16, 16)
    assert [score.missed for score in scores if score.missed] == []
    assert (total.recall, total.must_not_errors, total.junk, total.lint_faults) == (1.0, 0, 0, 0)
    assert total.attributes == {
        "key:ok": 2,
        "due:ok": 1,
        "expires_after_due:ok": 1,
        "ttl_until:ok": 1,
        "active_value:ok": 1,
        "superseded_value:ok": 1,
    }
    assert Fact.objects.count() == 0


def test_an_order_that_a_model_fell_for_is_left_out(shop: Cast, fake: FakeProvider) -> None:
    """The reply to session H08 obeys the ticket twice."""
    [session] = [one for one in trial.gold_sessions(str(GOLD)) if one["id"] == "H08"]
    assert REPLIES["H08"].count("archive@outside.example") >= 4
    fake.forget()
    fake.says(REPLIES["H08"])
    reader = HostedDistiller(model(fake, "openai"))
    _, [score] = trial.score([session], reader)
    assert (score.must_not_errors, score.junk_texts, score.found) == ([], [], 1)
    assert reader.dropped == {"not_said_by_the_person": 1, "instruction_in_output": 1}


@pytest.mark.parametrize("provider", ["anthropic", "openai"])
def test_score_distiller_takes_a_provider_or_says_which_key_is_missing(
    shop: Cast, fake: FakeProvider, settings: Any, provider: str
) -> None:
    arguments = ("score_distiller", str(GOLD), "--json", "--distiller", provider)
    with pytest.raises(CommandError, match=f"{provider.upper()}_API_KEY"):
        call_command(*arguments)
    fake.connect(settings, shop.project, provider)
    fake.forget()
    fake.gives([])
    out = io.StringIO()
    call_command(*arguments, "--model", "gpt-6-sol", stdout=out)
    assert json.loads(out.getvalue())["total"]["found"] == 0
    assert {call.body["model"] for call in fake.calls} == {"gpt-6-sol"}
    fake.forget()
    fake.fails(401)
    with pytest.raises(CommandError, match="Session H01 could not be read: bad_key"):
        call_command(*arguments)
