# The two commands of a new user: `make demo` and `make test`. python3 and make are all they need.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# What building leaves in the tree goes again: Python would take it for the installed package when it runs from here.
INSTALL = $(BIN)/python -m pip install --quiet --disable-pip-version-check --editable

.PHONY: demo test test-slow check bench bench-large clean

$(VENV)/.installed: pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(INSTALL) .
	rm -rf build *.egg-info
	touch $@

$(VENV)/.installed-dev: $(VENV)/.installed
	$(INSTALL) '.[dev]'
	rm -rf build *.egg-info
	touch $@

demo: $(VENV)/.installed
	$(BIN)/cascade demo -o .demo --overwrite

test: $(VENV)/.installed-dev
	$(BIN)/python -m pytest -n auto

test-slow: $(VENV)/.installed-dev
	$(BIN)/python -m pytest -m slow

check: $(VENV)/.installed-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

bench: $(VENV)/.installed-dev
	$(BIN)/python -m benchmarks --documents 200000 --slow-documents 10000 --threads 1 2 --readme

bench-large: $(VENV)/.installed-dev
	$(BIN)/python -m benchmarks.large

clean:
	rm -rf .demo build dist *.egg-info
