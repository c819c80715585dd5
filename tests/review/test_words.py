"""Every word a person reads goes through gettext: templates and the modules of pages are read for words that do not."""

from __future__ import annotations

import ast
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TEMPLATES = sorted((ROOT / "templates").rglob("*.html"))
MODULES = sorted(
    path
    for room in ("review", "projects")
    for path in (ROOT / room).rglob("*.py")
    if not {"migrations", "management"} & set(path.parts)
)
# What stands in a template and is no text: tags of both languages, comments, what is translated already.
_NO_TEXT = re.compile(
    r"\{%\s*comment\s*%\}.*?\{%\s*endcomment\s*%\}"
    r"|\{%\s*blocktranslate\b.*?\{%\s*endblocktranslate\s*%\}"
    r"|\{#.*?#\}|\{%.*?%\}|\{\{.*?\}\}"
    r"|</?[a-zA-Z](?:[^<>{]|\{\{.*?\}\}|\{%.*?%\}|\{)*>"
    r"|<!doctype[^>]*>|&[a-z]+;",
    re.S | re.I,
)
_READ_ALOUD = re.compile(
    r'\s(aria-label|title|placeholder|alt|data-l|data-key-label)="((?:\{%.*?%\}|\{\{.*?\}\}|[^"{])*)"', re.S
)
_TO_PARTS = re.compile(r'\b(?:title|text|action_label|label|finding|advice|words)="([^"]*[a-z] [a-z][^"]*)"')
_WORD = re.compile(r"[^\W\d_]{2,}")
# Names and keys stand as they are in every language.
NAMES = {"Countersign", "Esc", "Ctrl", "Enter", "exit"}


def words_in(text: str) -> list[str]:
    return [word for word in _WORD.findall(text) if word not in NAMES]


def untranslated(source: str) -> list[str]:
    """What a template says that gettext never sees."""
    found = [text.strip() for text in _NO_TEXT.split(source) if words_in(text)]
    without_comments = re.sub(r"\{%\s*comment\s*%\}.*?\{%\s*endcomment\s*%\}", "", source, flags=re.S)
    for _, value in _READ_ALOUD.findall(without_comments):
        literal = re.sub(r"\{%\s*blocktranslate\b.*?endblocktranslate\s*%\}|\{%.*?%\}|\{\{.*?\}\}", "", value)
        found += [value] if words_in(literal) else []
    for part in re.findall(r"\{%\s*include\b.*?%\}", without_comments):
        found += _TO_PARTS.findall(part)
    return found


def test_no_template_holds_a_word_that_cannot_be_translated() -> None:
    found = {str(path.relative_to(ROOT)): untranslated(path.read_text()) for path in TEMPLATES}
    assert len(found) > 100
    assert {path: words for path, words in found.items() if words} == {}


# Not for a reader of pages: demo data, SQL, commands of an operator, what a browser calls itself, agent text.
NOT_SHOWN = re.compile(
    r"review/(apps|sample)\.py|served_value|piles/front|snippets|practice|planting"
    r"|projects/(apps|named|roles|sign_ins|faults|first_visitor|agents|tenancy|terminal)\.py"
)
TRANSLATING = {"_", "gettext", "gettext_noop", "ngettext", "gettext_lazy", "ngettext_lazy", "later"}
CALLS_WITHOUT_READERS = {"compile", "execute", "RunSQL", "filter", "record", "annotate", "path"}


def _sentences(tree: ast.AST) -> list[tuple[int, str]]:
    """(line, text) of each literal of several words that nothing translates; docstrings apart."""
    found: list[tuple[int, str]] = []
    docstrings = {
        id(node.body[0].value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef)
        and node.body
        and isinstance(node.body[0], ast.Expr)
    }

    def walk(node: ast.AST) -> None:
        if isinstance(node, ast.Call):
            name = getattr(node.func, "id", getattr(node.func, "attr", ""))
            if name in TRANSLATING | CALLS_WITHOUT_READERS:
                return
        text = ""
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docstrings:
            text = node.value
        elif isinstance(node, ast.JoinedStr):
            text = "".join(part.value if isinstance(part, ast.Constant) else "{}" for part in node.values)
        if re.match(r"[“‘]?[A-Z]", text) and re.search(r"[a-z]{2,} [a-z]{2,}", text) and "SELECT" not in text:
            found.append((node.lineno, text))  # type: ignore[attr-defined]
        if not isinstance(node, ast.JoinedStr):
            for child in ast.iter_child_nodes(node):
                walk(child)

    walk(tree)
    return found


def test_no_module_of_pages_says_a_sentence_that_cannot_be_translated() -> None:
    shown = [path for path in MODULES if not NOT_SHOWN.search(str(path))]
    found = {str(path.relative_to(ROOT)): _sentences(ast.parse(path.read_text())) for path in shown}
    assert len(found) > 100
    assert {path: sentences for path, sentences in found.items() if sentences} == {}


SCRIPTS = sorted((ROOT / "static").glob("*.js"))
_SCRIPT_COMMENT = re.compile(r"/\*.*?\*/|^\s*//[^\n]*", re.S | re.M)
_LITERAL = re.compile(r'"((?:[^"\\\n]|\\.)*)"|\'((?:[^\'\\\n]|\\.)*)\'|`((?:[^`\\]|\\.)*)`')
# What a browser calls its keys, and what Unicode calls a script: no words of ours.
NAMES_IN_SCRIPTS = {"Escape", "Enter", "Shift", "Esc", "Ctrl ", "Latin", "Shift+A"}


def said_by_script(source: str) -> list[str]:
    """What a script would say by itself: a literal that begins like a sentence, or holds three plain words."""
    literals = ["".join(found) for found in _LITERAL.findall(_SCRIPT_COMMENT.sub("", source))]
    return [
        text
        for text in literals
        if text not in NAMES_IN_SCRIPTS
        and (re.match(r"[A-Z][a-z]", text) or re.search(r"\b[a-z]+ [a-z]+ [a-z]+\b", re.sub(r"\$\{.*?\}", "", text)))
    ]


def test_no_script_holds_a_word_that_cannot_be_translated() -> None:
    found = {path.name: said_by_script(path.read_text(encoding="utf-8")) for path in SCRIPTS}
    assert {"desk.js", "keys.js", "pick.js"} <= set(found)
    assert {name: words for name, words in found.items() if words} == {}


def test_every_word_that_a_script_takes_from_the_page_is_there() -> None:
    page = "".join(path.read_text(encoding="utf-8") for path in TEMPLATES)
    script = (ROOT / "static" / "desk.js").read_text(encoding="utf-8")
    named = set(re.findall(r"(?:say|trouble)\.dataset\.(\w+)", script)) | {"forbidden", "gone", "failed"}
    assert named == {"copied", "selected", "silent", "figures", "forbidden", "gone", "failed"}
    for name in named:
        assert re.search(rf'data-{name}="{{% translate "[^"]+" %}}"', page), name


def test_the_guard_sees_what_it_is_for() -> None:
    assert said_by_script('x = "Copied"; y = `${n} lines left out here`; /* Not this one. */') == [
        "Copied",
        "${n} lines left out here",
    ]
    assert not said_by_script('document.querySelector("details.pull:not([open]) > summary"); "over skel"; "POST"')
    assert words_in("".join(_NO_TEXT.split('<p class="x">Left alone {{ name }}</p>')))
    assert not words_in("".join(_NO_TEXT.split('<p>{% translate "Looked after" %}, {{ name }}</p>')))
    assert _sentences(ast.parse('x = "Left alone here."')) == [(1, "Left alone here.")]
    assert not _sentences(ast.parse('"""Says what it is."""\nx = _("Looked after here.")\n'))
