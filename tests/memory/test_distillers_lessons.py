"""What is worth remembering, and the sentence it is told in."""
# ruff: noqa: E501 (what was said is read best on one line)

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from memory.distillers.local import RULES, LocalDistiller, preferences
from memory.grounding import Grounded, ground
from memory.lint import faults
from tests.memory.talk import THURSDAY, Line, fail, ok, read, run, say, talk, texts, user

REFUSED = "redis.exceptions.ConnectionError: Error 111 connecting to localhost:6379. Connection refused."
FIXES: dict[str, tuple[tuple[Line, ...], str]] = {
    "a package was missing": (
        (run("cargo build"), fail("error: linker `cc` not found"), run("apt-get install -y build-essential"), ok(), run("cargo build"), ok("Finished")),
        "`cargo build` fails with “linker 'cc' not found” until build-essential is installed.",
    ),
    "the later fix wins": (
        (run("cargo build"), fail("error: linker `cc` not found"), run("apt-get install -y clang"), ok(), run("cargo build"), fail("error: linker `cc` not found"), run("apt-get install -y build-essential"), ok(), run("cargo build"), ok("Finished")),
        "`cargo build` fails with “linker 'cc' not found” until build-essential is installed.",
    ),
    "a module was missing": (
        (run("python manage.py runserver"), fail("Traceback (most recent call last):\n  File \"x.py\"\nModuleNotFoundError: No module named 'psycopg2'"), run("pip install psycopg2-binary"), ok(), run("python manage.py runserver"), ok("Starting")),
        "`python manage.py runserver` fails on psycopg2 until psycopg2-binary is installed.",
    ),
    "a service was down": (
        (run("pytest tests/worker"), fail(REFUSED), run("docker compose up -d redis"), ok("Started"), run("pytest tests/worker"), ok("12 passed")),
        "`pytest tests/worker` fails with “ConnectionError: Error 111 connecting to localhost:6379. Connection refused” until `docker compose up -d redis` has run.",
    ),
    "a flag was missing": (
        (run("npm ci"), fail("npm ERR! ERESOLVE could not resolve peer react@18 from ui-kit@4"), run("npm ci --legacy-peer-deps"), ok("added 911 packages")),
        "`npm ci` fails with “ERESOLVE could not resolve peer react@18 from ui-kit@4” unless `--legacy-peer-deps` is given.",
    ),
    "another program was meant": (
        (run("python scripts/migrate.py --all"), fail("bash: python: command not found"), run("python3 scripts/migrate.py --all"), ok("done")),
        "`python scripts/migrate.py --all` fails with “python: command not found”; `python3 scripts/migrate.py --all` works.",
    ),
    "a setting was missing": (
        (run("npm run build"), fail("FATAL ERROR: Reached heap limit Allocation failed - JavaScript heap out of memory"), run("NODE_OPTIONS=--max-old-space-size=4096 npm run build"), ok("built")),
        "`npm run build` needs `NODE_OPTIONS=--max-old-space-size=4096`; without that setting: “Reached heap limit Allocation failed - JavaScript heap out of memory”.",
    ),
    "a setting in a call's JSON": (
        (run('{"command": "make itest", "description": "x"}'), fail("Exit code 2\nERROR: DATABASE_HOST is not set"), run('{"command": "export DATABASE_HOST=localhost && make itest"}'), ok("41 passed")),
        "`make itest` needs `DATABASE_HOST=localhost`; without that setting: “DATABASE_HOST is not set”.",
    ),
    "a contract was broken": (
        (run("pytest tests/test_mail.py"), fail("E   TypeError: send() got an unexpected keyword argument 'to'\nFAILED tests/test_mail.py::test_send"), say("`send()` in app/mail.py expects `recipients` as a list, not `to`."), run("edit tests/test_mail.py: pass recipients", "Edit"), ok("ok", "Edit"), run("pytest tests/test_mail.py"), ok("3 passed")),
        "`send()` in app/mail.py expects `recipients` as a list, not `to`.",
    ),
    "a fault was asked about": (
        (user("Why do invoices have the wrong total?"), run("rg total src"), ok("src/invoice.py:10: def total(lines):"), say("src/invoice.py: total() rounds every line before adding."), user("ok fix it: round once at the end"), run("edit src/invoice.py: round once at the end", "Edit"), ok("ok", "Edit"), run("pytest"), ok("5 passed")),
        "The fix in src/invoice.py was to round once at the end, because total() rounds every line before adding.",
    ),
}  # fmt: skip
SAYINGS: list[tuple[str, str, str]] = [
    ("user_preference", "Please always run the linter before you commit.", "Always run the linter before you commit."),
    ("user_preference", "I prefer tabs over spaces.", "The user prefers tabs over spaces."),
    ("user_preference", "Please write me an e-mail instead of calling.", "Write the customer an e-mail instead of calling."),
    ("user_preference", "We use pnpm here, not npm.", "We use pnpm here, not npm."),
    ("user_preference", "Please don't add comments to the code unless I ask.", "Don't add comments to the code unless the user asks."),
    ("user_preference", "In future, write the docs in British English.", "Write the docs in British English."),
    ("user_preference", "please write to me by e-mail, not phone", "Write to the customer by e-mail, not phone."),
    ("user_preference", "You should never push to main directly.", "Never push to main directly."),
    ("user_preference", "I'd like you to always explain the plan before editing files.", "Always explain the plan before editing files."),
    ("user_preference", "My preferred contact channel is SMS.", "The user's preferred contact channel is SMS."),
    ("user_preference", "Please call me Sam, not Samuel.", "Call the customer Sam, not Samuel."),
    ("user_preference", "Bitte antworte mir immer auf Deutsch.", "Bitte antworte mir immer auf Deutsch."),
    ("user_preference", "Répondez-moi toujours en français, s'il vous plaît.", "Répondez-moi toujours en français, s'il vous plaît."),
    ("user_preference", "以后请用中文回答我。", "请用中文回答我。"),
    ("user_preference", "今後は日本語で答えてください。", "日本語で答えてください。"),
    ("environment", "Staging runs on port 8081, not 8080.", "Staging runs on port 8081, not 8080."),
    ("environment", "Note that the warehouse export only works with VPN on.", "The warehouse export only works with VPN on."),
    ("environment", "Remember: the CI database is Postgres 15.", "The CI database is Postgres 15."),
    ("environment", "And the build server is called anvil, not hammer.", "The build server is called anvil, not hammer."),
    ("environment", "No, deploys go through ./scripts/ship.sh here, never make deploy.", "Deploys go through ./scripts/ship.sh here, never make deploy."),
    ("owning_file", "The feature flags live in config/flags.yaml, switch on the new menu.", "The feature flags live in config/flags.yaml."),
    ("customer_fact", "I'm based in Lisbon.", "The customer lives in Lisbon."),
    ("customer_fact", "We moved from Austin to Dallas last week.", "The customer moved from Austin to Dallas between 2026-11-02 and 2026-11-08."),
    ("account_detail", "I'm on the Pro plan and need an invoice.", "The customer is on the Pro plan."),
    ("commitment", "I'll send you the signed contract by 20 November.", "The customer will send support the signed contract by 2026-11-20."),
    ("commitment", "The weekly report must go out every Monday.", "The weekly report must go out every Monday."),
]  # fmt: skip
PROMISES: list[tuple[str, str]] = [
    ("We will send the replacement by Friday.", "Support will send the replacement by 2026-11-13."),
    ("Our technician will call you tomorrow at 10am.", "The technician will call the customer on 2026-11-13, 10:00 (UTC)."),
    ("I've issued the refund; you'll receive the money within 5 business days.", "The customer will receive the money by 2026-11-19."),
    ("The refund of order #48213 will be in your account by November 20.", "The refund of order #48213 will be in the customer's account by 2026-11-20."),
    ("A manager will call you by next Tuesday, 17:00 your time.", "A manager will call the customer by 2026-11-17, 17:00 (UTC)."),
]  # fmt: skip


@pytest.mark.parametrize(("lines", "sentence"), FIXES.values(), ids=FIXES.keys())
def test_a_fix_that_lasted_is_told_in_one_sentence(lines: tuple[Line, ...], sentence: str) -> None:
    assert texts(*lines) == [sentence]


@pytest.mark.parametrize(("kind", "said", "sentence"), SAYINGS, ids=[said for _, said, _ in SAYINGS])
def test_what_a_user_says_to_last_is_kept(kind: str, said: str, sentence: str) -> None:
    assert [(one.type, one.text) for one in read(user(said), say("ok"))] == [(kind, sentence)]


@pytest.mark.parametrize(("said", "sentence"), PROMISES, ids=[said for said, _ in PROMISES])
def test_a_promise_is_kept_with_its_date_worked_out(said: str, sentence: str) -> None:
    assert texts(user("When?"), say(said)) == [sentence]


def test_two_wishes_in_one_sentence_are_two_candidates() -> None:
    found = texts(user("From now on use uv instead of pip in this repo, and never put emojis in commit messages."))
    assert found == ["Use uv instead of pip in this repo.", "Never put emojis in commit messages."]


def test_a_date_belongs_to_the_zone_of_the_session() -> None:
    late = datetime(2026, 11, 29, 17, 30, tzinfo=UTC)  # already the 30th in Shanghai
    found = read(user("Call me tomorrow at 9."), timezone="Asia/Shanghai", start=late)
    assert found[0].value["due"] == "2026-12-01T09:00:00+08:00"
    assert str(found[0].expires_at).startswith("2026-12-15")


def test_what_was_switched_on_for_a_time_ends_with_it() -> None:
    found = read(
        user("I need more time."), run("extend trial", "admin"), ok("trial extended until 2026-12-01", "admin")
    )
    assert [one.text for one in found] == ["The trial is extended for the customer until 2026-12-01."]
    assert str(found[0].expires_at).startswith("2026-12-01")


def test_a_rule_that_was_looked_up_holds_for_every_customer() -> None:
    found = read(
        user("Can I return it?"),
        run("search return policy", "kb"),
        ok("30 days", "kb"),
        say("All unopened items can be returned within 30 days."),
    )
    assert [(one.text, one.about) for one in found] == [
        ("All unopened items can be returned within 30 days.", "project")
    ]


def test_the_value_of_a_secret_setting_is_not_told() -> None:
    found = read(
        run("make deploy"),
        fail("Error: environment variable missing"),
        run("DEPLOY_TOKEN=abc123xyz make deploy"),
        ok("done"),
    )
    assert len(found) == 1
    assert "abc123xyz" not in found[0].text + str(found[0].value) + "".join(quote.text for quote in found[0].quotes)


def test_the_same_lesson_has_the_same_key_in_another_session() -> None:
    first = read(
        run("npm ci"),
        fail("npm ERR! ERESOLVE could not resolve peer react@18 from ui-kit@4"),
        run("npm ci --legacy-peer-deps"),
        ok(),
    )
    again = read(
        run("npm ci"),
        fail("npm ERR! code ERESOLVE unable to resolve dependency tree"),
        run("npm ci --legacy-peer-deps"),
        ok(),
    )
    assert first[0].key == again[0].key == "fix:npm_ci.legacy_peer_deps"


def test_a_later_saying_takes_the_place_of_an_earlier_one() -> None:
    assert texts(user("I live in Austin."), say("ok"), user("Sorry, I live in Dallas.")) == [
        "The customer lives in Dallas."
    ]


def test_preferences_belong_to_the_person_and_fixes_to_the_repository() -> None:
    lines = (
        user("Always use uv."),
        run("npm ci"),
        fail("npm ERR! ERESOLVE peer react"),
        run("npm ci --legacy-peer-deps"),
        ok(),
    )
    assert {one.type: one.about for one in read(*lines)} == {"user_preference": "person", "fix": "repo"}


def test_every_candidate_is_grounded_and_well_written() -> None:
    sessions = [*(lines for lines, _ in FIXES.values()), *((user(said),) for _, said, _ in SAYINGS)]
    for lines in sessions:
        by_ref = {seen.ref: seen for seen in talk(*lines)}
        for candidate in read(*lines):
            assert isinstance(ground(candidate, by_ref), Grounded)
            assert faults(candidate.text) == []


def test_each_rule_can_be_judged_alone() -> None:
    seen = talk(user("Always use uv."), user("Staging runs on port 8081."))
    kinds = {
        name: [one.type for one in LocalDistiller([name]).read(seen, timezone="UTC", now=THURSDAY)] for name in RULES
    }
    assert kinds["preferences"] == ["user_preference"]
    assert kinds["environment"] == ["environment"]
    assert not any(found for name, found in kinds.items() if name not in ("preferences", "environment"))


def test_an_unknown_zone_counts_as_utc() -> None:
    assert read(user("Call me tomorrow at 9."), timezone="Mars/Olympus")[0].value["due"] == "2026-11-13T09:00:00+00:00"


def test_a_long_talk_yields_what_lasts_and_nothing_else() -> None:
    found = texts(
        user("Hi, it is about order #77812."),
        run("get_order", "orders"),
        ok("order #77812: shipped 2026-11-09, carrier Hermes", "orders"),
        say("It was shipped on 9 November."),
        user("It still isn't here. By the way I don't want Hermes any more, please always use DHL for me."),
        say("I've opened case #90121 and we will send a replacement by Monday."),
        user("Great. I live in Bremen now, not in Kiel."),
        say("Noted, I changed it."),
    )
    assert found == [
        "Always use DHL for the customer.",
        "Support will send a replacement (#90121) by 2026-11-16.",
        "The customer lives in Bremen.",
    ]


def test_what_was_only_tried_on_the_way_is_not_the_fix() -> None:
    found = texts(
        run("make deploy"),
        fail("ERROR: helm: field of job migrate is immutable, requires a new release"),
        run("make deploy FORCE=1"),
        ok("deployed"),
        user("Don't use FORCE, it deletes the volume. Delete the job first."),
        run("kubectl delete job migrate"),
        ok("deleted"),
        run("make deploy"),
        ok("deployed"),
    )
    assert len(found) == 1
    assert "until `kubectl delete job migrate` has run" in found[0]
    assert "FORCE" not in found[0]


def test_the_agent_is_believed_when_a_result_and_the_person_bear_it_out() -> None:
    claim = "The backup is started by cron from /opt/backup/run.sh, not by systemd."
    look = (user("The backup did not run."), run("crontab -l"), ok("0 3 * * * /opt/backup/run.sh"), say(claim))
    assert texts(*look, user("Right.")) == [claim]
    assert texts(*look, user("Hm.")) == []
    assert texts(user("The backup did not run."), say(claim), user("Right.")) == []


@pytest.mark.parametrize(
    "wish",
    [
        *("Always run ruff before you commit.", "Never call the payment API from tests.", "Always call super first."),
        *("Always use text fixtures, not binaries.", "Prefer calls over macros.", "Do not mail from staging."),
        *("Always signal readiness with a file.", "Never ring buffers in the hot path.", "Use Slack for alerts."),
    ],
)
def test_a_rule_of_the_work_is_no_way_to_reach_a_person(wish: str) -> None:
    assert not preferences._key(wish).startswith("contact")


@pytest.mark.parametrize(
    ("wish", "key"),
    [
        ("Call me only in the evening", "contact.time"),
        ("Never call before ten", "contact.channel"),
        ("You can reach me by Slack, never by phone", "contact.channel"),
        ("No phone calls, please", "contact.channel"),
        ("Rufen Sie mich nur abends an", "contact.time"),
        ("Llámame por la tarde", "contact.time"),
        ("请用邮件联系我", "contact.channel"),
    ],
)
def test_a_wish_about_reaching_somebody_has_one_key(wish: str, key: str) -> None:
    assert preferences._key(wish) == key
