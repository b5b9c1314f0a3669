# Every target makes .venv when it is missing; PYTHON names another interpreter, ARGS go to the command.
.PHONY: help demo test lint bench lock environment
MAKEFLAGS += --no-print-directory
BIN := .venv/bin

help: ## say what there is
	@sed -n 's/^\([a-z]*\):.*## /make \1: /p' Makefile

demo: environment ## run the referee on recorded days, with pages (ARGS="--days 1 --once")
	@$(BIN)/referee demo $(ARGS)

test: environment ## run the tests (ARGS="tests/rules -x")
	@$(BIN)/pytest $(ARGS)

lint: environment ## ruff, mypy --strict, import-linter
	@failed=0; \
	$(BIN)/ruff check --quiet . || failed=1; \
	$(BIN)/ruff format --check --quiet . || failed=1; \
	$(BIN)/mypy || failed=1; \
	$(BIN)/lint-imports --no-logo || failed=1; \
	exit $$failed

bench: environment ## measure what the documents state
	@for file in tests/bench/bench_*.py; do \
	  name=$$(basename $$file .py); echo "== $$name"; $(BIN)/python -m tests.bench.$$name || exit 1; done

lock: environment ## resolve requirements.lock anew from pyproject.toml
	@{ echo "# What is tested, exactly; made by \`make lock\` from pyproject.toml, for Python 3.11 and later."; \
	  $(BIN)/uv pip compile --quiet --universal --python-version 3.11 --all-extras --no-header --no-annotate \
	  --no-emit-index-url pyproject.toml; } > .make/requirements.lock && mv .make/requirements.lock requirements.lock

environment:
	@python=$$(sh deploy/find-python $(PYTHON)) && $$python deploy/environment.py
