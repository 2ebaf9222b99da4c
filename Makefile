# Every target sets itself up: python3 and make are all it needs.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
MADE := $(VENV)/.made
PACKAGE := $(VENV)/.package
TOOLS := $(VENV)/.tools
READY := $(VENV)/.ready
DOCS_READY := $(VENV)/.docs-ready
# The lists of requirements are complete, so there is nothing to resolve. pip would compile modules on one core only.
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-compile
COMPILE := $(BIN)/python -m compileall -qq -j 0 -x '/tests?/'
# Where this is set, every process would compile all modules that it imports anew, which takes seconds.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: help setup browser test test-main test-quick test-distributed test-extras \
	kernels-formulas kernels-data kernels-wide lint docs reproduce mutants bench dist clean

help:
	@echo "make test       all tests, lint, types, layers and the site"
	@echo "make test-quick  the quick tests only, without lint, site and Dask clusters"
	@echo "make lint       format, lint, types and layers only"
	@echo "make test-distributed  the tests on Dask clusters only"
	@echo "make test-extras  exported trees in SHAP and ONNX, and Excel files; installs what reads them"
	@echo "make bench      speed, as ratios to peers measured in the same run"
	@echo "make mutants    break the source on purpose; the tests must notice: out/mutants.html (long)"
	@echo "make reproduce  the paper's results, and one page that shows them: out/report.html"
	@echo "make docs       the site, in out/docs; installs Sphinx"
	@echo "make dist       sdist and wheel in dist/; runs the README's example on the installed wheel"
	@echo "make setup      create .venv with pinned versions"
	@echo "make clean      remove .venv and everything generated"

setup: $(READY)

$(MADE):
	@echo "Setting up $(VENV) with pinned versions ..."
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "mictree needs Python 3.11 or newer; $(PYTHON) is older" >&2; exit 1; }
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@touch $(MADE)

# The three lists of requirements share no package, so they may be installed at once. pip unpacks on one core, so two of
# them share the longest list.
$(PACKAGE): requirements.txt pyproject.toml | $(MADE)
	@grep -v '^#' requirements.txt | xargs -n 21 -P 2 $(PIP)
	@$(PIP) --no-build-isolation --editable .
	@$(if $(FIRST),,$(COMPILE) $(VENV)/lib src || true)
	@touch $(PACKAGE)

$(TOOLS): requirements-tools.txt | $(MADE)
	@$(PIP) --requirement requirements-tools.txt
	@touch $(TOOLS)

$(READY): $(PACKAGE) $(TOOLS)
	@$(BIN)/python -m pip --disable-pip-version-check check >/dev/null || { $(BIN)/python -m pip check >&2; exit 1; }
	@touch $(READY)

lint: setup
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/pyright
	$(BIN)/lint-imports

# The report's page is tested in a real browser. Without one these tests are skipped.
browser:
	@if command -v chromium >/dev/null || command -v chromium-browser >/dev/null || command -v google-chrome >/dev/null; then \
		:; \
	elif [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
		echo "Installing the system package chromium, which the browser tests need ..."; \
		{ apt-get update && DEBIAN_FRONTEND=noninteractive apt-get install --yes --no-install-recommends chromium; } >/dev/null 2>&1 \
			|| echo "chromium could not be installed; the browser tests will be skipped" >&2; \
	else \
		echo "chromium is not installed; the browser tests will be skipped" >&2; \
	fi

# Jobs at once, of which some wait for the network or, as tests on clusters, for one another; a job prints when it ends.
# FIRST makes tests wait for the kernels they need: their processes would each compile the same ones. The site and lint
# come last, so that there is a third job beside the two processes of the main suite, which wait now and then. FIRST also
# leaves modules to be compiled by the first process that imports them, as most are never imported.
GROUPED := $(if $(filter output-sync,$(.FEATURES)),--output-sync=target)
test:
	@$(MAKE) --no-print-directory --jobs 4 $(GROUPED) FIRST=yes browser test-main test-distributed docs lint

ifdef FIRST
test-main: kernels-data kernels-formulas kernels-wide browser
test-distributed: kernels-data
docs: test-distributed kernels-formulas
lint: docs
endif

test-main: setup
	$(BIN)/python -m pytest $(PARALLEL) --ignore tests/distributed

# A worker that is done takes tests from the other's end, so tests that share a fixture mostly stay together.
PARALLEL := -n 2 --dist worksteal
test-quick: setup
	$(BIN)/python -m pytest $(PARALLEL) --ignore tests/distributed -m "not slow"

# These parts share few kernels, and the wide searches, some of which begin by growing a tree, find that compiled.
kernels-formulas: $(PACKAGE)
	@$(BIN)/python -m tests.properties.kernel_cases formulas families functions
kernels-data: $(PACKAGE)
	@$(BIN)/python -m tests.properties.kernel_cases packing data sums searches ordered partitions
kernels-wide: $(PACKAGE) kernels-formulas
	@$(BIN)/python -m tests.properties.kernel_cases wide tasks local relaxed subsets

# Clusters of two processes each, so these tests run one after another.
test-distributed: setup
	$(BIN)/python -m pytest tests/distributed

reproduce: $(PACKAGE)
	$(BIN)/mictree reproduce --out out

# Offline; every example of the gallery is run, every link between pages checked, and a warning is an error.
$(DOCS_READY): requirements-docs.txt | $(MADE)
	@$(PIP) --requirement requirements-docs.txt
	@touch $(DOCS_READY)

docs: setup $(DOCS_READY)
	$(BIN)/python -m sphinx -q -W --keep-going -b html -d out/doctrees docs out/docs

test-extras: setup
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --requirement requirements-extras.txt
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps xgboost==3.2.0
	$(BIN)/python -m pytest tests/unit/test_estimators_exports.py
	$(BIN)/python -m pytest tests/cli/test_files.py -k excel

mutants: setup
	$(BIN)/python tests/mutants/run.py --jobs 2 --write out/mutants.html

bench: setup
	$(BIN)/python -m benchmarks

# Nothing of this folder or of .venv is visible to the environment in which the wheel is tried.
dist: setup
	rm -rf dist
	$(BIN)/python -m hatchling build --directory dist
	@scratch=$$(mktemp -d) && trap 'rm -rf "$$scratch"' EXIT && unset PYTHONPATH && \
	echo "Installing the wheel into an environment of its own ..." && \
	$(PYTHON) -m venv "$$scratch" && \
	"$$scratch/bin/python" -m pip install --quiet --disable-pip-version-check --constraint requirements.txt dist/*.whl && \
	cp README.md "$$scratch" && cd "$$scratch" && \
	bin/python -m doctest --option NORMALIZE_WHITESPACE README.md && \
	bin/mictree mic "x1 & x2 | y1 & y2 & y3" --max-size 8 && \
	echo "The wheel works."

clean:
	rm -rf $(VENV) out docs/auto_gallery docs/sg_execution_times.rst dist .hypothesis .ruff_cache .import_linter_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
