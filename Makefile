# Everything a newcomer types: `make demo`, `make test`. Both set up `.venv` first.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed

.PHONY: demo test check lock stubs clean

demo: $(STAMP)  ## run the main job on examples/supplier against a live server
	@$(BIN)/python -m examples.supplier.demo $(if $(KEEP),--keep)

test: $(STAMP)  ## run the whole suite
	@$(BIN)/python -m pytest -n 2

check: $(STAMP)  ## everything CI runs
	@.ci/run

$(STAMP): requirements.lock pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "Proofweave needs Python 3.11 or newer; $(PYTHON) is `$(PYTHON) -V 2>&1`. Set PYTHON=..." >&2; exit 1; }
	@$(PYTHON) -c 'import venv, ensurepip' 2>/dev/null || \
	  { echo "$(PYTHON) cannot make virtual environments; on Debian: apt install python3-venv" >&2; exit 1; }
	@echo "Setting up $(VENV): about 130 packages, one to three minutes, once."
	@$(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements.lock
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
	@touch $(STAMP)

lock:  ## pin all dependencies with hashes; needs uv
	uv pip compile pyproject.toml --group dev --extra llm --extra embeddings --universal --python-version 3.11 \
	  --generate-hashes --no-emit-index-url --no-header --no-annotate -o requirements.lock

stubs: $(STAMP)  ## regenerate the gRPC stubs beside the protos
	@$(BIN)/python -m server.stubs

clean:
	rm -rf $(VENV) demo-output dist build
