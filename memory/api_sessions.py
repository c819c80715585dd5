"""Sessions as agents send them: observations in, and the end of a session."""

from __future__ import annotations

from ninja import Router

router = Router(tags=["sessions"])
