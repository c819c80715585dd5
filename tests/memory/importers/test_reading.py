from __future__ import annotations

import os
from pathlib import Path

import pytest

from memory.importers import read_file
from memory.importers.reading import NoTranscripts, in_order_of_time, walk
from tests.memory.importers.lines import user, write


def test_folders_are_walked_in_order_and_links_do_not_loop(tmp_path: Path) -> None:
    for name in ("b.jsonl", "a/z.JSONL", ".hidden/c.jsonl", "notes.txt"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        write(tmp_path / name, user("x"))
    (tmp_path / "a" / "again").symlink_to(tmp_path, target_is_directory=True)
    (tmp_path / "gone.jsonl").symlink_to(tmp_path / "nowhere")
    assert [str(path.relative_to(tmp_path)) for path in walk(tmp_path)] == [".hidden/c.jsonl", "a/z.JSONL", "b.jsonl"]


def test_a_path_with_nothing_in_it_says_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(NoTranscripts, match=r"holds no \.jsonl file.*~/\.claude/projects"):
        walk(tmp_path)
    with pytest.raises(NoTranscripts, match="does not exist"):
        walk(tmp_path / "nowhere")
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(NoTranscripts, match="neither a file nor a folder"):
        walk(tmp_path / "pipe")
    with pytest.raises(NoTranscripts, match="cannot be opened"):
        walk(Path("x" * 5000))


def test_a_folder_that_does_not_open_is_named_and_stops_no_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    readable = write(tmp_path / "b.jsonl", user("x"))
    closed = tmp_path / "closed"
    closed.mkdir()
    opened = os.scandir

    def refuse(folder: str) -> object:
        if Path(folder) == closed:
            raise PermissionError(13, "Permission denied", str(folder))
        return opened(folder)

    monkeypatch.setattr(os, "scandir", refuse)
    assert walk(tmp_path) == [readable, closed]
    assert walk(closed) == [closed]
    assert f"{closed} cannot be read: " in read_file(closed, "claude_code").error


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"", "is empty"),
        (b"\n\n", "is empty"),
        (b"%PDF-1.7\n%\xe2\xe3\n1 0 obj", "no line of its beginning is a JSON object"),
        (b"\x7fELF\x00\x00\x01", "is a binary file"),
        (b"# Notes\nfix the port\n", "no line of its beginning is a JSON object"),
        ('{"type":"user"}'.encode("utf-16"), "is UTF-16"),
        (b'{"silly":"this"}\n', "no transcript in a format that is read"),
        (b'{"name": "shop",\n "scripts": {"test": "make test"}}\n', "no transcript in a format that is read"),
        (b'{"input": "src", "output": "dist"}', "no transcript in a format that is read"),
        (b'{"type":"user","message":{"content":"cut', "no line of its beginning is a JSON object"),
    ],
)
def test_a_file_that_is_no_transcript_says_so(tmp_path: Path, content: bytes, sentence: str) -> None:
    path = tmp_path / "file.jsonl"
    path.write_bytes(content)
    outcome = read_file(path)
    assert sentence in outcome.error
    assert outcome.sessions == []
    assert outcome.books()["balanced"]


def test_a_file_that_cannot_be_read_says_so(tmp_path: Path) -> None:
    assert "cannot be read: no such file or directory" in read_file(tmp_path / "gone.jsonl").error
    assert "cannot be read: is a directory" in read_file(tmp_path, "claude_code").error


def test_the_file_whose_last_line_is_oldest_comes_first(tmp_path: Path) -> None:
    late = write(
        tmp_path / "a.jsonl", user("x", timestamp="2026-11-03T09:00:00Z"), user("y", timestamp="2026-11-05T09:00:00Z")
    )
    early = write(tmp_path / "b.jsonl", user("x", timestamp="2026-11-04T09:00:00Z"), b"cut {")
    assert in_order_of_time([late, early]) == [early, late]
