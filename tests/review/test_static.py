"""The browser parts: what they are, that nobody changed them, and that a page needs nothing from elsewhere."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from pathlib import Path
from typing import Any

import pytest
from django.contrib.staticfiles.storage import ManifestStaticFilesStorage
from django.core.files.storage import FileSystemStorage

ROOT = Path(__file__).resolve().parents[2]
STATIC = ROOT / "static"
SHELVES = [STATIC / "vendor", ROOT / "tests" / "vendor"]
OUR_SCRIPTS = sorted(STATIC.glob("*.js"))
APP_CSS = STATIC / "app.css"


def entries(shelf: Path) -> list[dict[str, Any]]:
    listed = json.loads((shelf / "manifest.json").read_text(encoding="utf-8"))["files"]
    assert isinstance(listed, list)
    return listed


def without_comments(css: str) -> str:
    return re.sub(r"/\*.*?\*/", "", css, flags=re.S)


@pytest.mark.parametrize("shelf", SHELVES, ids=lambda path: path.parent.name)
def test_every_vendored_file_is_the_one_in_the_manifest(shelf: Path) -> None:
    for entry in entries(shelf):
        data = (shelf / entry["file"]).read_bytes()
        assert base64.b64encode(hashlib.sha384(data).digest()).decode() == entry["sha384"], entry["file"]


@pytest.mark.parametrize("shelf", SHELVES, ids=lambda path: path.parent.name)
def test_every_vendored_file_says_where_it_is_from_and_under_which_licence(shelf: Path) -> None:
    for entry in entries(shelf):
        assert all(entry[name] for name in ("package", "version", "licence", "source")), entry["file"]
        assert (shelf / entry["licence_file"]).read_text(encoding="utf-8").strip(), entry["file"]


@pytest.mark.parametrize("shelf", SHELVES, ids=lambda path: path.parent.name)
def test_no_vendored_file_is_missing_from_the_manifest(shelf: Path) -> None:
    listed = {entry["file"] for entry in entries(shelf)} | {entry["licence_file"] for entry in entries(shelf)}
    present = {str(path.relative_to(shelf)) for path in shelf.rglob("*") if path.is_file()}
    assert present == listed | {"manifest.json"}


@pytest.mark.parametrize("path", [*OUR_SCRIPTS, APP_CSS], ids=lambda path: path.name)
def test_our_own_files_name_no_other_address(path: Path) -> None:
    assert not re.search(r"https?:|url\(\s*['\"]?(//|data:)|@import", path.read_text(encoding="utf-8"))


@pytest.mark.parametrize("path", OUR_SCRIPTS, ids=lambda path: path.name)
def test_our_scripts_put_text_in_as_text(path: Path) -> None:
    sinks = r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\b|new Function"
    newer_sinks = r"setHTMLUnsafe|createContextualFragment"
    assert not re.search(f"{sinks}|{newer_sinks}", path.read_text(encoding="utf-8"))


def test_the_stylesheet_points_at_files_that_exist() -> None:
    targets = re.findall(r"url\(([^)]+)\)", without_comments(APP_CSS.read_text(encoding="utf-8")))
    assert targets
    assert [target for target in targets if not (STATIC / target).is_file()] == []


def test_the_kits_data_pictures_are_replaced_by_files() -> None:
    """Basecoat draws its tick and its chevron from data URIs; the stylesheet sets its own in the same places."""
    css = without_comments(APP_CSS.read_text(encoding="utf-8"))
    assert re.search(r"\.input\[type=checkbox\]:checked::after \{[^}]*mask-image: url\(vendor/check\.svg\)", css)
    assert re.search(r"select\.select \{[^}]*background-image: url\(vendor/chevron-down\.svg\)", css)


def test_static_files_can_be_collected_under_hashed_names(tmp_path: Path) -> None:
    """A source map line or a wrong url() would stop the collecting, and with it a deployment."""
    storage = ManifestStaticFilesStorage(location=tmp_path, base_url="/static/")
    source = FileSystemStorage(location=STATIC)
    paths: dict[str, Any] = {}
    for path in sorted(STATIC.rglob("*")):
        if path.is_file():
            name = str(path.relative_to(STATIC))
            paths[name] = (source, name)
            with path.open("rb") as content:
                storage.save(name, content)
    outcomes = list(storage.post_process(paths, dry_run=False))
    assert [name for name, _hashed, done in outcomes if isinstance(done, Exception)] == []
    assert re.search(r"\.[0-9a-f]{12}\.css$", storage.hashed_files["app.css"])
