"""What the documents show is there, and what is there is shown."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PICTURES = ROOT / "docs" / "pictures"
DOCUMENTS = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]
SHOWN = re.compile(r"!\[([^\]]*)\]\(([^)\s]+)\)")
LINKED = re.compile(r"(?<!!)\[[^\]]+\]\(([^)\s#]+)(?:#[^)\s]*)?\)")


def shown() -> list[tuple[Path, str, str]]:
    """(document, what stands for the picture where it is not seen, path) of each picture."""
    return [(document, *found) for document in DOCUMENTS for found in SHOWN.findall(document.read_text("utf-8"))]


def test_every_picture_of_a_document_is_there_and_told_in_words() -> None:
    assert len(shown()) > 10
    for document, words, path in shown():
        assert (document.parent / path).is_file(), f"{document.name} shows {path}"
        assert len(words.split()) >= 3, f"{document.name}: {path} has no words"


def test_every_picture_is_shown_by_a_document() -> None:
    there = {path for folder in (ROOT / "docs",) for path in folder.rglob("*") if path.suffix in (".png", ".jpg")}
    assert there, "no picture"
    assert there == {(document.parent / path).resolve() for document, _, path in shown()}


def test_the_pictures_weigh_little() -> None:
    assert sum(path.stat().st_size for path in PICTURES.iterdir()) < 3_000_000


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_every_file_that_a_document_links_is_there(document: Path) -> None:
    for path in LINKED.findall(document.read_text("utf-8")):
        if "://" not in path:
            assert (document.parent / path).exists(), f"{document.name} links {path}"
