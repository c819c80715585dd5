"""Files of JSON as logs are kept: one value a line, or one value over many lines."""

from __future__ import annotations

import json
from collections.abc import Iterator
from io import BytesIO
from typing import Any

from memory.importers import reading, streams
from memory.importers.reading import Line, Source, parse, read_lines

_HEAD_BYTES = 64 * 1024
_CUT = "is cut or is no JSON"


def read_values(source: Source) -> Iterator[Line]:
    """Every JSON value of a file, with its number. Of a list that is cut its whole items come, and then what is wrong.

    A document over many lines is held in memory whole, and has the size limit of a line. Never raises on content.
    """
    with source.open() as handle:
        head = handle.read(_HEAD_BYTES)
        if _is_lines(head):
            handle.seek(0)
            yield from read_lines(handle)
            return
        raw = head + handle.read(max(0, reading.MAX_LINE_BYTES + 1 - len(head)))
    if len(raw) > reading.MAX_LINE_BYTES:
        yield Line(1, problem=reading.too_long())
        return
    value, problem, replaced = parse(raw.removeprefix(b"\xef\xbb\xbf"))
    if not problem:
        yield Line(1, value, "", replaced)
        return
    text = raw.decode("utf-8-sig", errors="replace")
    if streams.is_stream(text):
        yield Line(1, {"response": text}, "", replaced)
    else:
        salvaged = list(_salvaged(text, problem, replaced))
        # Nothing whole at its beginning: perhaps only its first lines are broken.
        yield from salvaged if any(not line.problem for line in salvaged) else read_lines(BytesIO(raw))


def _is_lines(head: bytes) -> bool:
    """Whether each line is a value of its own: the first one is, or, where that is cut, the second."""
    lines = [line for line in head.split(b"\n") if line.strip(b"\xef\xbb\xbf\r\t ")]
    if not lines or b"\n" not in head:
        # A single line, however long, is read as one.
        return True
    if lines[0].strip() in (b"[", b"{"):
        return False
    for line in lines[:2]:
        value, problem, _ = parse(line.removeprefix(b"\xef\xbb\xbf"))
        if not problem and isinstance(value, dict | list):
            return True
    return False


def _salvaged(text: str, problem: str, replaced: int) -> Iterator[Line]:
    """The whole values at the beginning of a broken document, the items of its list one by one."""
    decoder = json.JSONDecoder()
    place, number = _next(text, 0), 0
    is_list = text[place : place + 1] == "["
    place = _next(text, place + 1) if is_list else place
    found: list[Any] = []
    while place < len(text) and text[place] in "{[":
        try:
            value, place = decoder.raw_decode(text, place)
        except RecursionError:
            problem = "is nested too deeply"
            break
        except ValueError:
            problem = _CUT
            break
        number += 1
        found.append(value)
        place = _next(text, place)
    if is_list and found:
        yield Line(1, found, "", replaced)
    else:
        yield from (Line(at, value, "", replaced if at == 1 else 0) for at, value in enumerate(found, start=1))
    if place < len(text) and not (is_list and text[place:].strip() == "]"):
        yield Line(number + 1, problem=problem)


def _next(text: str, place: int) -> int:
    while place < len(text) and text[place] in " \t\r\n,\ufeff":
        place += 1
    return place
