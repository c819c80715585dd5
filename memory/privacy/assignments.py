"""Names that are given a value: is the value in `password = value` a secret, or a variable, a type, a placeholder?

The words password, token, secret and key stand all over code and documentation. What tells a secret apart is its value,
so each guard looks at that.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator

RULE = "assigned-secret"

# Values that stand for a secret instead of being one.
_STAND_IN = re.compile(
    r"^(?:[\[<{(%$*#&]|\.\.\.|…|https?://|[./~\\]|@|--)"  # [secret: …], <token>, {{ token }}, $TOKEN, ****, paths
    r"|\$\{|\{\{|%\(|\.\.\.|…|\*{3,}|x{4,}|_here\b|-here\b"
    r"|^(?:your|my|the|some|any|new|old|our|insert|replace|enter|add|put|use|get|set|change|fake|dummy|sample|example|test|mock|foo|bar"
    r"|null|none|nil|true|false|undefined|string|str|bytes|bool|boolean|int|integer|number|object|optional|required|any|void|secret"
    r"|password|passwd|pass|token|key|hidden|redacted|masked|empty|missing|invalid|expired|basic|bearer|process|os|env|self|this|config"
    r"|settings|req|request|args|options|ctx|props|data|user|var|let|const|await|return|func|function|lambda|import|from|field)"
    r"(?:[^a-z0-9]|$|[_.-]|word|key|token|_?secret)",
    re.IGNORECASE,
)
# Code where the value should be: a call, an index, an attribute, an operator, a template.
_CODE = re.compile(
    r"[(){}\[\]<>|]|=>|->|::|\$[A-Za-z{]|^[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+$|^[A-Z][A-Z0-9_]*$|^[a-z]+(?:_[a-z]+)+$"
)
_NOT_THE_SECRET = re.compile(
    r"(?:[_-](?:name|names|type|types|count|counts|id|ids|url|uri|path|file|dir|expires?|expiry|ttl|limit|limits|length|len|size|field"
    r"|env|var|arn|in|at|version|policy|format|prefix|header|budget|usage|used|rate|ref|index|pos|hash|hashed|algo|algorithm|min|max))+$",
    re.IGNORECASE,
)
_SPOKEN_WORD = re.compile(
    r"^(?:base64|sha-?\d+|md5|bcrypt|argon2i?d?|utf-?\d+|pbkdf2|aes-?\d*|\d+[- ]?(?:char|digit|letter)\w*)",
    re.IGNORECASE,
)
_UNLIKE_A_TOKEN = re.compile(
    r"^(?:[0-9.,:_/-]+|\d+(?:\.\d+)*[a-z]{0,3}|v?\d+\.\d+\S*|\d{4}-\d\d-\d\d\S*)$", re.IGNORECASE
)
_LOCAL_HOST = re.compile(
    r"@(?:localhost|127\.0\.0\.1|0\.0\.0\.0|\[::1\]|host\.docker\.internal|[a-z][a-z0-9_-]*)(?::\d+)?(?:[/?\s\"'`]|$)",
    re.IGNORECASE,
)
# The words that name a secret, and what may stand between one and its value.
_WORDS = ("passw", "passphrase", "pass", "pwd", "pw", "secret", "token", "key", "credential")
_KEY_OF = tuple(
    f"{kind}{mark}"
    for kind in ("api", "access", "auth", "private", "encryption", "signing", "secret", "account", "service", "master")
    for mark in ("", "_", "-", " ")
)
_GIVEN = re.compile(
    r"(?P<more>(?:or[dt]|d|phrase)?s?(?:[_-][A-Za-z0-9]{1,12}){0,2})"
    r"\\?[\"'`\]]{0,2}[ \t]{0,3}(?:=>|:=|==?|:)[ \t]{0,3}(?:[a-z]?\\?[\"'`])?"
    r"(?P<value>(?<=[\"'`])[^\"'`\n\\]{4,200}|[^\s\"'`,;<>\\]{4,200})",
    re.IGNORECASE,
)
# Names of tokens that are no credentials: a page's cursor, a parser's output.
_HARMLESS_WORDS = (
    "next_ next page_ page sync_ continuation_ max_ eos_ bos_ pad_ primary_ foreign_ public_ publickey sort_ partition_"
    " cache_ idempotency_ cancellation cancel_"
)
_HARMLESS_BEFORE = tuple(_HARMLESS_WORDS.split())


def find(text: str, lowered: str) -> Iterator[tuple[int, int]]:
    """The spans of values given to a name of a secret: `password: …`, `"apiToken": "…"`, `SECRET_KEY=…`.

    `lowered` is the text in lower case, of the same length.
    """
    for word in _WORDS:
        position = lowered.find(word)
        while position >= 0:
            match = _GIVEN.match(text, position + len(word))
            if match and _is_credential(word, match, lowered, position):
                yield match.span("value")
            position = lowered.find(word, position + len(word))


def _is_credential(word: str, match: re.Match[str], lowered: str, position: int) -> bool:
    before = lowered[max(0, position - 16) : position]
    if word in ("pass", "pwd", "pw") and before[-1:].isalnum() and before[-2:] not in ("\\n", "\\t", "\\r"):
        return False  # bypass: …
    if word == "key" and not before.endswith(_KEY_OF):
        return False
    if before.endswith(_HARMLESS_BEFORE) or _NOT_THE_SECRET.search(match["more"]):
        return False
    value = match["value"]
    if word.startswith("p"):
        return is_password(value, quoted=_mark_before(match) in "\"'`")
    return is_token(value)


def _mark_before(match: re.Match[str]) -> str:
    """The character before the value: a quote, or what stands between name and value."""
    return match.string[match.start("value") - 1]


def is_password(value: str, *, quoted: bool = False, spoken: bool = False) -> bool:
    """A password is short and made up: a digit or a mark among letters, and neither code nor a stand-in."""
    value = value if quoted else value.rstrip(".,;:!?)")
    if len(value) < 6 or _STAND_IN.search(value) or (spoken and _SPOKEN_WORD.match(value)):
        return False
    if not quoted and _CODE.search(value):
        return False
    if quoted and (" " in value.strip() and not any(letter.isdigit() for letter in value)):
        return False  # a label or a message
    has_digit = any(letter.isdigit() for letter in value)
    has_letter = any(letter.isalpha() for letter in value)
    if spoken or not quoted:
        return has_digit and has_letter
    return has_letter and (has_digit or any(not letter.isalnum() and letter not in " _-./:" for letter in value))


def is_token(value: str) -> bool:
    """A token or key is long and irregular: letters and digits mixed, at least 3 bits of entropy a character."""
    value = value.rstrip(".,;:!?)")
    if (
        len(value) < 12
        or " " in value
        or _STAND_IN.search(value)
        or _CODE.search(value)
        or _UNLIKE_A_TOKEN.match(value)
    ):
        return False
    if not (any(letter.isdigit() for letter in value) and any(letter.isalpha() for letter in value)):
        return False
    return entropy(value) >= 3.0


def is_url_password(match: re.Match[str]) -> bool:
    """False for a stand-in, and for user = password on the own machine, the habit of every development database."""
    value = match[1]
    if _STAND_IN.search(value) and not any(letter.isdigit() for letter in value):
        return False
    if re.match(r"[\[<{$%*]", value):
        return False
    user = match[0].split("://", 1)[1].split(":", 1)[0]
    return not (value in (user, "postgres", "password") and _LOCAL_HOST.match(match.string, match.end() - 1))


def entropy(value: str) -> float:
    """Shannon entropy in bits a character."""
    return -sum(count / len(value) * math.log2(count / len(value)) for count in Counter(value).values())


_SECRET_FIELD = re.compile(
    r"(?:^|[_.-]|(?<=[a-z])(?=[A-Z]))(?:passw(?:or)?d|passphrase|pwd|secret|token|api[_-]?key|apikey|access[_-]?key|private[_-]?key"
    r"|authorization|client[_-]?secret|credentials?|cookie)$",
    re.IGNORECASE,
)


def is_secret_field(name: str, value: str) -> bool:
    """For a field of JSON: {"db_password": "…"} holds a secret, {"next_token": "…"} and {"password": "string"} none."""
    if len(value) > 4_000 or value.startswith("[secret: ") or not _SECRET_FIELD.search(name):
        return False
    if name.lower().startswith(_HARMLESS_BEFORE):
        return False
    if re.search(r"pass|pwd", name, re.IGNORECASE):
        return is_password(value, quoted=True)
    return is_token(value.split(" ", 1)[1] if value.lower().startswith(("bearer ", "basic ")) else value)
