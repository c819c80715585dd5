"""How often one key may call: a bucket of calls per key and process, refilled evenly."""

from __future__ import annotations

import math
import threading
import time

from memory.api_errors import ApiError

CALLS_PER_SECOND = 100.0
CALLS_AT_ONCE = 1_000
_KEYS_KEPT = 10_000

monotonic = time.monotonic

_lock = threading.Lock()
_buckets: dict[int, tuple[float, float]] = {}


def take(key_id: int) -> None:
    """Counts one call of this key. Raises ApiError (429) that says when to call again."""
    now = monotonic()
    with _lock:
        calls, at = _buckets.get(key_id, (float(CALLS_AT_ONCE), now))
        calls = min(float(CALLS_AT_ONCE), calls + (now - at) * CALLS_PER_SECOND)
        if len(_buckets) >= _KEYS_KEPT:
            _buckets.clear()
        _buckets[key_id] = (calls - 1 if calls >= 1 else calls, now)
    if calls < 1:
        wait = math.ceil((1 - calls) / CALLS_PER_SECOND)
        message = f"This key calls too often. Call again in {wait} s, or send more observations in one call."
        raise ApiError(429, "too_many_calls", message, headers={"Retry-After": str(wait)})


def forget() -> None:
    """Fills every bucket again."""
    with _lock:
        _buckets.clear()
