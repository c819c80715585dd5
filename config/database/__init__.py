"""Django's Postgres backend that finds, and where needed starts, the bundled server."""
