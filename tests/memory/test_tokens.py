import lzma
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from memory import tokens


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", 0),
        ("hello world", 2),
        ("Hello, world!", 4),
        ("tiktoken is great!", 6),
        ("antidisestablishmentarianism", 6),
        ("2 + 2 = 4", 7),
        ("お誕生日おめでとう", 8),
        ("The user prefers pnpm over npm.", 8),
        ("3f2b1c9e-8a4d-4f0e-9b7a-2d6c5e1f0a3b", 36),
        ("550e8400-e29b-41d4-a716-446655440000", 18),
    ],
)
def test_counts_equal_the_published_encoding(text: str, expected: int) -> None:
    assert tokens.count(text) == expected


@pytest.mark.parametrize("text", ["<|endoftext|>", "<|endofprompt|>", "a <|im_start|> b"])
def test_a_special_token_in_an_agents_text_counts_as_plain_text(text: str) -> None:
    assert tokens.count(text) > 2


def test_a_long_text_without_spaces_is_counted_whole() -> None:
    assert tokens.count("您好" * 6_000) == 6_000


def test_counts_of_rendered_lines_add_up_where_counts_of_texts_do_not() -> None:
    words = ["pnpm", "node", "redis"] * 20
    lines = [f"- {word}: the build needs {word} {number}\n" for number, word in enumerate(words)]
    assert sum(tokens.count(line) for line in lines) == tokens.count("".join(lines))
    assert tokens.count("to") + tokens.count("day") != tokens.count("today")


def test_many_threads_may_count_at_once() -> None:
    with ThreadPoolExecutor(8) as pool:
        assert set(pool.map(tokens.count, ["hello world"] * 200)) == {2}


def test_ranks_that_are_not_the_published_ones_are_refused(tmp_path: Path) -> None:
    forged = tmp_path / "ranks.xz"
    forged.write_bytes(lzma.compress(b"IQ== 0\n"))
    with pytest.raises(tokens.RanksUnusable, match="not the published"):
        tokens._ranks(forged)
    forged.write_bytes(b"no archive")
    with pytest.raises(tokens.RanksUnusable, match="cannot be read"):
        tokens._ranks(forged)
