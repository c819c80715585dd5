"""Facts as agents look them up, search and propose them."""

from __future__ import annotations

from ninja import Router

router = Router(tags=["facts"])
