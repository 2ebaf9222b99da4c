# Every target sets itself up: python3 and make are all it needs.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready

.PHONY: help setup test lint reproduce bench clean

help:
	@echo "make test       all tests, lint, types and layers"
	@echo "make lint       format, lint, types and layers only"
	@echo "make bench      speed, as ratios to peers measured in the same run"
	@echo "make reproduce  the paper's results"
	@echo "make setup      create .venv with pinned versions"
	@echo "make clean      remove .venv and everything generated"

setup: $(READY)

$(READY): requirements.txt pyproject.toml
	@echo "Setting up $(VENV) with pinned versions ..."
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "mictree needs Python 3.11 or newer; $(PYTHON) is older" >&2; exit 1; }
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --requirement requirements.txt
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
	@touch $(READY)

lint: setup
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/pyright
	$(BIN)/lint-imports

test: lint
	$(BIN)/python -m pytest

bench: setup
	$(BIN)/python -m benchmarks

clean:
	rm -rf $(VENV) out .hypothesis .benchmarks .ruff_cache .import_linter_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
