"""System memory: what an owner may write, which version is told, and what it leaves alone."""

from __future__ import annotations

import io
import json
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from memory import agent_auth
from memory.models import Fact
from projects import configs, tenancy
from projects.models import AgentConfig, AuditEvent
from tests.factories import Cast, approved
from tests.memory.agent_client import AgentClient

ASKED: dict[str, Any] = {"subjects": ["customer:cust_123"], "max_tokens": 500}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[1]", "must be an object"),
        ("null", "must be an object"),
        ("", "no JSON"),
        ('{"a": 1,}', "Line 1"),
        ('{\n"a": 1,\n"b" 2}', "Line 3"),
        ('{"a": 1, "a": 2}', "“a” stands there twice"),
        ('{"x": {"b": 1, "b": 1}}', "“b” stands there twice"),
        ('{"a": NaN}', "NaN is no JSON number"),
        ('{"a": 1e999}', "too large"),
        ('{"a": "\\ud800"}', "half of one"),
        ('{"a": "\\u0000"}', "NUL"),
        ('{"a": "' + "x" * configs.MOST_BYTES + '"}', "bytes"),
        ('{"a": ' * 30 + "1" + "}" * 30, "too deep"),
        ('{"a": ' + "[" * 100_000, "too"),
    ],
)
def test_what_is_no_system_memory_is_refused_with_the_reason(text: str, said: str) -> None:
    with pytest.raises(configs.BadConfig, match=said):
        configs.parse(text)


def test_an_object_of_the_largest_size_is_taken() -> None:
    text = json.dumps({"a": "é" * ((configs.MOST_BYTES - 8) // 2)}, ensure_ascii=False)
    assert configs.parse(text)["a"].startswith("é")


pytestmark = pytest.mark.django_db


def test_a_version_is_told_once_it_is_deployed_and_an_older_one_again_when_one_goes_back(
    shop: Cast, now: datetime
) -> None:
    first, _ = configs.write(shop.support, {"tone": "calm"}, after=0, by=shop.olga, now=now)
    assert configs.deployed(shop.support) is None
    assert configs.deploy(first, by=shop.olga, now=now)
    second, _ = configs.write(shop.support, {"tone": "brisk"}, after=1, by=shop.olga, now=now)
    told = configs.deployed(shop.support)
    assert told is not None
    assert told.version == 1
    configs.deploy(second, by=shop.olga, now=now + timedelta(minutes=1))
    configs.deploy(first, by=shop.olga, now=now + timedelta(minutes=2))
    told = configs.deployed(shop.support)
    assert told is not None
    assert (told.version, told.content) == (1, {"tone": "calm"})
    assert not configs.deploy(first, by=shop.olga, now=now + timedelta(minutes=3))
    actions = AuditEvent.objects.filter(action__startswith="config").order_by("pk").values_list("action", "actor_id")
    writes, deploys = [("config.write", shop.olga.pk)], [("config.deploy", shop.olga.pk)]
    assert list(actions) == writes + deploys + writes + deploys + deploys


def test_the_same_again_makes_no_version_and_a_stale_start_is_refused(shop: Cast, now: datetime) -> None:
    _, is_new = configs.write(shop.support, {"a": 1}, by=None, now=now)
    _, is_newer = configs.write(shop.support, {"a": 1}, after=1, by=None, now=now)
    assert (is_new, is_newer, AgentConfig.objects.count()) == (True, False, 1)
    with pytest.raises(configs.ConfigChanged):
        configs.write(shop.support, {"a": 2}, after=0, by=None, now=now)
    configs.write(shop.sales, {"a": 1}, after=0, by=None, now=now)


def test_its_agent_is_told_the_deployed_version_and_nobody_else_is(cast: Cast, now: datetime) -> None:
    agent_auth.forget()
    support, sales = AgentClient(cast.keys["support"]), AgentClient(cast.keys["sales"])
    with tenancy.project(cast.project.pk):
        fact = approved(cast.project, cast.rita)
        before = Fact.objects.values().get(pk=fact.pk)
    none = {"version": None, "deployed_at": None, "config": None}
    first = support.get("me/config")
    assert (first.status, first.json()) == (200, none)
    plain = support.post("briefs", ASKED).json()
    assert plain["system"] is None
    with tenancy.project(cast.project.pk):
        config, _ = configs.write(cast.support, {"tone": "calm", "limits": {"refund": 200}}, by=cast.olga, now=now)
    assert support.get("me/config", HTTP_IF_NONE_MATCH=first.headers["ETag"]).status == 304
    with tenancy.project(cast.project.pk):
        configs.deploy(config, by=cast.olga, now=now)
    answer = support.get("me/config", HTTP_IF_NONE_MATCH=first.headers["ETag"])
    told = {"version": 1, "deployed_at": now.isoformat(), "config": {"tone": "calm", "limits": {"refund": 200}}}
    assert answer.json() == told
    again = support.get("me/config", HTTP_IF_NONE_MATCH=answer.headers["ETag"])
    assert (again.status, again.content, again.headers["ETag"]) == (304, b"", answer.headers["ETag"])
    found = support.post("briefs", {**ASKED, "known_etag": plain["etag"]}).json()
    assert found["system"] == told
    assert (found["text"], found["tokens"]) == (plain["text"], plain["tokens"])
    assert support.post("briefs", {**ASKED, "known_etag": found["etag"]}).json()["unchanged"] is True
    assert sales.get("me/config").json() == none
    assert sales.post("briefs", ASKED).json()["system"] is None
    with tenancy.project(cast.project.pk):
        assert Fact.objects.values().get(pk=fact.pk) == before


def test_a_key_without_the_permission_is_told_nothing(cast: Cast) -> None:
    from projects.models import ApiKey

    with tenancy.project(cast.project.pk):
        _, secret = ApiKey.objects.issue(cast.support, cast.olga, ("capture",))
    assert AgentClient(secret).get("me/config").status == 403


def command(path: Path | str, *more: str) -> str:
    said = io.StringIO()
    call_command("set_agent_config", "shop", "support", str(path), *more, stdout=said)
    return said.getvalue()


def test_the_command_writes_a_version_and_deploys_it(cast: Cast, tmp_path: Path) -> None:
    file = tmp_path / "config.json"
    file.write_bytes(b'\xef\xbb\xbf{"tone": "calm"}')
    assert "Version 1 of support is written." in command(file, "--by", "olga@example.com", "--note", "First.")
    with tenancy.project(cast.project.pk):
        made = AgentConfig.objects.get()
        assert (made.created_by, made.note, made.deployed_at) == (cast.olga, "First.", None)
    again = command(file, "--deploy")
    assert "says the same already" in again
    assert "It is deployed." in again
    assert "deployed already" in command(file, "--deploy")


@pytest.mark.parametrize(
    ("content", "more", "said"),
    [
        (b"[1]", (), "must be an object"),
        (b"\xff", (), "not written in UTF-8"),
        (b"{}", ("--by", "rita@example.com"), "no owner"),
        (b"{}", ("--by", "nobody@example.com"), "Nobody has the address"),
    ],
)
def test_the_command_says_what_is_wrong(
    cast: Cast, tmp_path: Path, content: bytes, more: tuple[str, ...], said: str
) -> None:
    file = tmp_path / "config.json"
    file.write_bytes(content)
    with pytest.raises(CommandError, match=said):
        command(file, *more)


def test_a_file_that_is_not_there_is_said(cast: Cast, tmp_path: Path) -> None:
    with pytest.raises(CommandError, match="could not be read"):
        command(tmp_path / "none.json")
