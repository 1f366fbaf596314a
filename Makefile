# Set-up and checks. PYTHON chooses the interpreter that makes the virtual environment.
PYTHON ?= python3
BIN := .venv/bin
PYTEST := $(BIN)/python -m pytest

.PHONY: demo test test-all lint types install clean

install: .venv/installed

.venv/installed: setup.cfg constraints.txt pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --disable-pip-version-check -q -c constraints.txt -e '.[test]'
	touch $@

# Solve a board, check it in OpenSpiel, train an agent, evaluate it, draw its curves; steps that are done are skipped.
demo: install
	$(BIN)/python scripts/demo.py

test: install
	$(PYTEST) -n 2

test-all: install
	$(PYTEST) -n 2 -m "slow or not slow"

lint: install
	$(BIN)/ruff check .

types: install
	$(BIN)/mypy

clean:
	rm -rf .venv build *.egg-info .mypy_cache .pytest_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
