PYTHON ?= python3
VENV ?= .venv
ARGS ?=
SEED := $(shell date +%s)

PACKAGES := claims margins orders reports training
FOLDERS := package $(PACKAGES)
BIN := $(VENV)/bin
PIP := PIP_DISABLE_PIP_VERSION_CHECK=1 $(BIN)/python -m pip install -qq --no-input
STRICT := --config-settings editable_mode=strict
# what pip does for what it copies, and not for links: each start of the program took half a second more
COMPILE := $(BIN)/python -m compileall -q build/__editable__*

# where no bytecode is kept, each worker of pytest compiles 826 modules on every run
BYTECODE := env -u PYTHONDONTWRITEBYTECODE

# a wheel in a folder of its own, which its tests alone look into: other tests are about the built-in papers
EXAMPLE := build/separable

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: FORCE audit clean docs fuzz help install lint mutants nightly test test-fast types

help: ## show this list
	@sed -n 's/^\([a-z-]*\):.*## /\1@/p' $(MAKEFILE_LIST) | awk -F@ '{ printf "make %-9s %s\n", $$1, $$2 }'
	@echo "variables: PYTHON=$(PYTHON)  VENV=$(VENV)  ARGS= (passed on by audit, fuzz, mutants, test and test-fast)"

audit: $(VENV)/.audit-installed ## run the audit; says at its end where the report is
	@$(BIN)/marginaudit audit $(ARGS)

test: install ## run all tests and doctests but the slow ones
	@$(BYTECODE) $(BIN)/pytest -n 2 --dist worksteal $(ARGS)

test-fast: install ## run what a change needs first, a minute on two cores; names at its end what took long
	@$(BYTECODE) $(BIN)/pytest -n 2 --dist worksteal -m "not slow and not thorough" --durations 5 --durations-min 1 $(ARGS)

docs: install ## build the pages of docs/ into docs/_build; a warning, a broken link among them, is an error
	@$(BIN)/sphinx-build --quiet --nitpicky --fail-on-warning --keep-going docs docs/_build
	@echo "docs/_build/index.html"

fuzz: install ## put damaged files and options to every command, for minutes; SEED= repeats a run
	@echo "seed $(SEED)"
	@$(BIN)/pytest tests/test_fuzz.py --hypothesis-profile fuzz --hypothesis-seed $(SEED) --timeout 3600 $(ARGS)

nightly: install ## what takes hours: tests with the lowest versions, slow ones, long sweeps of both oracles, fuzz
	@echo "seed $(SEED)"
	@$(BIN)/python -m venv --clear --without-pip build/lowest
	@sed -n '/^requires/!s/.*"\([a-z][a-z0-9-]*\)>=\([0-9.]*\)".*/\1==\2/p' pyproject.toml > build/lowest.txt
	@PIP_PYTHON=build/lowest/bin/python $(PIP) --constraint build/lowest.txt $(STRICT) --editable '.[test]'
	@build/lowest/bin/pytest -n 2 --dist worksteal
	@$(PIP) $(STRICT) --editable '.[trainers]'
	@$(BIN)/python -c 'import accelerate, jax, lightning, torch, transformers' # else their tests are skipped
	@$(BIN)/pytest -n 2 --dist worksteal --timeout 600 -m slow
	@$(BIN)/pytest tests/test_trainers.py
	@$(BIN)/python -m tests.oracle.sweep --quiet --audits 500 --seed $(SEED)
	@$(BIN)/python -m tests.oracle.snap.sweep --quiet --audits 300 --seed $(SEED)
	@$(MAKE) --no-print-directory fuzz SEED=$(SEED)

lint: install ## check style, formatting, and who imports whom
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/lint-imports --no-cache --no-logo

types: install ## check the types of the packages, the tests and the examples
	@$(BIN)/mypy -p marginaudit
	@$(BIN)/mypy tests
	@MYPYPATH=examples/separable $(BIN)/mypy -p separable
	@MYPYPATH=examples $(BIN)/mypy -m which_direction -m your_own_training

mutants: install ## make small mistakes in the code and say which the tests miss; ARGS="training --sample 40 --seed 1"
	@$(BIN)/python -m tests.mutants $(ARGS)

clean: ## remove the environment and everything built
	rm -rf $(VENV) build *.egg-info examples/separable/build examples/separable/*.egg-info audit-report docs/_build .mypy_cache .pytest_cache .ruff_cache .hypothesis
	find $(FOLDERS) tests -name __pycache__ -prune -exec rm -rf {} +

# A strict editable install is a tree of links under build/, which shows no new file until the next
# install, so this one is never skipped. It needs no network: .dev-installed brought what it builds with.
install: $(VENV)/.dev-installed
	@$(PIP) --no-deps --no-build-isolation $(STRICT) --editable .
	@$(COMPILE)
	@rm -rf $(EXAMPLE) examples/separable/build
	@$(PIP) --no-deps --no-build-isolation --target $(EXAMPLE) ./examples/separable

$(VENV)/.dev-installed: pyproject.toml | $(BIN)/pip
	@echo "installing marginaudit[dev] into $(VENV)"
	@$(PIP) $(STRICT) --editable '.[dev]'
	@$(PIP) $$($(BIN)/python -c 'import tomllib; \
	    print(*tomllib.load(open("pyproject.toml", "rb"))["build-system"]["requires"])')
	@touch $@

$(VENV)/.audit-installed: pyproject.toml build/.files | $(BIN)/pip
	@echo "installing marginaudit into $(VENV)"
	@$(PIP) $(STRICT) --editable .
	@$(COMPILE)
	@touch $@

$(BIN)/pip:
	@echo "creating $(VENV)"
	@$(PYTHON) -m venv $(VENV)

# The names of the packages' files; touched only when a file came or went. It lies beside the tree of
# links, which all environments share, so that removing build/ leads to a new install.
build/.files: FORCE
	@mkdir -p build
	@find $(FOLDERS) -name __pycache__ -prune -o -type f -print | LC_ALL=C sort > $@.new
	@if cmp -s $@.new $@; then rm $@.new; else mv $@.new $@; fi
