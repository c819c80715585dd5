# Paths here are relative on purpose: the checkout may lie in a folder with spaces.
.PHONY: setup demo test check bench lock messages clean
.DEFAULT_GOAL := help
SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c

PYTHON ?= python3
PORT ?= 8000
ARGS ?=
BIN := .venv/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet
# A module that shares one running server stays on one worker.
PYTEST_ARGS ?= -n 2 --dist loadgroup

.PHONY: help
help:
	@echo "make demo     set up, then run everything with a sample project (PORT=8000)"
	@echo "make setup    only the set-up: .venv with locked, hashed packages"
	@echo "make test     the whole test suite"
	@echo "make check    everything CI runs"
	@echo "make bench    the benchmarks (ARGS=\"--quick --only JOB --json FILE\")"
	@echo "make pictures take the pictures of the documents again"
	@echo "make lock     resolve the two lock files again"
	@echo "make clean    remove .venv and caches; the data stays"

# The interpreter and its venv module, each missing one named with what installs it.
.venv/bin/python:
	@command -v "$(PYTHON)" >/dev/null || { echo "Python is missing. Run: apt-get install python3 python3-venv"; exit 1; }
	@"$(PYTHON)" -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	  echo "Countersign needs Python 3.11 or newer; $(PYTHON) is $$("$(PYTHON)" -V). Try: make $(MAKECMDGOALS) PYTHON=python3.12"; exit 1; }
	@"$(PYTHON)" -c 'import venv, ensurepip' 2>/dev/null || { \
	  echo "Python's venv module is missing. Run: apt-get install python3-venv"; exit 1; }
	@rm -rf .venv
	@"$(PYTHON)" -m venv .venv

# One stamp per lock file: a second run installs nothing.
.venv/.installed: requirements.lock | .venv/bin/python
	@echo "installing the locked packages into .venv"
	@$(PIP) install --require-hashes --no-deps -r requirements.lock || { echo "The packages could not be installed; pip's reason is above. Run: make setup"; exit 1; }
	@touch .venv/.installed

.venv/.installed-dev: requirements-dev.lock | .venv/bin/python
	@echo "installing the locked packages for tests and checks into .venv"
	@$(PIP) install --require-hashes --no-deps -r requirements-dev.lock || { echo "The packages could not be installed; pip's reason is above. Run: make test"; exit 1; }
	@touch .venv/.installed .venv/.installed-dev

setup: .venv/.installed
	@echo "set up. Next: make demo (everything, with a sample project) or $(BIN)/python manage.py up"

demo: .venv/.installed
	@exec $(BIN)/python manage.py up --demo --port $(PORT) --data .demo

# Without a browser the journeys skip, loudly; CI fails instead.
.PHONY: browser
browser:
	@if ! command -v chromium >/dev/null && ! command -v chromium-browser >/dev/null && ! command -v google-chrome >/dev/null; then \
	  echo "!! No Chromium: every test in a real browser is SKIPPED. Run: apt-get install chromium"; \
	  if [ "$${CI:-}" = "true" ]; then exit 1; fi; \
	fi

test: .venv/.installed-dev browser
	@$(BIN)/python -m pytest $(PYTEST_ARGS) $(ARGS)

# The pictures in docs/pictures, of the pages as they are now.
.PHONY: pictures
pictures: .venv/.installed-dev browser
	@$(BIN)/python -m pytest -n 0 -q tests/browser/pictures.py

.PHONY: lint
lint: .venv/.installed-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	@# Django asks a database for its history: one of its own, which ends with the check.
	scratch="$$(mktemp -d)"; chmod 755 "$$scratch"; export COUNTERSIGN_DATA="$$scratch"; \
	trap '$(BIN)/python -m config.embedded stop "$$scratch" >/dev/null; rm -rf "$$scratch"' EXIT; \
	$(BIN)/python manage.py makemigrations --check --dry-run; \
	$(BIN)/python manage.py check

check: lint test

bench: .venv/.installed-dev
	@$(BIN)/python -m benchmarks $(ARGS)

LOCKED := --universal --generate-hashes --no-header --no-emit-index-url --python-version 3.11
lock: .venv/.installed-dev
	$(BIN)/uv pip compile $(LOCKED) pyproject.toml -o requirements.lock
	$(BIN)/uv pip compile $(LOCKED) --extra test --extra check pyproject.toml -o requirements-dev.lock

# make messages LANGUAGE=de: the words to translate, in locale/de/LC_MESSAGES/django.po. Needs GNU gettext.
messages: .venv/.installed-dev
	@command -v xgettext >/dev/null || { echo "Missing: gettext. Run: apt-get install gettext"; exit 1; }
	@mkdir -p locale
	$(BIN)/python manage.py makemessages --locale $(LANGUAGE) --ignore .venv --ignore tests --ignore benchmarks

clean:
	@rm -rf .venv .pytest_cache .mypy_cache .ruff_cache .hypothesis
	@find . -name __pycache__ -type d -prune -exec rm -rf {} +
