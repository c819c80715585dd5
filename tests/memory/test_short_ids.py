import re
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.short_ids import ALPHABET, decode, encode

KEY = b"a key for the tests, 32 bytes..."
OTHER_KEY = b"another key for tests, 32 bytes."
row_numbers = st.one_of(
    st.integers(1, 2**30 - 1), st.integers(2**30, 2**40 - 1), st.integers(2**40, 2**63 - 1), st.integers(1, 500)
)


@given(row_numbers, st.sampled_from("fsbo"))
def test_every_row_number_comes_back(pk: int, prefix: str) -> None:
    assert decode(encode(pk, prefix, KEY), prefix, KEY) == pk


@given(st.text(alphabet=ALPHABET, min_size=6, max_size=13))
def test_whatever_decodes_is_exactly_what_encode_writes(letters: str) -> None:
    pk = decode(f"f-{letters}", "f", KEY)
    assert pk is None or encode(pk, "f", KEY) == f"f-{letters}"


@given(st.text(max_size=20))
def test_any_other_text_is_no_id(text: str) -> None:
    pk = decode(text, "f", KEY)
    assert pk is None or encode(pk, "f", KEY) == text


@pytest.mark.parametrize(
    ("pk", "letters"),
    [(1, 6), (2**30 - 1, 6), (2**30, 8), (2**40 - 1, 8), (2**40, 13), (2**63 - 1, 13)],
)
def test_length_grows_in_three_classes(pk: int, letters: int) -> None:
    assert re.fullmatch(rf"f-[{ALPHABET}]{{{letters}}}", encode(pk, "f", KEY))
    assert decode(encode(pk, "f", KEY), "f", KEY) == pk


def test_no_two_rows_share_an_id() -> None:
    assert len({encode(pk, "f", KEY) for pk in range(1, 20_001)}) == 20_000


def test_neighbouring_rows_cannot_be_counted() -> None:
    ids = [encode(pk, "f", KEY)[2:] for pk in range(1, 501)]
    values = [int("".join(f"{ALPHABET.index(letter):05b}" for letter in letters), 2) for letters in ids]
    rising = sum(first < second for first, second in pairwise(values))
    assert 200 < rising < 300
    assert min(abs(first - second) for first, second in pairwise(values)) > 1


def test_another_prefix_or_key_gives_an_unrelated_id() -> None:
    assert len({encode(7, prefix, KEY)[2:] for prefix in "fsbo"}) == 4
    assert encode(7, "f", KEY) != encode(7, "f", OTHER_KEY)
    fact = encode(7, "f", KEY)
    assert decode(fact, "s", KEY) is None
    assert decode("s" + fact[1:], "s", KEY) != 7


def test_malformed_ids_are_none() -> None:
    good = encode(7, "f", KEY)
    for bad in [
        "",
        "f-",
        good.upper(),
        good.replace("f-", "F-"),
        " " + good,
        good + " ",
        good + "\n",
        good[:-1],
        good + "0",
        good.replace("-", "_"),
        good[2:],
        "f-ilou00",
        "f-" + "z" * 7,
        "f-" + "z" * 13,
        "f-" + "z" * 500,
        "f-٠١٢٣٤٥",
        "7",
    ]:
        assert decode(bad, "f", KEY) is None, bad


@pytest.mark.parametrize("pk", [0, -1, 2**63])
def test_a_number_no_row_can_have_is_refused(pk: int) -> None:
    with pytest.raises(ValueError, match="row number"):
        encode(pk, "f", KEY)


@pytest.mark.parametrize("prefix", ["", "F", "ff", "1", "é"])
def test_a_prefix_is_one_lower_case_letter(prefix: str) -> None:
    with pytest.raises(ValueError, match="prefix"):
        encode(1, prefix, KEY)


def test_a_short_key_is_refused() -> None:
    with pytest.raises(ValueError, match="SHORT_ID_KEY"):
        encode(1, "f", b"short")


def test_the_key_comes_from_the_settings_when_none_is_given(settings: object) -> None:
    settings.SHORT_ID_KEY = KEY.decode()  # type: ignore[attr-defined]
    assert encode(7) == encode(7, "f", KEY)
    assert decode(encode(7)) == 7
