import math
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from memory import embeddings


def cosine(one: str, other: str) -> float:
    first, second = embeddings.embed([one, other])
    return sum(a * b for a, b in zip(first, second, strict=True))


def test_a_vector_has_384_dimensions_and_length_one() -> None:
    for vector in embeddings.embed(["The user prefers pnpm over npm.", "", "语言", "word " * 2_000]):
        assert len(vector) == embeddings.DIMENSIONS
        assert math.fsum(value * value for value in vector) == pytest.approx(1, abs=1e-5)


@pytest.mark.parametrize(
    ("text", "near", "far"),
    [
        ("The customer wants a refund", "The client asks for their money back", "The build uses pnpm"),
        ("Run the tests with make test", "Use make test to execute the test suite", "Her flight leaves at nine"),
        ("The database listens on port 5432", "Postgres is reachable on port 5432", "Prefer tabs to spaces"),
    ],
)
def test_a_paraphrase_is_nearer_than_an_unrelated_text(text: str, near: str, far: str) -> None:
    assert cosine(text, near) > cosine(text, far) + 0.3


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("The API supports retries", "The API does not support retries"),
        ("The port is 5432", "The port is 5433"),
    ],
)
def test_cosine_alone_cannot_tell_opposite_facts_apart(one: str, other: str) -> None:
    # The reason reconciliation compares numbers and negation itself; should this ever fail, read it anew.
    assert cosine(one, other) > 0.8


def test_order_is_kept_over_batches_and_a_batch_changes_nothing() -> None:
    texts = [f"fact {number} " + "about the build " * (number % 7) for number in range(3 * embeddings.BATCH + 5)]
    together = embeddings.embed(texts)
    assert len(together) == len(texts)
    for index in (0, 7, 20, len(texts) - 1):
        assert together[index] == pytest.approx(embeddings.embed([texts[index]])[0], abs=1e-5)


def test_no_texts_give_no_vectors_and_one_bare_text_is_refused() -> None:
    assert embeddings.embed([]) == []
    with pytest.raises(TypeError):
        embeddings.embed("one text")


def test_special_tokens_in_an_agents_text_are_read_as_letters() -> None:
    encoding = embeddings._tokenizer(embeddings.VOCABULARY_FILE).encode("[SEP] hi")
    assert encoding.tokens == ["[CLS]", "[", "sep", "]", "hi", "[SEP]"]


def test_many_threads_may_embed_at_once() -> None:
    texts = [f"thread {number}" for number in range(16)]
    with ThreadPoolExecutor(4) as pool:
        vectors = list(pool.map(lambda text: embeddings.embed([text])[0], texts))
    for vector, expected in zip(vectors, embeddings.embed(texts), strict=True):
        assert vector == pytest.approx(expected, abs=1e-5)


@pytest.mark.parametrize(
    "vector",
    [
        [],
        [0.1] * 383,
        [0.1] * 385,
        [0.0] * 384,
        [math.nan] + [0.1] * 383,
        [math.inf] + [0.1] * 383,
        [-math.inf, math.inf] + [0.1] * 382,
    ],
    ids=["empty", "short", "long", "zero", "nan", "infinite", "both infinities"],
)
def test_a_vector_without_a_cosine_is_refused(vector: Sequence[float]) -> None:
    with pytest.raises(embeddings.BadVector):
        embeddings.check_vector(vector)


def test_a_model_that_is_not_the_pinned_one_is_refused(tmp_path: Path) -> None:
    forged = tmp_path / "model.onnx"
    with pytest.raises(embeddings.EmbedderUnavailable, match="cannot be read"):
        embeddings._verify(forged, embeddings.MODEL_SHA256, "reinstall it")
    forged.write_bytes(b"another model")
    with pytest.raises(embeddings.EmbedderUnavailable, match="not the pinned one; reinstall it"):
        embeddings._verify(forged, embeddings.MODEL_SHA256, "reinstall it")


def test_a_vector_that_must_not_be_stored_never_leaves_the_embedder() -> None:
    class Zeros:
        def embed(self, texts: Sequence[str]) -> list[list[float]]:
            return [[0.0] * embeddings.DIMENSIONS for _ in texts]

    embeddings.use(Zeros())
    try:
        with pytest.raises(embeddings.BadVector, match="zero"):
            embeddings.embed(["anything"])
    finally:
        embeddings.use(None)
    assert len(embeddings.embed(["anything"])[0]) == embeddings.DIMENSIONS
