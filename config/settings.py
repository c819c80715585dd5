"""Settings, read once from the environment. Every name has a default that works; nonsense fails loudly."""

from __future__ import annotations

import hashlib
import hmac
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import environ
from csp.constants import NONCE, NONE, SELF
from django.core.exceptions import ImproperlyConfigured

from config import environment
from config.secret_files import read_or_create

BASE_DIR = Path(__file__).resolve().parent.parent
DATA_DIR = Path(environment.text("COUNTERSIGN_DATA", str(BASE_DIR / ".data"))).expanduser().absolute()
DEBUG = environment.is_on("COUNTERSIGN_DEBUG")

SECRETS_DIR = DATA_DIR / "secrets"
try:
    SECRET_KEY = environment.text("COUNTERSIGN_SECRET_KEY") or read_or_create(SECRETS_DIR, "secret_key")
    PEPPER = bytes.fromhex(read_or_create(SECRETS_DIR, "pepper"))
except OSError as problem:
    sys.stderr.write(
        f"Countersign cannot write its secrets to {SECRETS_DIR} ({problem.strerror}). "
        "Give this user write access to that folder, free some disk space, or set COUNTERSIGN_DATA to another folder.\n"
    )
    raise SystemExit(1) from None


def derived_key(purpose: str) -> bytes:
    """A 32-byte key for one purpose, from the installation's pepper."""
    return hmac.new(PEPPER, purpose.encode(), hashlib.sha256).digest()


SHORT_ID_KEY = derived_key("short ids")
LOOKUP_KEY = derived_key("subject lookup")
# Kept in the database: a process with another data folder would compute other ids and other lookups.
DATA_FINGERPRINT = hashlib.sha256(derived_key("fingerprint")).hexdigest()[:16]

PUBLIC_URL = environment.address("COUNTERSIGN_PUBLIC_URL")
ALLOWED_HOSTS = environment.names("COUNTERSIGN_ALLOWED_HOSTS", ["localhost", "127.0.0.1", "[::1]"])
PROXIES = environment.whole("COUNTERSIGN_PROXIES", 0)
CSRF_TRUSTED_ORIGINS = [PUBLIC_URL] if PUBLIC_URL.startswith("https://") else []

INSTALLED_APPS = [
    "config",
    "projects",
    "memory",
    "review",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.postgres",
    "whitenoise.runserver_nostatic",
    "django.contrib.staticfiles",
    "allauth",
    "allauth.account",
    "allauth.usersessions",
    "django_htmx",
    "csp",
    "django_q",
    "pgtrigger",
    "ninja",
]

MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "csp.middleware.CSPMiddleware",
    "config.middleware.ResponseHeadersMiddleware",
    # Below the headers: a file that is opened by itself gets them too.
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.locale.LocaleMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "allauth.account.middleware.AccountMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
    "config.middleware.SignInMiddleware",
    # Last: it runs the view inside one transaction with the reader's projects set.
    "config.middleware.TenancyMiddleware",
]
# What a call of an agent passes through (config/wsgi.py). The browser's list costs about 1 ms more a call.
AGENT_MIDDLEWARE = ["config.middleware.ResponseHeadersMiddleware"]

ROOT_URLCONF = "config.urls"
WSGI_APPLICATION = "config.wsgi.application"
APPEND_SLASH = False

TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "csp.context_processors.nonce",
                "review.pages.frame.frame",
            ],
        },
    }
]


def _database() -> dict[str, Any]:
    """The connection of `DATABASE_URL`, or the bundled server of the data folder (started on first use)."""
    url = environment.text("DATABASE_URL")
    if not url:
        return {"ENGINE": "config.database", "NAME": "countersign", "OPTIONS": {}}
    settings: dict[str, Any] = {}
    # Looked at first: a scheme that it does not know is repeated in a warning, password included.
    if url.startswith(("postgres://", "postgresql://", "psql://", "pgsql://")):
        with suppress(ValueError):  # a port that is none
            settings = dict(environ.Env.db_url_config(url))
    if not settings.get("NAME"):
        raise ImproperlyConfigured("DATABASE_URL must name a Postgres database: postgres://user:password@host/name")
    settings["ENGINE"] = "config.database"
    settings["FOREIGN"] = True
    # A socket's folder stands percent-encoded where a host would.
    settings["HOST"] = unquote(settings.get("HOST") or "")
    settings.setdefault("OPTIONS", {})
    return settings


APP_ROLE = "countersign_app"
_server = {**_database(), "CONN_HEALTH_CHECKS": True, "CONN_MAX_AGE": 600, "ATOMIC_REQUESTS": False}
DATABASES = {
    # Requests and workers: under row-level security, owning nothing.
    "default": {
        **_server,
        "OPTIONS": {**_server["OPTIONS"], "assume_role": APP_ROLE},
        "TEST": {"MIRROR": "owner"},
    },
    # The login role: migrations, indexes, purges, backups.
    "owner": {**_server, "OPTIONS": dict(_server["OPTIONS"]), "CONN_MAX_AGE": 0},
}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
DATABASE_ROUTERS = ["config.routers.OwnerMigrates"]

AUTH_USER_MODEL = "projects.Person"
AUTHENTICATION_BACKENDS = ["allauth.account.auth_backends.AuthenticationBackend"]
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": "django.contrib.auth.password_validation.UserAttributeSimilarityValidator"},
    {"NAME": "django.contrib.auth.password_validation.MinimumLengthValidator", "OPTIONS": {"min_length": 10}},
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
]
LOGIN_URL = "account_login"
LOGIN_REDIRECT_URL = "/"
ACCOUNT_ADAPTER = "projects.sign_in.AccountAdapter"
ACCOUNT_USER_MODEL_USERNAME_FIELD = None
ACCOUNT_USER_MODEL_EMAIL_FIELD = "email"
ACCOUNT_LOGIN_METHODS = {"email"}
ACCOUNT_SIGNUP_FIELDS = ["email*", "password1*"]
# People come by invitation, whose link proves the address.
ACCOUNT_EMAIL_VERIFICATION = "none"
ACCOUNT_EMAIL_UNKNOWN_ACCOUNTS = False
ACCOUNT_EMAIL_SUBJECT_PREFIX = ""
ACCOUNT_LOGOUT_REDIRECT_URL = "account_login"
ACCOUNT_SESSION_REMEMBER = True
ACCOUNT_RATE_LIMITS = {"login_failed": "10/m/ip,5/5m/key", "reset_password": "20/m/ip,5/m/key", "welcome": "10/m/ip"}

if _mail := environment.mail("EMAIL_URL"):
    vars().update(_mail)
    MAIL_IS_SENT = True
else:
    EMAIL_BACKEND = "django.core.mail.backends.console.EmailBackend"
    MAIL_IS_SENT = False
DEFAULT_FROM_EMAIL = "countersign@localhost"
# Whether a project's webhook may lead into a private network, and be plain http. Off: an owner of a project could make
# the server knock at doors that only it can reach.
PRIVATE_WEBHOOKS = environment.is_on("COUNTERSIGN_PRIVATE_WEBHOOKS")


def _secret(name: str) -> str:
    """A key as a header takes it, or ""."""
    key = environment.text(name)
    if not (key.isascii() and key.isprintable()):
        raise ImproperlyConfigured(f"{name} holds characters that no key has.")
    return key


# Hosted models. A key alone sends nothing: each project chooses who reads its sessions.
ANTHROPIC_API_KEY = _secret("ANTHROPIC_API_KEY")
ANTHROPIC_BASE_URL = environment.address("ANTHROPIC_BASE_URL")
OPENAI_API_KEY = _secret("OPENAI_API_KEY")
OPENAI_BASE_URL = environment.address("OPENAI_BASE_URL")

SESSION_COOKIE_HTTPONLY = True
SESSION_COOKIE_SAMESITE = "Lax"
SESSION_COOKIE_AGE = 12 * 3600
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = PUBLIC_URL.startswith("https://")
CSRF_COOKIE_HTTPONLY = True
CSRF_FAILURE_VIEW = "config.errors.csrf_failure"
SECURE_CONTENT_TYPE_NOSNIFF = True
SECURE_REFERRER_POLICY = "same-origin"
SECURE_CROSS_ORIGIN_OPENER_POLICY = "same-origin"
X_FRAME_OPTIONS = "DENY"
MESSAGE_STORAGE = "django.contrib.messages.storage.session.SessionStorage"
if PROXIES:
    SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")

CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": [NONE],
        "script-src": [SELF, NONCE],
        "style-src": [SELF],
        "img-src": [SELF, "data:"],
        "font-src": [SELF],
        "connect-src": [SELF],
        "form-action": [SELF],
        "base-uri": [NONE],
        "frame-ancestors": [NONE],
        "require-trusted-types-for": ["'script'"],
        "trusted-types": ["htmx"],
    }
}

LANGUAGE_CODE = "en"
TIME_ZONE = "UTC"
USE_TZ = True
# Every word a person reads goes through gettext (CONTRIBUTING.md). English is what it is written in; a language that is
# added here, with its folder below locale/, is chosen by the browser's wish.
USE_I18N = True
LANGUAGES = [("en", "English")]
LOCALE_PATHS = [BASE_DIR / "locale"]

STATIC_URL = "/static/"
STATICFILES_DIRS = [BASE_DIR / "static"]
# Served from the source folder: no collectstatic step stands between a clone and its first page.
WHITENOISE_USE_FINDERS = True
WHITENOISE_AUTOREFRESH = DEBUG

# A capture of 50 MB is refused with a sentence by the API itself, before the body is read (memory/api.py).
DATA_UPLOAD_MAX_MEMORY_SIZE = 10 * 1024 * 1024

Q_CLUSTER = {
    "name": "countersign",
    "orm": "default",
    "workers": 2,
    "timeout": 600,
    # Must exceed the timeout, else a task still running is started again.
    "retry": 660,
    "max_attempts": 3,
    "ack_failures": True,
    "catch_up": False,
    "poll": 1,
    "save_limit": 200,
    "label": "Countersign worker",
    "bulk": 1,
}

LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {
        "plain": {
            "()": "config.log_lines.LogLine",
            "format": "{asctime} {levelname} {name}: {message}",
            "style": "{",
        }
    },
    "handlers": {"console": {"class": "logging.StreamHandler", "formatter": "plain"}},
    "root": {"handlers": ["console"], "level": "INFO"},
    "loggers": {
        "django.db.backends": {"level": "WARNING"},
        # What the SDKs of providers log below a warning holds addresses, and at their lowest level bodies.
        **{name: {"level": "WARNING"} for name in ("httpx", "httpx2", "anthropic", "openai")},
    },
}

# An address is unique whatever its case, by a constraint that this check does not understand.
SILENCED_SYSTEM_CHECKS = ["auth.W004"]
