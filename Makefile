# `make demo` shows the library, `make test` checks a change. Only Python, pip and make are assumed.
PYTHON ?= python3
VENV ?= .venv
BIN = $(VENV)/bin
DATA ?=
DRAFT ?=

# Two things at once where neither needs the other, and what was compiled is kept, whatever the environment says: tests
# start hundreds of processes.
MAKEFLAGS += --jobs=2
unexport PYTHONDONTWRITEBYTECODE

.PHONY: demo test test-hard lint format types fresh fresh-langchain fresh-llama-index frameworks frameworks-agents \
	frameworks-crewai unit hard size docs dist bench clean

demo: $(VENV)/.demo
	@$(BIN)/python examples/demo.py

# What a person waits for: at most six minutes on two cores, with one test of every kind (tests/suites.py).
test: lint types unit

# The rest: kills, full disks, cut networks, servers, browsers, fresh installs, other frameworks, and properties with all their
# examples.
test-hard: fresh frameworks hard

lint: $(VENV)/.test
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .

types: $(VENV)/.test
	$(BIN)/mypy

# On two cores at once; the tests of one file share what is dear to start. The longest files come first.
PYTEST = $(BIN)/python -m pytest -n 2 --dist loadfile --no-loadscope-reorder

unit: $(VENV)/.test
	$(PYTEST) -m "not hard or sample"

hard: $(VENV)/.test
	$(PYTEST) -m "hard or hypothesis" --hypothesis-profile thorough

# The wheel, without extras, in an environment of its own; what is never imported there is not compiled.
fresh: $(VENV)/.test
	rm -rf $(VENV)/fresh
	$(PYTHON) -m venv --without-pip $(VENV)/fresh
	$(BIN)/python -m build --wheel --no-isolation --outdir $(VENV)/fresh/dist >/dev/null
	$(BIN)/python -m pip --python $(VENV)/fresh install --quiet --no-compile $(VENV)/fresh/dist/*.whl
	cd $(VENV)/fresh && bin/python -I "$(CURDIR)/tests/fresh_install.py"

# The wheel with one extra, in an environment of its own: what its pages and examples show must run.
fresh-langchain: EXAMPLES = 11_langchain_chain 12_langchain_migrate 13_langgraph_agent 14_langgraph_store
fresh-langchain: PAGES = guides/langchain tutorials/langchain_app
fresh-llama-index: EXAMPLES = 21_llama_query_engine 22_llama_chat_engine 23_llama_agent
fresh-llama-index: PAGES = guides/llamaindex tutorials/llamaindex_app
fresh-langchain fresh-llama-index: fresh-%: $(VENV)/.test
	rm -rf $(VENV)/fresh-$*
	$(PYTHON) -m venv --without-pip $(VENV)/fresh-$*
	$(BIN)/python -m build --wheel --no-isolation --outdir $(VENV)/fresh-$*/dist >/dev/null
	$(BIN)/python -m pip --python $(VENV)/fresh-$* install --quiet --no-compile "$$(ls $(VENV)/fresh-$*/dist/*.whl)[$*]"
	cd $(VENV)/fresh-$* && bin/python -I "$(CURDIR)/tests/fresh_install_extra.py" \
		$(PAGES:%="$(CURDIR)/docs/%.md") $(EXAMPLES:%="$(CURDIR)/examples/%.py")

# examples/adapters and what docs/guides/agents.md shows, with the frameworks, as far as their packages install: in environments
# that see the packages of this one as well.
frameworks: frameworks-agents frameworks-crewai
frameworks-agents: TESTS = 51_deepagents or 52_langmem or google_adk or pydantic_ai or openai_agents
frameworks-crewai: TESTS = crew
frameworks-agents frameworks-crewai: frameworks-%: $(VENV)/.test
	rm -rf $(VENV)/frameworks-$*
	$(BIN)/python -m venv --without-pip $(VENV)/frameworks-$*
	$(BIN)/python -c 'import sysconfig; print("import site; site.addsitedir(%r)" % sysconfig.get_path("purelib"))' \
		> $$(echo $(VENV)/frameworks-$*/lib/python3*/site-packages)/packages_of_the_tests.pth
	@if $(BIN)/python -m pip --python $(VENV)/frameworks-$* install --quiet --no-compile --no-warn-conflicts \
		--requirement tests/frameworks_$*.txt; \
	then $(VENV)/frameworks-$*/bin/python -m pytest -q --disable-warnings -k "$(TESTS)" \
		tests/test_other_frameworks.py tests/test_examples.py; \
	else echo "frameworks-$*: not tested, because the packages of tests/frameworks_$*.txt do not install here"; fi

format: $(VENV)/.test
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

# How large the project is, beside the limits in tests/size_limits.txt.
size: $(VENV)/.test
	$(BIN)/python -m tests.size

# The site of the documentation, from the pages and from the code; the tests build it as well.
docs: $(VENV)/.test
	$(BIN)/python docs/build_site.py

# What is published: RELEASING.md says when. While a field for the owner is empty, only `make dist DRAFT=1` builds.
dist: $(VENV)/.test
	$(if $(DRAFT),,$(BIN)/python -m tests.release_fields)
	rm -rf dist
	for one in . packaging/*; do $(BIN)/python -m build --no-isolation --outdir dist $$one >/dev/null || exit 1; done
	$(BIN)/twine check --strict dist/*

# Quality and speed beside the peers. With DATA (benchmarks/README.md says how it is made) the run is recorded, and the
# tables of the pages are made of it; without, it measures speed alone and records nothing.
bench: $(VENV)/.test
	$(BIN)/python -m benchmarks.bench $(if $(DATA),--data $(DATA) --json benchmarks/recorded/bench.json)
	$(if $(DATA),$(BIN)/python -m benchmarks.page_tables,@echo 'make bench DATA=<folder> also measures quality, and records it')

clean:
	rm -rf $(VENV) .mypy_cache .pytest_cache .ruff_cache .hypothesis build dist

# Prints one line that says which package pip is at, and errors as they are; the stamp file says whether pip succeeded.
PROGRESS = $(PYTHON) -c 'import sys; found = (line for line in sys.stdin if line.lstrip().startswith("Collecting ")); \
	[print(f"\r  package {n}: {line.split()[1]:50.50}", end="", flush=True) for n, line in enumerate(found, 1)]; print()'

$(VENV)/bin/python:
	@echo "Creating a virtual environment in $(VENV)"
	@$(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install --quiet --upgrade 'pip>=25.1'

$(VENV)/.demo: $(VENV)/bin/python pyproject.toml
	@echo "Installing the package and what it needs (550 MB, mostly Chroma): the first time this takes a minute or two"
	@rm -f $@
	@{ $(BIN)/python -m pip install --progress-bar off --editable '.[local]' && touch $@; } | $(PROGRESS)
	@test -f $@

$(VENV)/.test: $(VENV)/bin/python pyproject.toml
	$(BIN)/python -m pip install --quiet --no-compile --editable '.[fast,langchain,llama-index,local,mcp,minilm,openai,otel,postgres]' --group dev
	touch $@ $(VENV)/.demo
