"""Which database alias does what: only `owner` may change the schema."""

from __future__ import annotations

from typing import Any


class OwnerMigrates:
    def allow_migrate(self, db: str, app_label: str, **hints: Any) -> bool:
        return db == "owner"
