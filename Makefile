# Everything a newcomer needs: `make run` and `make test` set up what they use.
# The interpreter is the newest python3.x found, or PYTHON=...; the environment is .venv, or VENV=...

SHELL := /bin/sh
VENV ?= .venv
PYTHON ?= $(shell for p in python3.13 python3.12 python3.11 python3.14 python3; do \
	"$$p" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo "$$p" && break; done)
BIN := $(VENV)/bin
READY := $(VENV)/.ready
ARGS ?=

.DEFAULT_GOAL := help
.PHONY: help run demo test test-slow lint format bench docs lock clean

help: ## show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## /{printf "  make %-10s %s\n", $$1, $$2}' Makefile

$(READY): requirements.lock pyproject.toml
	@test -n "$(PYTHON)" || { echo "memsvc needs Python 3.11 or later; none was found. Set PYTHON=/path/to/python3."; exit 1; }
	@echo "Setting up $(VENV) with $(PYTHON) (once; about a minute) ..."
	@"$(PYTHON)" -m venv "$(VENV)"
	@"$(BIN)/python" -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements.lock
	@"$(BIN)/python" -m pip install --quiet --disable-pip-version-check --no-build-isolation --no-deps -e .
	@touch "$(READY)"

run: $(READY) ## set up, then start memsvc (for now: its demo, in a temporary home)
	@"$(BIN)/memsvc" demo $(ARGS)

demo: $(READY) ## a tour on a sample conversation, in a temporary home
	@"$(BIN)/memsvc" demo $(ARGS)

test: $(READY) ## run the tests (a few minutes)
	@"$(BIN)/python" -m pytest -q $(ARGS)

test-slow: $(READY) ## the longer runs: crash loops
	@"$(BIN)/python" -m pytest -q -m slow $(ARGS)

lint: $(READY) ## format check, lint, types, import rules
	@"$(BIN)/ruff" format --check .
	@"$(BIN)/ruff" check .
	@"$(BIN)/mypy"
	@"$(BIN)/lint-imports" --no-cache | tail -n 4

format: $(READY) ## format and fix
	@"$(BIN)/ruff" check --fix --quiet . || true
	@"$(BIN)/ruff" format .

bench: $(READY) ## measure, as ratios in one run (ARGS=--short for a minute)
	@"$(BIN)/python" -m bench $(ARGS)

docs: $(READY) ## renew the generated pages
	@"$(BIN)/python" scripts/settings_page.py

lock: ## renew requirements.lock (needs uv)
	@uv pip compile pyproject.toml --extra cli --extra openai --group dev --universal --python-version 3.11 \
		--generate-hashes --no-annotate --no-header --no-emit-index-url --no-emit-find-links \
		--quiet --output-file requirements.lock
	@! grep -nE '://' requirements.lock || { echo "the lock file names a host"; exit 1; }

clean: ## remove the environment and caches
	@rm -rf "$(VENV)" .mypy_cache .ruff_cache .pytest_cache .hypothesis build dist
