"""Secrets in a text, found by the shapes their issuers give them, and replaced by a placeholder.

Each rule names literal anchors. One pass of `in` decides which rules run at all, and a rule's pattern runs only on
lines that hold its anchor. Most shapes are one long word: their anchors are looked for in the long words alone. No rule
fires on entropy alone: hashes, UUIDs and images are not secrets.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from memory.privacy import assignments
from memory.privacy.assignments import is_password, is_url_password
from memory.privacy.invisible import seen_through

MOST_LOOKS = 5
LONG_WORD = 15  # the shortest secret of the table: xoxb- and ten characters
Guard = Callable[["re.Match[str]"], bool]


@dataclass(frozen=True, slots=True)
class Rule:
    """One kind of secret. `pattern`'s group 1, or all of it, is the secret; `guard` may refuse a match."""

    name: str
    anchors: tuple[str, ...]
    pattern: re.Pattern[str]
    guard: Guard | None = None
    cased: bool = False  # anchors are looked for in the text as it stands
    one_word: bool = True  # anchor and secret stand in one word of LONG_WORD characters or more


# A word begins here; in JSON that is quoted inside a text, it may begin right behind \\n.
_WORD_START = r"(?:(?<![A-Za-z0-9])|(?<=\\[nrt]))"


def _prefixed(name: str, prefixes: str, body: str, *, cased: bool = False) -> Rule:
    """A token that begins with one of the space-separated literal `prefixes`.

    ghp_ and its like are unmistakable wherever they stand; shorter ones, and mere letters, must begin a word.
    """
    literals = tuple(prefixes.split())
    choice = "|".join(re.escape(literal) for literal in literals)
    unmistakable = all(len(literal) > 3 and literal[-1] in "_-." for literal in literals) and name != "mailgun-key"
    return Rule(
        name,
        literals if cased else tuple(literal.lower() for literal in literals),
        re.compile(rf"{'' if unmistakable else _WORD_START}(?:{choice})(?:{body})", re.ASCII),
        _is_not_crossed_out,
        cased,
    )


def _is_not_crossed_out(match: re.Match[str]) -> bool:
    """False for sk-xxxxxxxx and its like, which documentation is full of."""
    return not set(match[0][14:].lower()) <= {"x"}


def _holds_a_digit(match: re.Match[str]) -> bool:
    return any(letter.isdigit() for letter in match[1])


# Base64 of a key: whole lines or the pieces of a quoted string, behind the line numbers and marks that tools add.
# Up to its END line whatever is between looks like; without one, as far as runs of base64 go.
_PEM_GAP = r"(?:\\[nr]|[\s\"',+>|→\d])*"
_PEM_END = r"-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----"
_PEM = re.compile(
    r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----(?:"
    rf"(?:(?!-----)[^\x00]){{1,12000}}{_PEM_END}"
    r"|(?:(?:\\[nr]|\s)*(?:Proc-Type|DEK-Info|Version|Comment|Hash):[^\n\\]{0,200})*"
    rf"(?:{_PEM_GAP}[A-Za-z0-9+/=]{{16,}})+)"
)

_SPOKEN_PASSWORD = re.compile(
    r"\b(?:password|passwort|passphrase|passcode|kennwort|mot de passe|contraseña|senha)\b"
    r"[^\S\n]{1,2}(?:is|ist|lautet|est|es|was|=)[^\S\n]{0,2}:?[^\S\n]{0,2}[\"'`]?([^\s\"'`,;<>]{6,100})",
    re.IGNORECASE,
)

# Order is precedence: where two rules meet, the first one names the placeholder.
RULES: tuple[Rule, ...] = (
    Rule("private-key", ("-----begin ",), _PEM, one_word=False),
    _prefixed("countersign-key", "cs_", r"[0-9a-f]{4,32}_[0-9a-f]{40}(?![0-9A-Za-z])"),
    _prefixed("anthropic-key", "sk-ant-", r"[\w-]{20,200}"),
    _prefixed("langfuse-key", "sk-lf-", r"[0-9a-f-]{30,40}"),
    _prefixed("openrouter-key", "sk-or-v1-", r"[0-9a-f]{40,80}"),
    _prefixed("openai-key", "sk-proj- sk-svcacct- sk-admin- sk-None-", r"[\w-]{20,250}"),
    _prefixed("openai-key", "sk-", r"(?=[A-Za-z]*[0-9])[A-Za-z0-9]{20,120}(?![\w-])"),
    _prefixed("aws-access-key", "AKIA ASIA ABIA ACCA", r"[A-Z0-9]{16}(?![A-Za-z0-9])", cased=True),
    Rule(
        "aws-secret-key",
        ("secret_access_key", "secretaccesskey", "aws_secret", "secretkey"),
        re.compile(
            r"(?:secret_?access_?key|aws_secret(?:_key)?|secretkey)\\?[\"'\]]{0,2}\s{0,3}(?:=>|:=|[:=])\s{0,3}\\?[\"']?"
            r"([A-Za-z0-9/+=]{40})(?![A-Za-z0-9/+=])",
            re.IGNORECASE,
        ),
        one_word=False,
    ),
    _prefixed("github-token", "ghp_ gho_ ghu_ ghs_ ghr_", r"[A-Za-z0-9]{30,255}"),
    _prefixed("github-token", "github_pat_", r"\w{22,255}"),
    _prefixed("gitlab-token", "glpat- gldt- glrt- glptt- glcbt- glsoat- glft- glimt- glagent-", r"[\w.-]{18,200}"),
    _prefixed("slack-token", "xoxb- xoxp- xoxa- xoxe- xoxo- xoxr- xoxs- xoxc- xoxd- xapp-", r"[\w%.-]{10,250}"),
    Rule(
        "slack-webhook",
        ("hooks.slack.com/",),
        re.compile(r"hooks\.slack\.com/(?:services|workflows|triggers)/([\w/+-]{20,120})"),
    ),
    Rule(
        "discord-webhook",
        ("/api/webhooks/",),
        re.compile(r"discord(?:app)?\.com/api/webhooks/(\d{5,30}/[\w-]{30,120})"),
    ),
    _prefixed("stripe-key", "sk_live_ sk_test_ rk_live_ rk_test_", r"[A-Za-z0-9]{10,250}"),
    _prefixed("webhook-secret", "whsec_", r"[A-Za-z0-9+/=]{20,100}"),
    _prefixed("google-key", "AIza", r"[\w-]{35}(?![\w-])", cased=True),
    _prefixed("google-oauth", "GOCSPX- ya29.", r"[\w.-]{20,250}", cased=True),
    _prefixed("npm-token", "npm_", r"[A-Za-z0-9]{36}(?![A-Za-z0-9])"),
    _prefixed("pypi-token", "pypi-AgE", r"[\w-]{40,300}", cased=True),
    _prefixed("sendgrid-key", "SG.", r"[\w-]{16,32}\.[\w-]{30,64}", cased=True),
    _prefixed("twilio-key", "SK AC", r"[0-9a-f]{32}(?![0-9A-Za-z])", cased=True),
    _prefixed("mailgun-key", "key-", r"[0-9a-f]{32}(?![0-9A-Za-z])"),
    _prefixed("huggingface-token", "hf_", r"[A-Za-z0-9]{30,50}(?![A-Za-z0-9_])"),
    _prefixed("digitalocean-token", "dop_v1_ doo_v1_ dor_v1_", r"[0-9a-f]{60,70}"),
    _prefixed("shopify-token", "shpat_ shpca_ shppa_ shpss_", r"[0-9a-fA-F]{32}"),
    _prefixed("databricks-token", "dapi", r"[0-9a-f]{32}(?:-\d)?(?![0-9A-Za-z])"),
    _prefixed("linear-key", "lin_api_ lin_oauth_", r"[A-Za-z0-9]{32,64}"),
    _prefixed("notion-key", "ntn_ secret_", r"[A-Za-z0-9]{43,50}(?![A-Za-z0-9_])"),
    _prefixed("sentry-token", "sntrys_ sntryu_", r"[\w+/=-]{40,250}"),
    _prefixed("grafana-token", "glsa_ glc_", r"[\w+/=]{32,250}"),
    _prefixed("doppler-token", "dp.pt. dp.st. dp.ct.", r"[\w.]{40,80}"),
    _prefixed("supabase-token", "sbp_ sb_secret_", r"\w{20,80}"),
    _prefixed("planetscale-token", "pscale_tkn_ pscale_pw_ pscale_oauth_", r"[\w.=-]{30,64}"),
    _prefixed("groq-key", "gsk_", r"[A-Za-z0-9]{40,80}"),
    _prefixed("xai-key", "xai-", r"[A-Za-z0-9]{60,100}"),
    _prefixed("perplexity-key", "pplx-", r"[A-Za-z0-9]{40,64}"),
    _prefixed("replicate-token", "r8_", r"[A-Za-z0-9]{37}(?![A-Za-z0-9])"),
    _prefixed("docker-token", "dckr_pat_ dckr_oat_", r"[\w-]{20,64}"),
    _prefixed("atlassian-token", "ATATT3 ATCTT3", r"[\w=-]{60,250}", cased=True),
    _prefixed("postman-key", "PMAK-", r"[0-9a-f]{24}-[0-9a-f]{34}", cased=True),
    _prefixed("newrelic-key", "NRAK- NRAL- NRII-", r"[\w-]{20,64}", cased=True),
    _prefixed("tailscale-key", "tskey-", r"[a-z]{3,10}-\w{10,40}(?:-\w{10,64})?"),
    _prefixed("vault-token", "hvs. hvb. hvr.", r"[\w-]{24,250}"),
    _prefixed("age-key", "AGE-SECRET-KEY-1", r"[0-9A-Z]{58}", cased=True),
    Rule("telegram-token", (":aa",), re.compile(r"(?<!\d)(\d{8,10}:AA[\w-]{33})(?![\w-])", re.ASCII)),
    Rule(
        "azure-key",
        ("accountkey=", "sharedaccesskey="),
        re.compile(r"(?:AccountKey|SharedAccessKey)=([A-Za-z0-9+/]{40,100}={0,2})", re.IGNORECASE),
    ),
    Rule(
        "signed-url",
        ("x-amz-signature=", "x-goog-signature=", "&sig=", "?sig="),
        re.compile(r"(?:X-Amz-Signature|X-Goog-Signature|[?&]sig)=([A-Za-z0-9%+/=_-]{32,600})", re.IGNORECASE),
    ),
    Rule(
        "jwt",
        ("eyj",),
        re.compile(
            r"(?:(?<![\w-])|(?<=\\[nrt]))eyJ[\w-]{8,4000}\.[\w-]{8,8000}\.[\w-]{8,2000}(?:\.[\w-]{8,2000}){0,2}",
            re.ASCII,
        ),
    ),
    Rule(
        "url-password",
        ("://",),
        re.compile(r"://[^\s/:@\"'<>`]{0,100}:([^\s/@\"'<>`]{1,200})@(?=[^\s\"'<>`])", re.IGNORECASE),
        is_url_password,
    ),
    Rule(
        "bearer-token",
        ("bearer ",),
        re.compile(r"\bbearer[ \t]{1,3}([\w.~+/-]{16,4000}={0,2})", re.IGNORECASE | re.ASCII),
        _holds_a_digit,
        one_word=False,
    ),
    Rule(
        "basic-auth",
        ("basic ",),
        re.compile(
            r"authorization\\?[\"']?\s{0,3}[:=,]\s{0,3}\\?[\"']?basic[ \t]{1,3}([A-Za-z0-9+/]{8,400}={0,2})",
            re.IGNORECASE,
        ),
        one_word=False,
    ),
    Rule(
        "basic-auth",
        ("curl ",),
        re.compile(r"\s(?:-u|--user)[ =]{1,2}[\"']?[^\s:\"'$]{1,64}:([^\s\"'$]{4,128})"),
        lambda match: "curl " in match.string[max(0, match.start() - 400) : match.start() + 1],
        one_word=False,
    ),
    Rule(
        "command-password",
        ("mysql", "mariadb", "sshpass"),
        re.compile(r"(?:mysql\w*|mariadb[\w-]*|sshpass)[^\n]{0,120}?\s-p ?[\"']?([^\s\"'$-][^\s\"'$]{3,100})"),
        lambda match: is_password(match[1]),
        one_word=False,
    ),
    Rule(
        "spoken-password",
        ("password", "passwort", "passphrase", "passcode", "kennwort", "mot de passe", "contraseña", "senha"),
        _SPOKEN_PASSWORD,
        lambda match: is_password(match[1], spoken=True),
        one_word=False,
    ),
)

_RANKED = tuple(enumerate(RULES))
_NAMES = (*(rule.name for rule in RULES), assignments.RULE)
_PLACEHOLDER = re.compile(r"\[secret: ([a-z][a-z-]{1,39})\]")


@dataclass(frozen=True, slots=True)
class Span:
    """Where a secret, or the placeholder of one, stands."""

    start: int
    end: int
    rule: str


def placeholder(rule: str) -> str:
    """What is stored in a secret's place."""
    return f"[secret: {rule}]"


def replace(text: str) -> tuple[str, list[Span]]:
    """The text with every secret replaced, and the spans of the placeholders in it.

    Placeholders that already stand in the text count too, so cleaning twice says the same as cleaning once.
    """
    secrets = find(text)
    # One replacement can lay another secret bare that it touched; a second look costs only texts that held one.
    for _ in range(MOST_LOOKS):
        if all(_is_placeholder(secret, text) for secret in secrets):
            break
        text = _with_stand_ins(text, secrets)
        secrets = find(text)
    return text, secrets


def _is_placeholder(secret: Span, text: str) -> bool:
    return text[secret.start : secret.end] == placeholder(secret.rule)


def _with_stand_ins(text: str, secrets: list[Span]) -> str:
    pieces: list[str] = []
    taken = 0
    for secret in secrets:
        pieces += (text[taken : secret.start], placeholder(secret.rule))
        taken = secret.end
    return "".join([*pieces, text[taken:]])


def find(text: str) -> list[Span]:
    """Every secret in the text, in order, none overlapping another; also one that unseen characters cut in pieces."""
    seen, places = seen_through(text)
    spans = _find(seen)
    if len(seen) == len(text):
        return spans
    return [Span(places[span.start], places[span.end - 1] + 1, span.rule) for span in spans]


def _find(text: str) -> list[Span]:
    lowered = lower(text)
    words = "\n".join({word for word in text.split() if len(word) >= LONG_WORD})
    lowered_words = words.lower()
    found: list[tuple[int, int, int]] = []
    for rank, rule in _RANKED:
        if rule.one_word:
            haystack = words if rule.cased else lowered_words
        else:
            haystack = lowered
        for anchor in rule.anchors:
            if anchor in haystack:
                whole = text if rule.cased else lowered
                found += [(start, end, rank) for start, end in _matches(rule, anchor, whole, text)]
    found += [(start, end, len(RULES)) for start, end in assignments.find(text, lowered)]
    spans = _joined(found)
    if "[secret: " in text:
        spans = _with_placeholders(spans, text)
    return spans


def lower(text: str) -> str:
    """Lower case of the same length: İ is the one letter whose lower case is two code points."""
    return (text.replace("İ", "I") if "İ" in text else text).lower()


def _matches(rule: Rule, anchor: str, haystack: str, text: str) -> Iterator[tuple[int, int]]:
    group = 1 if rule.pattern.groups else 0
    multiline = rule.pattern is _PEM
    position = haystack.find(anchor)
    while position >= 0:
        # A very long line is read once, from just before its first anchor on.
        start = max(haystack.rfind("\n", max(0, position - 400), position) + 1, position - 400, 0)
        end = len(text) if multiline else haystack.find("\n", position)
        if end < 0:
            end = len(text)
        for match in rule.pattern.finditer(text, start, end):
            if rule.guard is None or rule.guard(match):
                yield match.span(group)
        position = haystack.find(anchor, end)


def _joined(found: list[tuple[int, int, int]]) -> list[Span]:
    """Overlapping matches become one span, so that nothing of either is left; the first rule of the table names it."""
    spans: list[tuple[int, int, int]] = []
    for start, end, rank in sorted(found):
        if spans and start < spans[-1][1]:
            first, last, known = spans[-1]
            spans[-1] = (first, max(last, end), min(known, rank))
        else:
            spans.append((start, end, rank))
    return [Span(start, end, _NAMES[rank]) for start, end, rank in spans]


def _with_placeholders(spans: list[Span], text: str) -> list[Span]:
    known = [Span(*match.span(), match[1]) for match in _PLACEHOLDER.finditer(text)]
    apart = [span for span in known if not any(span.start < other.end and other.start < span.end for other in spans)]
    return sorted(spans + apart, key=lambda span: span.start)
