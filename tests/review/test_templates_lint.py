"""What no template may hold. Each rule is tried on a text that breaks it: a rule that sees nothing is noticed."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
TEMPLATES = ROOT / "templates"
PAGES = sorted(TEMPLATES.rglob("*.html"))
NONCE = "{{ request.csp_nonce }}"
Attributes = dict[str, str]


class Elements(HTMLParser):
    """The elements of a template: Django's tags taken out, its variables left as they are written."""

    def __init__(self, source: str) -> None:
        super().__init__()
        self.found: list[tuple[str, Attributes]] = []
        self.script_texts: list[str] = []
        self._in_script = False
        source = re.sub(r"\{#.*?#\}", "", source)
        source = re.sub(
            r"\{% comment .*?%\}.*?\{% endcomment %\}|\{% comment %\}.*?\{% endcomment %\}", "", source, flags=re.S
        )
        source = re.sub(r"\{% (?:url|static) [^%]*%\}", "/local", source)
        source = re.sub(r"\{%.*?%\}", " ", source, flags=re.S)
        # A quote inside a variable's filter must not end the attribute it stands in.
        self.feed(re.sub(r"\{\{.*?\}\}", lambda match: match[0].replace('"', "").replace("'", ""), source))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, {name: value or "" for name, value in attrs}))
        self._in_script = tag in ("script", "style")

    def handle_endtag(self, tag: str) -> None:
        self._in_script = False

    def handle_data(self, data: str) -> None:
        if self._in_script and data.strip():
            self.script_texts.append(data)


def faults(source: str) -> Iterator[str]:
    """What is wrong with one template, a sentence each."""
    page = Elements(source)
    if page.script_texts or any(tag == "style" for tag, _ in page.found):
        yield "has a script or a style written into the page"
    for tag, attributes in page.found:
        yield from element_faults(tag, attributes)
    for word in re.findall(r"\|\s*safe\b|\|\s*safeseq\b|autoescape off|mark_safe|format_html", source):
        yield f"lets text through as markup: {word}"


def element_faults(tag: str, attributes: Attributes) -> Iterator[str]:
    htmx = [name for name in attributes if name.startswith(("hx-", "data-hx-"))]
    if htmx and attributes.get("hx-nonce") != NONCE:
        yield f"<{tag} {htmx[0]}> carries no hx-nonce of its own"
    for name, value in attributes.items():
        if name.startswith(("hx-nonce:", "data-hx-nonce")):
            yield f"<{tag}> hands its nonce down, which opens the gate"
        if name.startswith(("hx-on", "data-hx-on", "on")) or value.strip().startswith("js:"):
            yield f"<{tag} {name}> runs code from an attribute"
        if name == "style":
            yield f"<{tag}> has a style attribute"
        if name in ("src", "href", "action", "formaction", "hx-get", "hx-post", "poster", "data") and re.match(
            r"\s*(?:[a-z][a-z0-9+.-]*:|//)", value, re.I
        ):
            yield f"<{tag} {name}> leads elsewhere: {value}"


def read(path: Path) -> str:
    return path.read_text(encoding="utf-8")


@pytest.mark.parametrize("path", PAGES, ids=lambda path: str(path.relative_to(TEMPLATES)))
def test_no_template_breaks_a_rule(path: Path) -> None:
    assert list(faults(read(path))) == []


@pytest.mark.parametrize(
    "source",
    [
        '<button hx-post="/x">',
        '<button data-hx-post="/x">',
        '<button hx-post="/x" hx-nonce="">',
        '<button hx-post="/x" hx-nonce="{{ other }}">',
        '<body hx-headers:inherited="{}">',
        '<body hx-nonce:inherited="{{ request.csp_nonce }}" hx-nonce="{{ request.csp_nonce }}">',
        '<p style="color: red">',
        "<style>p { color: red }</style>",
        "<script>alert(1)</script>",
        '<p onclick="x()">',
        '<p hx-on:click="x()" hx-nonce="{{ request.csp_nonce }}">',
        '<p hx-vals="js:{a: 1}" hx-nonce="{{ request.csp_nonce }}">',
        "{{ fact.text|safe }}",
        "{{ fact.text | safe }}",
        "{% autoescape off %}{{ fact.text }}{% endautoescape %}",
        '<script src="https://example.org/x.js"></script>',
        '<img src="//example.org/x.png">',
        '<img src="data:image/png;base64,AA==">',
        '<a href="javascript:void(0)">',
    ],
)
def test_each_rule_sees_what_breaks_it(source: str) -> None:
    assert list(faults(source))


@pytest.mark.parametrize(
    "source",
    [
        '<button hx-post="{% url \'review:decide\' fact.pk %}" hx-nonce="{{ request.csp_nonce }}">Approve</button>',
        '<a href="{% url "review:pile" project.slug %}?q={{ q|default:"" }}">Review</a>',
        '<script src="{% static "keys.js" %}" defer></script>',
        "{# style=\"\" #}{% comment %}<p style=''>{% endcomment %}<p>{{ fact.text }}</p>",
    ],
)
def test_what_is_right_passes(source: str) -> None:
    assert list(faults(source)) == []


def test_every_fragment_is_used() -> None:
    texts = [read(path) for path in TEMPLATES.rglob("*") if path.suffix in (".html", ".txt")]
    texts += [read(path) for room in ("config", "projects", "memory", "review") for path in (ROOT / room).rglob("*.py")]
    fragments = [str(path.relative_to(TEMPLATES)) for path in PAGES if path.name.startswith("_")]
    assert [name for name in fragments if not any(f'"{name}"' in text or f"'{name}'" in text for text in texts)] == []


def test_every_included_template_exists() -> None:
    named = {
        (path.name, name)
        for path in PAGES
        for name in re.findall(r"\{% (?:include|extends) [\"']([^\"']+)", read(path))
    }
    assert [(page, name) for page, name in sorted(named) if not (TEMPLATES / name).is_file()] == []


def test_every_icon_named_is_in_the_sprite() -> None:
    symbols = set(re.findall(r'<symbol id="([^"]+)"', read(ROOT / "static" / "vendor" / "icons.svg")))
    named = {
        (path.name, name)
        for path in PAGES
        for name in re.findall(r'"_icon\.html" with (?:[^%]*\s)?name="([^"]+)"', read(path))
    }
    assert named
    assert [(page, name) for page, name in sorted(named) if name not in symbols] == []
