"""Which hosts a text names: in addresses, e-mail domains, and bare where the ending leaves no doubt."""

from __future__ import annotations

import re

from memory.suspicions.lookalikes import plain_letters

_NAME = r"(?:[^\W_](?:[\w-]{0,61}[^\W_])?\.)+[^\W\d_]{2,24}"
_IN_ADDRESS = re.compile(rf"(?:\b[a-z][a-z0-9+.-]{{1,12}}://(?:[^\s/@]{{1,80}}@)?|\bwww\.|@)({_NAME})", re.IGNORECASE)
_BEFORE_PATH = re.compile(rf"(?<![\w@./-])({_NAME})(?=/[\w?#])")
# Endings that no file, module or product has.
_BARE = re.compile(
    r"(?<![\w@./-])((?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+"
    r"(?:com|org|info|biz|ai|app|dev|cloud|example|invalid|xyz|top|ru|cn|site|online|shop|club|click|link))"
    r"(?![\w/-]|\.\w)"
)
_ADDRESS = re.compile(r"\b[a-z][a-z0-9+.-]{1,12}://(?:[^\s/@]{1,80}@)?(\d{1,3}(?:\.\d{1,3}){3})\b", re.IGNORECASE)
_PRIVATE = re.compile(r"(?:127|10|0)\.|192\.168\.|172\.(?:1[6-9]|2\d|3[01])\.|169\.254\.")
# Answered by no machine but one's own.
_OWN = ("localhost", ".local", ".internal", ".lan", ".localdomain", ".home", ".arpa", ".test")
_FILES = frozenset(
    """py js ts md rs sh go rb php java json yml yaml toml html css txt lock cfg ini sql xml c h cpp jsx tsx vue
    """.split()  # noqa: SIM905  (words read better as text)
)


def hosts_in(text: str) -> tuple[str, ...]:
    """The public hosts that a text names, lower case, once each, as they are written (look-alike letters stay)."""
    if "." not in text:
        return ()
    found = [match[1] for pattern in (_IN_ADDRESS, _BARE) for match in pattern.finditer(text)]
    found += [match[1] for match in _BEFORE_PATH.finditer(text) if match[1].rpartition(".")[2].lower() not in _FILES]
    named = [name.lower().removeprefix("www.") for name in found]
    named += [match[1] for match in _ADDRESS.finditer(text) if not _PRIVATE.match(match[1])]
    return tuple(dict.fromkeys(name for name in named if not plain_letters(name).endswith(_OWN)))
