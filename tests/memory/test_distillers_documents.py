"""What the repository's own instructions said wrongly, and where a setting was put."""
# ruff: noqa: E501 (what was said is read best on one line)

from __future__ import annotations

import pytest

from memory.transcript import Seen
from tests.memory.talk import Line, fail, ok, read, run, say, texts, user

MANIFEST = '{\n  "scripts": {\n    "dev": "vite"\n  },\n  "dependencies": {\n    "svelte": "5.2.0"\n  }\n}'
OLD = "Built with Svelte 4. Check types with npm run typecheck."
NEW = "Built with Svelte 5.2.0."


def read_file(path: str) -> Line:
    return lambda ref, at: Seen(
        ref, "tool_call", "assistant", f'Read {{"file_path": "{path}"}}', "Read", paths=(path,), occurred_at=at
    )


def edit(path: str, text: str) -> Line:
    return lambda ref, at: Seen(ref, "edit", "assistant", text, "Edit", paths=(path,), occurred_at=at)


FORMS = {
    "as a difference": f"Edit README.md\n- {OLD}\n+ {NEW}",
    "as JSON": f'{{"file_path": "README.md", "old_string": "{OLD}", "new_string": "{NEW}"}}',
    "as JSON that was cut": f'{{"file_path": "README.md", "old_string": "{OLD}", "new_string": "{NEW} And so o',
}


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS.keys())
def test_instructions_that_contradicted_the_manifest_are_told(form: str) -> None:
    lines = (
        user("Bring the README up to date."),
        read_file("package.json"),
        ok(MANIFEST, "Read"),
        edit("README.md", form),
        ok("ok", "Edit"),
    )
    assert texts(*lines) == [
        "The project uses Svelte 5.2.0, although README.md said 4.",
        "package.json has no `typecheck` script, although README.md named it.",
    ]


def test_the_lesson_is_told_in_the_language_of_the_session() -> None:
    lines = (
        user("Bitte bring die README auf den Stand, der im Projekt gilt."),
        read_file("package.json"),
        ok(MANIFEST, "Read"),
        edit("README.md", FORMS["as a difference"]),
        ok("ok", "Edit"),
    )
    assert texts(*lines)[0] == "Das Projekt nutzt Svelte 5.2.0, obwohl README.md 4 nannte."


@pytest.mark.parametrize(
    "lines",
    [
        (edit("README.md", FORMS["as a difference"]), ok("ok", "Edit")),
        (read_file("package.json"), ok(MANIFEST, "Read"), edit("README.md", FORMS["as a difference"]), fail("<tool_use_error>File has not been read yet.</tool_use_error>", "Edit")),
        (read_file("package.json"), ok(MANIFEST.replace("5.2.0", "3.0.0").replace('"dev"', '"typecheck"'), "Read"), edit("README.md", FORMS["as a difference"]), ok("ok", "Edit")),
        (read_file("package.json"), ok(MANIFEST, "Read"), edit("src/notes.ts", FORMS["as a difference"]), ok("ok", "Edit")),
    ],
    ids=["no manifest was read", "the edit failed", "the manifest says otherwise", "no instructions were edited"],
)  # fmt: skip
def test_an_edit_that_nothing_bears_out_teaches_nothing(lines: tuple[Line, ...]) -> None:
    assert texts(user("Update it."), *lines) == []


def test_a_setting_the_user_named_is_told_with_the_file_it_went_to() -> None:
    found = read(
        user("Start the worker with QUEUE_LIMIT=50."),
        edit("deploy/worker.env", "Edit deploy/worker.env\n+ QUEUE_LIMIT=50"),
        ok("ok", "Edit"),
        say("QUEUE_LIMIT=50 now stands in `deploy/worker.env`."),
    )
    assert [(one.type, one.text) for one in found] == [
        ("environment", "Start the worker with QUEUE_LIMIT=50."),
        ("owning_file", "QUEUE_LIMIT is set in deploy/worker.env."),
    ]


HOSTILE = [
    "a.",
    "a/",
    "a-",
    "1 ",
    "the ",
    "from A to ",
    "@a ",
    "字",
    "A=1 ",
    "No module named ",
    "We moved from A ",
    "((",
    "`",
]


@pytest.mark.timeout(60)
@pytest.mark.parametrize("unit", HOSTILE)
def test_endless_text_is_read_without_getting_lost(unit: str) -> None:
    endless = unit * (40_000 // len(unit))
    assert isinstance(
        read(user(endless), run(endless), fail(endless), run("search", "kb"), ok(endless, "kb"), say(endless)), list
    )
