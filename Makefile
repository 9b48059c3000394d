# Short names for what start.py and the tools in .venv do. `make help` lists them.
PYTHON ?= python3
BIN := .venv/bin
COMPILE := $(BIN)/uv pip compile --quiet --no-config --universal --python-version 3.11 --generate-hashes \
	--no-emit-index-url --no-emit-find-links --custom-compile-command 'make lock'

.DEFAULT_GOAL := help
.PHONY: help setup run test lint types arch cover bench coverage snapshot lock advisories

help: ## show this list
	@grep -E '^[a-z]+:.*## ' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "make %-10s %s\n", $$1, $$2}'

setup: ## install everything into .venv
	$(PYTHON) start.py --setup

run: ## install if need be, and open Inkblot
	$(PYTHON) start.py

test: ## run every check and every test
	$(PYTHON) start.py --test

lint: ## style and format
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: ## mypy, strict
	$(BIN)/mypy

arch: ## which layer may import which
	$(BIN)/lint-imports

cover: ## the tests, and which lines of core they never reach
	$(BIN)/pytest --cov=core --cov-branch --cov-report=term-missing:skip-covered

bench: ## the benchmarks
	$(PYTHON) start.py --bench

coverage: ## how often intervals cover and tests err, in simulated studies; goes on where it ended
	OPENBLAS_NUM_THREADS=1 $(BIN)/python -m benchmarks.coverage $(ARGUMENTS)

snapshot: ## every result and export of fixed studies as files: make snapshot DIR=before
	OPENBLAS_NUM_THREADS=1 $(BIN)/python -m tests.snapshot $(or $(DIR),build/snapshot)

advisories: ## known faults of the pinned packages; without a network, by the copy of last time
	$(BIN)/python -m tests.advisories

lock: ## pin every package with its hashes, from the files requirements*.in
	$(COMPILE) requirements.in -o requirements.txt
	$(COMPILE) requirements-dev.in -c requirements.txt -o requirements-dev.txt
	$(COMPILE) requirements-first.in --no-deps -o requirements-first.txt
	$(COMPILE) requirements-spark.in -c requirements.txt -o requirements-spark.txt
	$(COMPILE) requirements-lab.in -c requirements-dev.txt -o requirements-lab.txt
