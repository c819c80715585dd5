"""Whether an address is free to listen on."""

from __future__ import annotations

import errno
import socket


class PortTaken(Exception):
    """Nobody can listen there. The message names what to change."""


def refuse_taken(host: str, port: int) -> None:
    """Raises PortTaken with a sentence. The server itself shares its port between workers and would not notice."""
    if not 1 <= port <= 65535:
        raise PortTaken(f"{port} is no port. Choose one between 1024 and 65535 with --port.")
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        with socket.socket(family, kind, protocol) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind(address)
    except OSError as problem:
        if problem.errno == errno.EADDRINUSE:
            sentence = f"Port {port} is in use. Choose another with --port, for example --port {port + 1}."
        elif problem.errno == errno.EACCES:
            sentence = f"This user may not listen on port {port}. Choose one above 1023 with --port."
        else:
            sentence = f"Cannot listen on {host} port {port} ({problem}). Choose another with --host and --port."
        raise PortTaken(sentence) from None
