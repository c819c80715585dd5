"""Commands that prepare the ground for others: installing, starting, migrating, signing in."""

from __future__ import annotations

import re

from memory.distillers.local.shell import Simple
from memory.distillers.local.words import any_of, words

_INSTALLERS = words(
    "apt apt-get apk dnf yum pacman brew port choco winget snap pip pip3 uv poetry pipx conda mamba "
    "npm pnpm yarn bun gem",
    "cargo go composer",
)
_INSTALL_VERBS = words("install add get -S i")
_EVERYDAY_FLAGS = words(
    "-y -q -qq --yes --no-install-recommends -D --save-dev --dev --save -S -g --global -U --upgrade -m"
)
_EVERYDAY = words(
    "git rm mkdir cp mv touch chmod kill pkill killall cargo go npm npx tsc eslint ruff black prettier",
    "sed perl awk tee patch ed ex",  # what edits a file is an edit, whoever made it
)
_EVERYTHING = words("ci sync update upgrade mod")
_PREPARES = any_of(
    r"^(?:nvm|asdf|mise|rbenv|pyenv|rustup|corepack|sdk|volta) \w+",
    r"^(?:npx )?(?:playwright install|prisma)\b",
    r"^docker (?:network|volume) create\b",
    r"^docker(?:-compose)? (?:compose )?(?:up|start|pull|run|build|login)\b",
    r"^(?:systemctl (?:re)?start|service \S+ (?:re)?start|brew services|minikube start|colima start)\b",
    r"^(?:pg_ctl|createdb|createuser|redis-server|locale-gen|ldconfig|ssh-add|gpg|source|alembic|ln)\b",
    r"^git (?:submodule|lfs|config|fetch)\b",
    r"^(?:python3?|\./manage\.py|manage\.py|uv run|poetry run)\b.*\b(?:migrate|collectstatic|compilemessages)\b",
    r"^(?:flask db|rails db:|rake db:|terraform init|go generate|gh auth)",
    r"^(?:make|just|npm run|pnpm|yarn) \S+",
    r"^(?:gcloud|aws|az|kubectl|helm|vault|op|doppler) \w+",
    r"^(?:\./)?(?:bin|scripts?|tools)/\S+",
    flags=re.NOFLAG,
)


def is_preparation(simple: Simple) -> bool:
    """Whether running it can be what a later success needed; everyday work between two attempts is not."""
    installs = packages(simple)
    if installs is None or simple.is_test or _ACTIVATES.search(simple.shown) or _SIGNS_IN.search(simple.shown):
        return False
    return bool(installs) or _PREPARES.match(simple.shown) is not None


# Everybody signs in again when told to.
_SIGNS_IN = re.compile(
    r"^(?:docker|gh|glab|az|gcloud|aws|npm|heroku|fly|flyctl|vercel|firebase|op|vault)\b[^-]*\blogin(?: [^-]\S*)?$"
    r"|^ssh-add\b"
)
_ACTIVATES = re.compile(r"^(?:source|\.) \S*(?:venv|env)\S*/bin/activate\b|^conda activate\b")


def is_everyday(simple: Simple) -> bool:
    """Work that goes on between two runs anyway."""
    return (
        simple.program in _EVERYDAY
        or _ACTIVATES.search(simple.shown) is not None
        or simple.is_look
        or simple.is_test
        or simple.is_probe
    )


def is_plain_install(simple: Simple) -> bool:
    """Whether naming the packages says all: no flag that a colleague would have to know."""
    return all(word in _EVERYDAY_FLAGS for word in simple.words if word.startswith("-"))


def packages(simple: Simple) -> tuple[str, ...] | None:
    """The packages a command installs by name; () for any other command, None for installing "everything" (routine)."""
    said = list(simple.words)
    if said[:3] in (["python", "-m", "pip"], ["python3", "-m", "pip"]) or said[:2] == ["uv", "pip"]:
        said = said[said.index("pip") :]
    if len(said) < 2 or said[0] not in _INSTALLERS:
        return ()
    if not any(word in _INSTALL_VERBS for word in said[1:3]):
        return None if said[1] in _EVERYTHING else ()
    rest = said[2:] if said[1] in _INSTALL_VERBS else said[1:]
    names = tuple(word for word in rest if not word.startswith("-") and word not in _INSTALL_VERBS)
    from_file = any(word in ("-r", "-e", "--requirement", ".") for word in rest)
    return None if from_file or not names else names
