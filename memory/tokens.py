"""How many o200k tokens a text costs, counted offline.

The ranks are vendored: tiktoken's own loader would download them. Counts of parts do not add up to the count of the
whole; counts of rendered lines, each with its newline, do. So a budget is kept in rendered lines.
"""

from __future__ import annotations

import base64
import hashlib
import lzma
import threading
from pathlib import Path

import tiktoken

TOKENIZER = "o200k_base"
RANKS_FILE = Path(__file__).parent / "data" / "o200k_base.tiktoken.xz"
# The digest OpenAI publishes for o200k_base.tiktoken; ours is that file, unpacked.
RANKS_SHA256 = "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d"

# The published o200k_base split pattern (tiktoken_ext.openai_public has it inside a function that downloads).
PATTERN = "|".join(
    [
        r"""[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?""",
        r"""[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?""",
        r"""\p{N}{1,3}""",
        r""" ?[^\s\p{L}\p{N}]+[\r\n/]*""",
        r"""\s*[\r\n]+""",
        r"""\s+(?!\S)""",
        r"""\s+""",
    ]
)

_lock = threading.Lock()
_encoding: tiktoken.Encoding | None = None


class RanksUnusable(Exception):
    """The vendored token ranks are missing or not the published ones."""


def count(text: str) -> int:
    """Number of o200k_base tokens in `text`; 0 for "".

    Special tokens such as <|endoftext|> count as the plain text they are: an agent's text must not be able to raise.
    The first call loads the ranks (about 0.5 s); `warm` does that ahead of time.
    """
    return len(_loaded().encode_ordinary(text)) if text else 0


def warm() -> None:
    """Load the ranks now, so that the first request does not wait for them. Any number of calls, any thread."""
    _loaded()


def _loaded() -> tiktoken.Encoding:
    global _encoding
    if _encoding is None:
        with _lock:
            if _encoding is None:
                _encoding = tiktoken.Encoding(
                    name=TOKENIZER, pat_str=PATTERN, mergeable_ranks=_ranks(RANKS_FILE), special_tokens={}
                )
    return _encoding


def _ranks(path: Path) -> dict[bytes, int]:
    try:
        published = lzma.decompress(path.read_bytes())
    except (OSError, lzma.LZMAError) as error:
        raise RanksUnusable(f"{path.name} cannot be read; restore memory/data from the repository.") from error
    if hashlib.sha256(published).hexdigest() != RANKS_SHA256:
        raise RanksUnusable(f"{path.name} is not the published file; restore memory/data from the repository.")
    ranks = {}
    for line in published.splitlines():
        token, rank = line.split()
        ranks[base64.b64decode(token)] = int(rank)
    return ranks
