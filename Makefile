# One command for each thing a person does here; people and CI use the same ones. `make help` lists them.
# Needs make and python3 (3.11 or newer) only: everything else is installed into .venv on the first call.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
CODE := twinlink experiments tests docs/tools docs/notebooks
# Python compiles the modules that it imports, once; pip would compile thousands that nothing here imports. What setuptools
# warns of in an editable installation is for those who change its build.
PIP := PYTHONWARNINGS=ignore $(BIN)/python -m pip --disable-pip-version-check install --quiet --no-compile
APT := apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends
# Chromium without windows builds the same pages in a third of the time; not every distribution has a package of it. The
# sandbox is a package of its own, which each needs unless it is started by root.
SHELL_BROWSER := $(APT) chromium-headless-shell chromium-sandbox
BROWSER := { $(SHELL_BROWSER); } 2>/dev/null || { $(APT) chromium chromium-sandbox; }
# Processes that tests run in: more than there are cores, since many tests wait for a crawl.
JOBS ?= $(shell $(PYTHON) -c 'import os; n = len(os.sched_getaffinity(0)); print(n + max(2, (n + 1) // 2))')

.DEFAULT_GOAL := help
# Tests start hundreds of processes: without bytecode on disk, each would compile the package anew.
unexport PYTHONDONTWRITEBYTECODE
.PHONY: help demo browser httrack test browser-test docs-test experiments-test wheel-test lint format types imports check wheel accuracy docs docs-serve docs-version clean

help:  ## Show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-16s %s\n", $$1, $$2 }' Makefile

demo: $(VENV)/.package  ## Mine a small bilingual site that is served on this machine
	$(BIN)/twinlink demo

browser: $(VENV)/.package  ## Install what builds pages that scripts make: Chromium, and the extra that drives it
	@$(PIP) --editable '.[browser]'
	@if command -v chromium-headless-shell; then :; \
	elif [ "$$(id -u)" = 0 ] && { $(SHELL_BROWSER); } 2>/dev/null; then :; \
	elif $(BIN)/python -c 'import sys; from twinlink.spiders.browser.chromium import find_browser; sys.exit(not find_browser())'; \
	then echo "a browser is installed"; \
	elif ! command -v apt-get >/dev/null; then \
	  echo "no Chromium found, and no apt-get to install it with: please install Chromium or Chrome" >&2; exit 1; \
	elif [ "$$(id -u)" = 0 ]; then $(BROWSER); \
	elif command -v sudo >/dev/null; then sudo sh -c '$(BROWSER)'; \
	else echo "no Chromium found; as root: $(BROWSER)" >&2; exit 1; fi

httrack:  ## Install HTTrack, which some tests run; where it cannot be installed, they are skipped
	@command -v httrack || { [ "$$(id -u)" = 0 ] && $(APT) httrack; } || echo "no HTTrack: its tests are skipped" >&2

test: $(VENV)/.dev  ## Run the tests and the examples in the documentation (more: make test ARGS="-k urls")
	$(BIN)/pytest -n $(JOBS) $(ARGS)

browser-test: $(VENV)/.dev  ## Run the tests that drive Chromium (see make browser)
	$(BIN)/pytest -n $(JOBS) -m browser $(ARGS)

docs-test: $(VENV)/.dev  ## Build the documentation and run its instructions and notebooks
	$(BIN)/pytest -n $(JOBS) -m docs $(ARGS)

experiments-test: $(VENV)/.dev  ## Run the tests of the experiments and benchmarks
	$(BIN)/pytest -n $(JOBS) -m experiments $(ARGS)

wheel-test: $(VENV)/.dev  ## Build the package, install it somewhere else, and try it there (needs a network)
	$(BIN)/pytest -m wheel $(ARGS)

lint: $(VENV)/.dev  ## Look for mistakes and bad style
	$(BIN)/ruff check $(CODE)
	$(BIN)/ruff format --check $(CODE)

format: $(VENV)/.dev  ## Repair what can be repaired without a person
	$(BIN)/ruff check --fix $(CODE)
	$(BIN)/ruff format $(CODE)

types: $(VENV)/.dev  ## Check the types
	$(BIN)/mypy

imports: $(VENV)/.dev  ## Check that imports run down the layers, without a circle
	$(BIN)/lint-imports

check: lint types imports test  ## All of the above that a change must pass

accuracy: $(VENV)/.dev  ## Measure F1 against the floors; TWINLINK_SITES=folder adds real sites
	$(BIN)/python -m experiments.gate

docs: $(VENV)/.dev  ## Build the documentation as a site into build/site, its notebooks run; it can be read from the folder
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --strict

docs-serve: $(VENV)/.dev  ## Show the documentation on this machine while you write it; notebooks are not run
	NO_MKDOCS_2_WARNING=1 TWINLINK_DOCS_EXECUTE=false $(BIN)/python -m mkdocs serve

docs-version: $(VENV)/.dev  ## Add the documentation of this version to the local branch gh-pages, for a host of your own
	NO_MKDOCS_2_WARNING=1 TWINLINK_DOCS_VERSIONS=1 PATH="$(CURDIR)/$(BIN):$$PATH" $(BIN)/mike deploy --update-aliases \
	  $$($(BIN)/python -c 'import twinlink; print(twinlink.__version__)') latest
	$(BIN)/mike set-default latest

wheel: $(VENV)/.dev  ## Build the package into dist/
	$(BIN)/python -m build --outdir dist

clean:  ## Remove what the other commands made, .venv included
	rm -rf $(VENV) build dist demo-run *.egg-info .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
	find $(CODE) -name __pycache__ -prune -exec rm -rf {} +

# The stamps make a second call fast; a changed pyproject.toml installs again.
$(VENV)/.made:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	  echo "twinlink needs Python 3.11 or newer; $(PYTHON) is: $$($(PYTHON) --version 2>&1)." >&2; \
	  echo "With a newer one installed: make PYTHON=python3.12 $(MAKECMDGOALS)" >&2; exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || { \
	  echo "$(PYTHON) cannot make virtual environments: its venv or ensurepip module is missing." >&2; \
	  echo "On Debian and Ubuntu: sudo apt-get install python3-venv" >&2; exit 1; }
	@test -x $(BIN)/pip || { echo "making $(VENV) ..."; $(PYTHON) -m venv --clear $(VENV); }
	@$(PIP) 'pip>=24.2' || echo "installing with an older pip, which takes longer" >&2
	@touch $@

$(VENV)/.package: $(VENV)/.made pyproject.toml twinlink/version.py
	@echo "installing twinlink into $(VENV) (a minute or two) ..."
	@$(PIP) --editable .
	@touch $@

# Tests need all kernels, and many at once; without them, a command compiles those that it needs, which is sooner. They
# are compiled while pip fetches and unpacks the tools, which takes one core at most.
$(VENV)/.dev: $(VENV)/.package
	@echo "installing its development tools, and compiling its kernels (a minute or two) ..."
	@{ $(BIN)/python -m twinlink.compiled || echo "some are left to the first command" >&2; } & \
	$(PIP) --editable '.[dev]'; installed=$$?; wait; exit $$installed
	@touch $(VENV)/.package $@
