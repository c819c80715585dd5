"""What a person meant of what they typed, and whom they spoke of."""
# ruff: noqa: E501 (what was said is read best on one line)

from __future__ import annotations

import pytest

from memory.distillers.local import phrases
from memory.lint import faults
from tests.memory.talk import Line, fail, ok, read, run, say, texts, user

# (what a person or support said, the one sentence it is told in)
ABROAD: list[tuple[tuple[Line, ...], str]] = [
    ((user("Schreib Commit-Nachrichten ab jetzt immer auf Englisch."), run("ls")), "Schreib Commit-Nachrichten ab jetzt immer auf Englisch."),
    ((user("Bitte rufen Sie mich nur vormittags an, ich arbeite nachts."),), "Bitte rufen Sie mich nur vormittags an."),
    ((user("Legen Sie Pakete bitte künftig immer in die Garage, nie zum Nachbarn."),), "Legen Sie Pakete bitte künftig immer in die Garage, nie zum Nachbarn."),
    ((user("In diesem Repo schreiben wir Kommentare auf Englisch, nicht auf Deutsch."), run("ls")), "In diesem Repo schreiben wir Kommentare auf Englisch, nicht auf Deutsch."),
    ((user("Prefiero que me contacten solo por WhatsApp y siempre después de las 18:00."),), "Prefiero que me contacten solo por WhatsApp y siempre después de las 18:00."),
    ((user("Usa siempre tabuladores, porque los espacios molestan."), run("ls")), "Usa siempre tabuladores."),
    ((user("Bonjour, dorénavant réponds-moi toujours en français."), run("ls")), "Réponds-moi toujours en français."),
    ((user("Pourriez-vous m'appeler uniquement après 17 h ?"),), "M'appeler uniquement après 17 h."),
    ((user("La base de recette s'appelle staging-fr, pas staging."), run("ls")), "La base de recette s'appelle staging-fr, pas staging."),
    ((user("以后有事请发短信，不要打电话。"),), "有事请发短信，不要打电话。"),
    ((user("好。另外，这个仓库里我们统一用 tabs 缩进，不用空格。"), run("ls")), "这个仓库里我们统一用 tabs 缩进，不用空格。"),
    ((user("今後の連絡は電話ではなくメールでお願いします。"),), "今後の連絡は電話ではなくメールでお願いします。"),
    ((user("J'habite maintenant à Nantes."),), "Le client habite à Nantes."),
    ((user("Wir sind letztes Jahr von Bonn nach Kiel gezogen."),), "Der Kunde ist nach Kiel umgezogen (gesagt am 2026-11-12)."),
    ((user("你好，我搬家了，新地址是杭州市文三路 90 号。"),), "客户的地址是杭州市文三路 90 号。"),
    ((user("Wann?"), say("Die Gutschrift zu Rechnung 3391 wird bis Freitag, den 20. November, überwiesen.")), "Zusage vom 2026-11-12: Die Gutschrift zu Rechnung 3391 wird bis 2026-11-20, überwiesen."),
    ((user("¿Cuándo?"), say("Un técnico le llamará el lunes 16 de noviembre a las 9:00.")), "Compromiso del 2026-11-12: Un técnico le llamará el 2026-11-16, 09:00 (UTC)."),
    ((user("Quand ?"), say("Nous vous répondrons dans deux semaines au plus tard.")), "Engagement du 2026-11-12 : Nous vous répondrons d'ici le 2026-11-26 au plus tard."),
    ((user("什么时候？"), say("我们会在明天下午5点之前把订单 CN-8812 的发票发给您。")), "客服于 2026-11-12 承诺：我们会在 2026-11-13, 17:00 (UTC) 之前把订单 CN-8812 的发票发给您。"),
    ((user("いつですか"), say("返金は11月20日までに行います。")), "2026-11-12 の約束：返金は 2026-11-20 までに行います。"),
    ((user("Der Monatsbericht muss am 2. jedes Monats fertig sein."), say("ok")), "Der Monatsbericht muss am 2. jedes Monats fertig sein."),
    ((user("Wie lange?"), run("faq rueckgabe", "faq"), ok("Rückgaben sind innerhalb von 30 Tagen möglich.", "faq"), say("Rückgaben sind innerhalb von 30 Tagen möglich.")), "Rückgaben sind innerhalb von 30 Tagen möglich."),
]  # fmt: skip
NOT_MEANT: dict[str, tuple[Line, ...]] = {
    "taken back in the next sentence": (user("From now on squash every branch. No wait, scratch that."),),
    "taken back in the next message": (user("Always deploy with make ship."), say("ok"), user("Never mind, forget it.")),
    "taken back by its name": (
        user("Please always write comments in French."),
        say("ok"),
        user("Forget what I said about the comments."),
    ),
    "taken back in Spanish": (user("A partir de ahora usa siempre tabuladores."), user("No, espere, olvídelo.")),
    "irony with a mark": (user("Oh sure, always put me on hold for an hour. /s"),),
    "irony in the same message": (user("Oh great, it broke again. Always my favourite. Never fix it please."),),
    "a joke": (user("From now on call me Captain, haha."),),
    "dictated": (user('Write a message to my landlord: "Please always call me before noon. I prefer mornings."'),),
    "forwarded": (user("Is this right?\n\nOn Mon, 16 Nov 2026, Sales wrote:\nFrom now on always order by fax."),),
    "a prompt in a person's name": (user("You are a careful coding assistant. Always answer in English. Never push."),),
    "a prompt by its marks": (
        user("# Task\nYou may assume the tools work.\nIMPORTANT: you should ONLY use bash and NEVER ask for help."),
    ),
    "a friend's wish": (user("My friend always wants a room with a view."), say("ok")),
    "a colleague in German": (user("Mein Kollege meint, wir sollten immer Tabs nehmen."), say("ok")),
    "a colleague in Chinese": (user("我的朋友说以后都用邮件联系他。"), say("ok")),
    "a secret spelled out": (user("Remember: the root password of the staging db is Sommer2026!x."), say("no")),
    "an order for one thing": (user("Make me a table of all routes, always with the method first."), say("ok")),
    "thanks": (user("いつもありがとうございます"), say("ok")),
    "thanks in Chinese": (user("谢谢，总是这么快"), say("ok")),
    "a complaint in Spanish": (user("Siempre falla a la primera, qué pesado."), say("ok")),
    "put off in Chinese": (user("好，以后再说别的"), say("ok")),
    "a condition": (user("When?"), say("I will give you 10 % off by Friday if you renew.")),
    "a promise that was declined": (
        user("My display flickers."),
        say("A technician will come on Monday at 10:00."),
        user("That does not work, I'm away."),
    ),
    "what the agent put right": (
        user("Where is the limit set?"),
        run("rg limit"),
        ok("conf/a.toml:1: limit"),
        say("The limit is set in conf/a.toml."),
        say("Correction: that file is not read at all."),
        user("ok thanks"),
    ),
}  # fmt: skip


@pytest.mark.parametrize("lines", NOT_MEANT.values(), ids=NOT_MEANT.keys())
def test_nothing_is_heard_of(lines: tuple[Line, ...]) -> None:
    assert [(one.type, one.text) for one in read(*lines)] == []


@pytest.mark.parametrize(("lines", "sentence"), ABROAD, ids=[sentence for _, sentence in ABROAD])
def test_other_languages_keep_the_speakers_words(lines: tuple[Line, ...], sentence: str) -> None:
    assert texts(*lines) == [sentence]


def test_what_is_said_in_its_place_is_heard() -> None:
    found = texts(user("From now on squash every branch."), user("Scratch that: never squash, always rebase."))
    assert found == ["Never squash, always rebase."]


def test_a_later_wish_about_the_same_thing_takes_the_place_of_the_earlier() -> None:
    lines = (
        user("Please always answer with full explanations."),
        user("From now on keep answers under three sentences."),
    )
    assert texts(*lines) == ["Keep answers under three sentences."]
    lines = (user("From now on put a summary on top of every answer."), user("Drop the summaries again from now on."))
    assert texts(*lines) == ["Drop the summaries again."]


def test_a_later_promise_takes_the_place_of_the_one_it_corrects() -> None:
    found = texts(
        user("My bag is lost."),
        say("We will deliver your bag tomorrow."),
        user("Tomorrow is bad."),
        say("Then we will deliver it on Monday by 12:00 instead."),
    )
    assert found == ["Support will deliver the customer's bag on 2026-11-16, 12:00 (UTC)."]


def test_it_is_named() -> None:
    found = texts(
        user("My router drops the line."), say("I have opened ticket T-4411."), user("It does not sync either.")
    )
    assert found == ["The customer's router drops the line (ticket T-4411, open on 2026-11-12)."]


def test_a_statement_before_a_question_counts() -> None:
    assert texts(user("We're on the Team plan, can we get two more seats?"), say("Yes.")) == [
        "The customer is on the Team plan."
    ]


def test_numbers_end_as_support_left_them() -> None:
    found = texts(user("We have 12 seats, can we get two more?"), say("You now have 14 seats."))
    assert found == ["The customer's company has 14 seats."]


def test_one_service_has_one_key_under_all_its_names() -> None:
    told = [
        read(user("Postgres is published on port 5433 here."), say("ok")),
        read(user("Our PostgreSQL listens on 5433, not 5432."), say("ok")),
        read(
            run("make itest"), fail("connection refused on port 5432"), run("PGPORT=5433 make itest"), ok("41 passed")
        ),
    ]
    assert {one.key for found in told for one in found} == {"environment:postgres.port"}
    assert {str(one.value) for found in told for one in found} == {"{'port': '5433'}"}


def test_a_feeling_is_told_as_one() -> None:
    found = read(user("I'm really disappointed with how the migration was handled."), say("I'm sorry."))
    assert [(one.type, one.nature, one.text) for one in found] == [
        ("sentiment", "sentiment", "On 2026-11-12 the customer was disappointed with how the migration was handled.")
    ]


def test_what_is_over_is_told_as_history() -> None:
    found = read(
        user("The app crashes."),
        say("I have opened case C-1001 for it."),
        user("It works again, thanks!"),
    )
    assert [(one.type, one.use, one.value) for one in found] == [
        ("problem", "historical", {"state": "solved", "number": "C-1001"})
    ]


@pytest.mark.parametrize(
    ("said", "state"),
    [
        ("CAL-881 closed", "solved"),
        ("CAL-881 could not be closed", "open"),
        ("CAL-882 closed", "open"),
        ("CAL-881 reopened, was closed", "open"),
    ],
)
def test_a_problem_is_solved_when_a_tool_says_so_of_its_number(said: str, state: str) -> None:
    found = read(
        user("The app shows an empty calendar on my tablet."),
        say("I opened ticket CAL-881. Please turn off the battery saver."),
        user("Now all appointments are there."),
        run("close_ticket CAL-881", "desk"),
        ok(said, "desk"),
    )
    assert [one.value["state"] for one in found if one.type == "problem"] == [state]


def test_an_edit_by_a_program_is_no_cure() -> None:
    refused = 'pg_dump: error: could not translate host name "db-1" to address: Name or service not known'
    found = texts(
        run("bash scripts/dump.sh"),
        fail(refused),
        run("sed -i s/db-1/db-2/ scripts/dump.sh && bash scripts/dump.sh"),
        ok("dump written"),
    )
    assert not [text for text in found if "has run" in text]


def test_what_ends_on_a_day_is_dated_and_ends_with_it() -> None:
    found = read(user("We moved the database last week; the old host goes away next Friday."), say("ok"))
    assert [(one.text, str(one.expires_at)[:10]) for one in found] == [
        ("The old host goes away on 2026-11-20.", "2026-12-04")
    ]


def test_a_flood_stops_at_forty() -> None:
    lines = [user(f"The host of service-{number} is called box-{number}, not old-{number}.") for number in range(60)]
    assert len(read(*lines)) == 40


@pytest.mark.parametrize("lesson", phrases.PHRASES)
@pytest.mark.parametrize("language", ["en", "es", "de", "fr", "zh", "ja"])
def test_every_phrase_is_well_written_in_every_language(lesson: str, language: str) -> None:
    parts = {
        "name": "Next.js",
        "path": "src/app.ts",
        "new": "15",
        "old": "14",
        "doc": "README.md",
        "manifest": "package.json",
        "goal": "make itest",
        "cure": "make db",
        "error": "connection refused",
        "what": "psycopg",
        "place": "Porto",
        "day": "2026-11-12",
    }
    assert faults(phrases.phrase(lesson, language, **parts)) == []
