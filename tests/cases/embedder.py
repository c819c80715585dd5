"""A fake embedder: vectors by name, by a bag of words, or none that could be stored."""

from __future__ import annotations

import math
import random
import re
from collections.abc import Sequence
from typing import Any

import numpy as np

from memory.embeddings import DIMENSIONS, EmbedderUnavailable
from tests.cases.result import NotBuilt

_WORD = re.compile(r"\w+")
_NAMED = re.compile(r"(\w+?)(?:\+(\d+(?:\.\d+)?))?")
Vector = list[float]


class FakeEmbedder:
    """`returns` is `normal`, `zeros`, `nan`, `short` (a dimension less) or `error` (it cannot be reached)."""

    def __init__(self, dimensions: int = DIMENSIONS, returns: str = "normal") -> None:
        if returns not in ("normal", "zeros", "nan", "short", "error"):
            raise NotBuilt(f"embedder that returns {returns}")
        self.dimensions = dimensions
        self.returns = returns
        self.known: dict[str, Vector] = {}

    def embed(self, texts: Sequence[str]) -> list[Vector]:
        if self.returns == "error":
            raise EmbedderUnavailable("The fake embedder is away.")
        return [self._vector(text) for text in texts]

    def _vector(self, text: str) -> Vector:
        if self.returns == "zeros":
            return [0.0] * self.dimensions
        if self.returns == "nan":
            return [math.nan] * self.dimensions
        length = self.dimensions - (self.returns == "short")
        return self.known.get(text) or bag_of_words(text, length)


def bag_of_words(text: str, dimensions: int) -> Vector:
    """A vector of length 1 in which texts that share words are near each other."""
    vector = [1e-6] * dimensions
    for word in _WORD.findall(text.casefold()):
        vector[random.Random(word).randrange(dimensions)] += 1.0
    return _unit(vector)


def near(name: str, count: int, dimensions: int = DIMENSIONS) -> list[Vector]:
    """`count` vectors near the named one; those near `q+0.2` lie about that much (1 - cosine) from `q`, each a bit
    further than the one before it."""
    base, away = _split(name)
    centre = _direction(base, 1, dimensions)[0]
    sides = _direction(f"{name} beside", count, dimensions)
    sides -= np.outer(sides @ centre, centre)
    sides /= np.linalg.norm(sides, axis=1, keepdims=True)
    cosines = np.clip(1.0 - away - 1e-6 * np.arange(1, count + 1), -1.0, 1.0)[:, None]
    vectors: list[Vector] = (cosines * centre + np.sqrt(1.0 - cosines**2) * sides).tolist()
    return vectors


def named(name: str, dimensions: int = DIMENSIONS) -> Vector:
    """The vector that a case calls `q`, or one near it."""
    base, away = _split(name)
    vector: Vector = near(name, 1, dimensions)[0] if away else _direction(base, 1, dimensions)[0].tolist()
    return vector


def _split(name: str) -> tuple[str, float]:
    match = _NAMED.fullmatch(name)
    if match is None:
        raise NotBuilt(f"vector {name}")
    return match[1], float(match[2] or 0.0)


def _direction(seed: str, count: int, dimensions: int) -> Any:
    found = np.random.default_rng(list(seed.encode())).standard_normal((count, dimensions))
    return found / np.linalg.norm(found, axis=1, keepdims=True)


def _unit(vector: Vector) -> Vector:
    length = math.sqrt(sum(value * value for value in vector))
    return [value / length for value in vector]
