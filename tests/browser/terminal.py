"""Runs lines that were copied from a page, as a person would paste them into a terminal."""

from __future__ import annotations

import http.client
import json
import shlex
import shutil
import subprocess
from typing import Any
from urllib.parse import urlsplit


def commands(lines: str) -> list[str]:
    """Each command of the lines, which may go over several of them."""
    return [command for command in lines.replace("\\\n", " ").splitlines() if command.strip()]


def run(lines: str) -> list[Any]:
    """What each command answered, as JSON. Where there is no curl the very same line is read and sent by Python."""
    return [json.loads(_curl(command) if shutil.which("curl") else _sent(command)) for command in commands(lines)]


def _curl(command: str) -> str:
    return subprocess.run(["sh", "-c", command], capture_output=True, text=True, check=True, timeout=60).stdout


def _sent(command: str) -> str:
    words = shlex.split(command)
    assert words.pop(0) == "curl"
    method, headers, body, url = "GET", {}, None, ""
    while words:
        word = words.pop(0)
        if word == "-X":
            method = words.pop(0)
        elif word == "-H":
            name, _, value = words.pop(0).partition(": ")
            headers[name] = value
        elif word == "-d":
            body = words.pop(0)
        else:
            url = word
    place = urlsplit(url)
    connection = http.client.HTTPConnection(place.netloc, timeout=60)
    try:
        connection.request(method, place.path, body, headers)
        return connection.getresponse().read().decode()
    finally:
        connection.close()
