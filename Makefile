# Needs Python 3.11 or later, and make. Everything else goes into .venv, from the lock files.

PYTHON ?= $(shell for p in python3 python3.14 python3.13 python3.12 python3.11; do \
	$$p -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $$p && break; done)
BIN := .venv/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check --no-input -q
MCP_PIP := .venv-mcp/bin/python -m pip --disable-pip-version-check --no-input -q
JOBS ?= auto
# real processes on a busy machine: what failed is asked once more, with nothing beside it
AGAIN := .venv-mcp/bin/python -m pytest --last-failed --last-failed-no-failures none tests/adapters

# where the recorded runs lie that the study and its tests read; tests that need them say so where they are absent
export DULY_SHARED ?= $(abspath ../shared)

.PHONY: demo test test-adapters lint bench soak lock docs clean

# make demo MODEL=local: a real language model; make demo MCP=1: the desk as an MCP server behind the gate
demo: $(if $(MCP),.venv-mcp/ready,.venv/base) $(if $(MODEL),.venv/local)
	$(if $(MCP),.venv-mcp/bin,$(BIN))/python -m duly.demo $(if $(MODEL),--model $(MODEL)) $(if $(MCP),--mcp)

test: .venv/dev lint
	$(BIN)/python -m pytest -n $(JOBS)

# the MCP gate against the real SDK and public servers, in an environment of its own; two of the servers need npm
test-adapters: .venv-mcp/ready
	.venv-mcp/bin/python -m mypy --strict src/duly/gates/mcp/*.py src/duly/cli/mcp.py
	.venv-mcp/bin/python -m pytest -n $(JOBS) --dist worksteal tests/adapters || $(AGAIN)

lint: .venv/dev
	$(BIN)/python -m ruff check .
	$(BIN)/python -m mypy --strict src

bench: .venv/dev
	$(BIN)/python -m bench

soak: .venv/dev .venv-mcp/ready
	DULY_SOAK=1 $(BIN)/python -m pytest -n $(JOBS)
	for target in decide document condition; do $(BIN)/python tools/fuzz.py $$target --seconds 180 || exit 1; done
	DULY_SOAK=1 .venv-mcp/bin/python -m pytest -n $(JOBS) --dist worksteal tests/adapters

# the pages that are generated from the code
docs: .venv/dev
	$(BIN)/python tools/cli_page.py
	$(BIN)/python tools/conformance_page.py

lock: .venv/dev
	$(BIN)/python tools/lock.py

.venv/bin/python:
	@test -n "$(PYTHON)" || { echo "no Python 3.11 or later was found; name one with make PYTHON=..."; exit 1; }
	$(PYTHON) -m venv .venv

.venv/base: requirements/base.lock pyproject.toml | .venv/bin/python
	$(PIP) install --require-hashes --only-binary=:all: -r requirements/base.lock
	$(PIP) install --no-deps --no-build-isolation -e .
	@touch $@

.venv/local: requirements/local.lock .venv/base
	$(PIP) install --require-hashes --only-binary=:all: --no-deps -r requirements/local.lock
	@touch $@

.venv/dev: requirements/dev.lock .venv/base
	$(PIP) install --require-hashes --only-binary=:all: -r requirements/dev.lock
	@touch $@

.venv-mcp/ready: requirements/mcp.lock pyproject.toml
	@test -n "$(PYTHON)" || { echo "no Python 3.11 or later was found; name one with make PYTHON=..."; exit 1; }
	$(PYTHON) -m venv .venv-mcp
	$(MCP_PIP) install --require-hashes --only-binary=:all: -r requirements/mcp.lock
	$(MCP_PIP) install --no-deps --no-build-isolation -e .
	@touch $@

clean:
	rm -rf .venv .venv-mcp build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
