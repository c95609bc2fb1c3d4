# Each target sets up all that it needs. VENV may name another folder for the virtual environment.
PYTHON ?= python3
VENV ?= .venv
BIN = $(VENV)/bin
PIP = $(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt
FILES = pyproject.toml constraints.txt
export OMP_NUM_THREADS ?= 1
export OMP_WAIT_POLICY ?= PASSIVE

.PHONY: help demo test lint types check bench protos docs clean

help:
	@echo "make demo    train three small runs on this machine and compare them"
	@echo "make test    lint, types and tests"
	@echo "make bench   the ratios of docs/benchmarks.md"
	@echo "make protos  regenerate the protocol;  make docs  regenerate the reference pages"

$(VENV)/.trainer: $(FILES)
	@echo "Installing the trainer into $(VENV); torch makes that a few minutes."
	$(PYTHON) -m venv $(VENV)
	$(PIP) --editable '.[trainer]'
	touch $@

$(VENV)/.dev: $(VENV)/.trainer
	$(PIP) --editable '.[trainer,dev]'
	touch $@

demo: $(VENV)/.trainer
	PATH="$(abspath $(BIN)):$$PATH" examples/support-triage/demo.sh

lint: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/interrogate --quiet src

types: $(VENV)/.dev
	$(BIN)/mypy

check: $(VENV)/.dev
	$(BIN)/python -m pytest --numprocesses 2 --dist loadfile

test: lint types check

bench: $(VENV)/.dev
	for script in benchmarks/*.py; do echo "== $$script"; $(BIN)/python $$script || exit 1; done

protos: $(VENV)/.dev
	$(BIN)/python -m grpc_tools.protoc --proto_path=protos --python_out=src --pyi_out=src \
	  protos/akka_optimize/protocol/trainer.proto

docs: $(VENV)/.dev
	$(BIN)/python scripts/generate_fields_page.py
	$(BIN)/python scripts/generate_reference.py

clean:
	rm -rf $(VENV) .demo .mypy_cache .ruff_cache .pytest_cache .hypothesis
