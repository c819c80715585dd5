"""The same service under its several names, so that one lesson about it has one key."""

from __future__ import annotations

import re

from memory.distillers.local.wording import segment, topic
from memory.distillers.local.words import words

_NAMES = {
    **dict.fromkeys(("pg", "pgsql", "postgres", "postgresql", "psql"), "postgres"),
    **dict.fromkeys(("mysql", "mariadb"), "mysql"),
    **dict.fromkeys(("mongo", "mongodb"), "mongo"),
    **dict.fromkeys(("redis", "valkey"), "redis"),
    **dict.fromkeys(("rabbit", "rabbitmq", "amqp"), "rabbitmq"),
    **dict.fromkeys(("elastic", "elasticsearch", "opensearch"), "elasticsearch"),
    **dict.fromkeys(("smtp", "mail", "mails", "mailer", "mailserver"), "mail"),
    **{
        name: name
        for name in ("kafka", "minio", "memcached", "nginx", "vite", "keycloak", "grafana", "prometheus", "sentry")
    },
}
# Which of several: a port on staging says nothing of the one in production. "Here" and "dev" are where one works.
_PLACES = words("staging production prod ci test tests replica backup legacy old new eu us")


def service_of(what: str) -> str:
    """Key segment of what is spoken of: a known service by its one name, else the words themselves."""
    said = re.findall(r"[^\W_]+", what.casefold())
    named = list(dict.fromkeys(_NAMES[word] for word in said if word in _NAMES))
    if len(named) != 1:
        return topic(what)
    where = [word for word in said if word in _PLACES]
    return segment(" ".join((*where, named[0])))


def setting_key(name: str) -> str:
    """Key segment of an environment variable: `PGPORT` and "Postgres is on port 5433" are one lesson."""
    lowered = name.casefold()
    for ending in ("port", "host"):
        service = lowered.removesuffix(ending).rstrip("_")
        if lowered.endswith(ending) and service:
            return f"{_NAMES.get(service, segment(service, 6))}.{ending}"
    return segment(name, 6)


def setting_value(name: str, value: str) -> dict[str, str]:
    """What is kept of a setting: of a port or host only that, however it was told."""
    ending = setting_key(name).rpartition(".")[2]
    return (
        {ending: value}
        if ending in ("port", "host") and setting_key(name) != ending
        else {"name": name, "value": value}
    )
