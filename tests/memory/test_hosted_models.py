"""Both providers through their real SDKs, against a server that answers as they do on the wire."""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator
from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest
from werkzeug.wrappers import Response

from memory.distillers.hosted import anthropic, openai, prompt
from memory.distillers.hosted.anthropic import AnthropicModel
from memory.distillers.hosted.calls import Ask, Model, Trouble, retry_after
from memory.distillers.hosted.openai import OpenAIModel
from memory.distillers.hosted.prices import DEFAULTS, cost_usd
from tests.providers import KEY, Call, FakeProvider, fake_provider

ASK = Ask("Be brief.", (("user", "What happened?"),), 500, schema=prompt.schema(), schema_name="record_facts")
PROVIDERS = ("anthropic", "openai")


@pytest.fixture(scope="module")
def server() -> Iterator[FakeProvider]:
    with fake_provider() as provider:
        yield provider


@pytest.fixture
def fake(server: FakeProvider) -> FakeProvider:
    anthropic._taken.clear()
    openai._taken.clear()
    server.forget()
    return server


def model(fake: FakeProvider, provider: str, **fields: Any) -> Model:
    if provider == "anthropic":
        return AnthropicModel("claude-haiku-5-5", **{"key": KEY, "base_url": fake.url, **fields})
    return OpenAIModel("gpt-6-luna", **{"key": KEY, "base_url": f"{fake.url}/v1", **fields})


def trouble(asked: Model, ask: Ask = ASK) -> Trouble:
    with pytest.raises(Trouble) as raised:
        asked.ask(ask)
    return raised.value


# What is sent --------------------------------------------------------------------------------------------------------


def test_anthropic_is_asked_with_a_tool_that_it_has_to_call(fake: FakeProvider) -> None:
    fake.gives([])
    reply = model(fake, "anthropic").ask(ASK)
    assert (json.loads(reply.text), reply.stop) == ({"facts": []}, "end")
    assert (reply.input_tokens, reply.output_tokens) == (1_000, 100)
    [call] = fake.calls
    assert call.body["tool_choice"] == {"type": "tool", "name": "record_facts"}
    assert call.body["tools"][0]["input_schema"] == prompt.schema()
    assert (call.system, call.turns) == ("Be brief.", [("user", "What happened?")])
    assert call.body["max_tokens"] == 500
    assert KEY in json.dumps(call.headers)


def test_openai_is_asked_with_a_strict_schema(fake: FakeProvider) -> None:
    fake.gives([])
    reply = model(fake, "openai").ask(ASK)
    assert (json.loads(reply.text), reply.stop) == ({"facts": []}, "end")
    assert (reply.input_tokens, reply.output_tokens) == (1_000, 100)
    [call] = fake.calls
    form = call.body["response_format"]["json_schema"]
    assert (form["strict"], form["schema"]) == (True, prompt.schema())
    assert (call.system, call.turns) == ("Be brief.", [("user", "What happened?")])
    assert call.headers["Authorization"] == f"Bearer {KEY}"


@pytest.mark.parametrize("provider", PROVIDERS)
def test_no_sampling_settings_are_sent_for_newer_models_refuse_them(fake: FakeProvider, provider: str) -> None:
    fake.gives([])
    model(fake, provider).ask(ASK)
    assert not {"temperature", "top_p", "top_k", "thinking", "reasoning_effort"} & set(fake.calls[0].body)


@pytest.mark.parametrize("provider", PROVIDERS)
def test_words_are_asked_for_without_a_form(fake: FakeProvider, provider: str) -> None:
    fake.says("It rained.")
    reply = model(fake, provider).ask(Ask("Be brief.", (("user", "What?"),), 50))
    assert reply.text == "It rained."
    assert not {"tools", "tool_choice", "output_config", "response_format"} & set(fake.calls[0].body)


# The way down --------------------------------------------------------------------------------------------------------


def test_a_model_that_refuses_a_forced_tool_gets_a_schema_from_then_on(fake: FakeProvider) -> None:
    fake.fails(400, said="tool_choice: forced tool use is not supported for this model")
    fake.gives([])
    asked = model(fake, "anthropic")
    asked.ask(ASK)
    asked.ask(ASK)
    forms = [{"tools", "output_config"} & set(call.body) for call in fake.calls]
    assert forms == [{"tools"}, {"output_config"}, {"output_config"}]


@pytest.mark.parametrize("status", [400, 422, 501])
def test_a_server_that_knows_no_schema_gets_json_and_then_nothing(fake: FakeProvider, status: int) -> None:
    fake.fails(status, said="response_format: json_schema is not supported", times=2)
    fake.gives([])
    asked = model(fake, "openai")
    asked.ask(ASK)
    asked.ask(ASK)
    forms = [call.body.get("response_format", {}).get("type") for call in fake.calls]
    assert forms == ["json_schema", "json_object", None, None]
    assert fake.calls[-1].body["max_tokens"] == 500


@pytest.mark.parametrize("provider", PROVIDERS)
def test_a_request_that_is_bad_in_every_form_is_a_bad_request(fake: FakeProvider, provider: str) -> None:
    fake.fails(400, said="no", times=9)
    assert trouble(model(fake, provider)).outcome == "bad_request"
    assert len(fake.calls) == 3


# Troubles ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("provider", PROVIDERS)
@pytest.mark.parametrize(
    ("status", "said", "outcome"),
    [
        (401, "invalid x-api-key", "bad_key"),
        (403, "forbidden", "bad_key"),
        (404, "model: claude-nothing", "no_model"),
        (402, "pay first", "no_credit"),
        (400, "Your credit balance is too low", "no_credit"),
        (429, "insufficient_quota", "no_credit"),
        (429, "slow down", "rate_limited"),
        (529, "overloaded", "unavailable"),
        (500, "oh", "unavailable"),
        (503, "later", "unavailable"),
        (409, "conflict", "unavailable"),
        (408, "too slow", "timeout"),
        (413, "request too large", "too_long"),
        (400, "prompt is too long: 250000 tokens > 200000 maximum", "too_long"),
        (400, "This model's maximum context length is 8192 tokens.", "too_long"),
    ],
)
def test_each_trouble_has_one_word_and_is_asked_about_once(
    fake: FakeProvider, provider: str, status: int, said: str, outcome: str
) -> None:
    fake.fails(status, said=said, times=5)
    raised = trouble(model(fake, provider))
    assert (raised.outcome, str(raised), len(fake.calls)) == (outcome, outcome, 1)
    # What a provider writes may quote what it was sent.
    assert raised.__cause__ is None
    assert raised.__suppress_context__


@pytest.mark.parametrize("provider", PROVIDERS)
@pytest.mark.parametrize(
    ("headers", "wait"),
    [
        ({"Retry-After": "30"}, timedelta(seconds=30)),
        ({"Retry-After": "1.5"}, timedelta(seconds=1.5)),
        ({"retry-after-ms": "2500", "Retry-After": "9"}, timedelta(seconds=2.5)),
        ({"Retry-After": "Sun, 29 Nov 2015 11:00:00 GMT"}, timedelta()),
        ({"Retry-After": "soon"}, None),
        ({"Retry-After": "nan"}, None),
        ({"Retry-After": "-5"}, None),
        ({}, None),
    ],
)
def test_retry_after_is_read_in_every_form(
    fake: FakeProvider, provider: str, headers: dict[str, str], wait: timedelta | None
) -> None:
    fake.fails(429, headers)
    assert trouble(model(fake, provider)).retry_after == wait


@pytest.mark.parametrize(
    ("date", "wait"),
    [
        ("Mon, 30 Nov 2026 12:00:00 GMT", timedelta(minutes=10)),
        ("Mon, 30 Nov 2026 12:00:00 GMT, Mon, 30 Nov 2026 12:00:01 GMT", timedelta(minutes=10)),
        ("Mon, 30 Nov 2026 13:00:00 GMT", timedelta()),
    ],
)
def test_a_date_in_retry_after_is_counted_from_the_clock_of_the_provider(date: str, wait: timedelta) -> None:
    assert retry_after({"retry-after": "Mon, 30 Nov 2026 12:10:00 GMT", "date": date}) == wait


@pytest.mark.parametrize("provider", PROVIDERS)
def test_a_provider_that_is_away_is_unavailable(fake: FakeProvider, provider: str) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"http://127.0.0.1:{free.getsockname()[1]}"
    assert trouble(model(fake, provider, base_url=address)).outcome == "unavailable"


@pytest.mark.parametrize("provider", PROVIDERS)
def test_a_provider_that_never_answers_is_a_timeout(fake: FakeProvider, provider: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        address = f"http://127.0.0.1:{silent.getsockname()[1]}"
        assert trouble(model(fake, provider, base_url=address, seconds=0.2)).outcome == "timeout"


@pytest.mark.parametrize("provider", PROVIDERS)
@pytest.mark.parametrize(
    "body",
    [
        "{}",
        "[]",
        "null",
        '"text"',
        '{"choices": [], "content": []}',
        '{"choices": null, "content": null, "usage": null}',
        '{"choices": [{"message": null}], "content": [null, {"type": "text"}, {"type": "tool_use"}, 3]}',
        '{"choices": [{"message": {"content": {"a": 1}}}], "content": "text", "usage": {"input_tokens": "many"}}',
        "<html>welcome to the gateway</html>",
        "",
    ],
)
def test_whatever_a_gateway_answers_is_an_empty_reply_or_a_trouble(
    fake: FakeProvider, provider: str, body: str
) -> None:
    fake.does(lambda call: Response(body, 200, mimetype="application/json"))
    asked = model(fake, provider)
    if body.startswith(("<", "\x00")) or not body:
        assert trouble(asked).outcome == "unavailable"
        return
    reply = asked.ask(ASK)
    assert reply.text in ("", "null")
    assert reply.input_tokens > 0, "a call must not look free"


# How a reply ends ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("provider", PROVIDERS)
@pytest.mark.parametrize("stop", ["end", "length", "refusal"])
def test_why_a_reply_ended_is_told(fake: FakeProvider, provider: str, stop: str) -> None:
    fake.says("half of", stop)
    reply = model(fake, provider).ask(ASK)
    assert (reply.text, reply.stop) == ("half of", stop)


def test_a_refusal_in_a_field_of_its_own_is_a_refusal(fake: FakeProvider) -> None:
    def refuse(call: Call) -> Response:
        message = {"role": "assistant", "content": None, "refusal": "I cannot."}
        body = {"id": "c", "object": "chat.completion", "created": 1, "model": "m"}
        return Response(json.dumps({**body, "choices": [{"index": 0, "message": message, "finish_reason": "stop"}]}))

    fake.does(refuse)
    reply = model(fake, "openai").ask(ASK)
    assert (reply.text, reply.stop) == ("I cannot.", "refusal")


def test_thoughts_and_cached_tokens_of_anthropic_are_told_apart(fake: FakeProvider) -> None:
    def think(call: Call) -> Response:
        content = [
            {"type": "thinking", "thinking": "hm", "signature": "x"},
            {"type": "text", "text": "[]"},
        ]
        usage = {"input_tokens": 10, "output_tokens": 2, "cache_creation_input_tokens": 5, "cache_read_input_tokens": 7}
        body = {"id": "m", "type": "message", "role": "assistant", "model": "m", "stop_reason": "end_turn"}
        return Response(json.dumps({**body, "content": content, "usage": usage}), mimetype="application/json")

    fake.does(think)
    reply = model(fake, "anthropic").ask(ASK)
    assert (reply.text, reply.input_tokens, reply.output_tokens) == ("[]", 22, 2)


def test_a_server_of_ones_own_needs_no_key_and_its_missing_usage_is_counted(fake: FakeProvider) -> None:
    def answer(call: Call) -> Response:
        message = {"role": "assistant", "content": "[]"}
        return Response(json.dumps({"choices": [{"message": message, "finish_reason": "stop"}]}))

    fake.does(answer)
    reply = model(fake, "openai", key="").ask(ASK)
    assert (reply.text, reply.output_tokens) == ("[]", 1)
    assert reply.input_tokens >= 5


# Prices --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "cost"),
    [
        ("claude-haiku-5-5", Decimal("0.600000")),
        ("claude-haiku-5-5-20261007", Decimal("0.600000")),
        ("gpt-6-luna", Decimal("0.600000")),
        ("gpt-6-luna-pro", None),
        ("llama-4", None),
    ],
)
def test_a_model_without_a_known_price_costs_unknown_and_not_nothing(name: str, cost: Decimal | None) -> None:
    assert cost_usd(name, 1_000_000, 1_000_000) == cost


def test_the_default_models_have_a_price() -> None:
    assert all(cost_usd(name, 1, 1) is not None for name in DEFAULTS.values())
