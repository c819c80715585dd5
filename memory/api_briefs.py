"""The brief as agents fetch it."""

from __future__ import annotations

from ninja import Router

router = Router(tags=["brief"])
