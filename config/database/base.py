"""The engine of both database aliases.

With `DATABASE_URL` it is Django's own Postgres backend. Without, each new connection first makes sure that the
bundled server of the data folder runs, so that web, worker, tests and shell share one server and find it again after
it was killed.
"""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.db.backends.postgresql import base


class DatabaseWrapper(base.DatabaseWrapper):
    def get_connection_params(self) -> dict[str, Any]:
        if not self.settings_dict.get("FOREIGN"):
            from config import embedded

            server = embedded.ensure_running(settings.DATA_DIR)
            self.settings_dict.update(HOST=str(server.socket_dir), PORT=str(server.port), USER=server.user)
        return super().get_connection_params()
