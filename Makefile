# Two commands do everything on a machine with Python and make: `make demo` and `make test`.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin

.PHONY: help demo picture docs test check format paper paper-quick bench bench-tiny bench-local bench-selection bench-selection-rivals bench-selection-union bench-quality bench-floor bench-lazy compare bench-anchors bench-streaming fuzz clean

help:
	@echo "make demo         install and run the main job on a small public data set"
	@echo "make picture      draw the pictures of README and docs anew (needs chromium)"
	@echo "make test         install with the test extras and run every test"
	@echo "make check        lint, format check and strict types"
	@echo "make docs         build the site from docs/, warnings as errors"
	@echo "make format       let ruff rewrite what it can"
	@echo "make paper        redo the paper's two studies: figures, tables and claims in study/ (make paper-quick: small versions)"
	@echo "make bench        side by side with what a user would pick instead: writes docs/benchmarks.md (an hour and a half on a quiet machine; bench-tiny: a minute)"
	@echo "make bench-local  of it, what one explanation costs, in units of the black box's own time"
	@echo "make bench-selection  exact selection beside HiGHS on seeded instances (and bench-selection-rivals, bench-selection-union)"
	@echo "make bench-quality  do answers keep their word on new rows, and how much do they cover?"
	@echo "make bench-floor  the paper's floor on the raw share beside one on a lower bound"
	@echo "make bench-lazy   what lazy training saves and costs"
	@echo "make compare      Oleander and its rivals in one table"
	@echo "make bench-anchors  our anchors beside anchor-exp, and the exact choice beside the greedy one"
	@echo "make fuzz         hostile input at every door, FUZZ_SECONDS (60) each"
	@echo "make bench-streaming  more rows than memory: time per million rows, peak memory (ROWS=20000000)"
	@echo "make clean        remove the virtual environment and caches"

$(VENV)/.core: pyproject.toml
	$(PYTHON) -c 'import sys; sys.exit(0 if sys.version_info >= (3, 11) else "Oleander needs Python 3.11 or newer; this is " + sys.version.split()[0] + ". Try: make PYTHON=python3.12 ...")'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable .
	touch $@

$(VENV)/.dev: $(VENV)/.core
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable ".[dev]"
	touch $@

$(VENV)/.cli: $(VENV)/.core
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable ".[cli]"
	touch $@

demo: $(VENV)/.cli
	$(BIN)/oleander demo

picture: $(VENV)/.dev
	$(BIN)/python docs/draw_ideas.py
	$(BIN)/python docs/draw_picture.py

docs: $(VENV)/.core
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable ".[docs]"
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet

test: $(VENV)/.dev
	$(BIN)/python -m pytest --numprocesses 2

check: $(VENV)/.dev
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy

format: $(VENV)/.dev
	$(BIN)/ruff check --fix
	$(BIN)/ruff format

# Data sets beside the project are used. Otherwise the geriatric set is fetched, and PPMI is a synthetic cohort unless
# PPMI_DIR names a folder with the study's tables.
SHARED := ../shared/data
GERIATRIC := $(if $(wildcard $(SHARED)/geriatric),--data $(SHARED)/geriatric)
TELEMONITORING := $(if $(wildcard $(SHARED)/parkinsons_telemonitoring),--telemonitoring $(SHARED)/parkinsons_telemonitoring)

$(VENV)/.plot: $(VENV)/.core
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable ".[plot]"
	touch $@

paper: $(VENV)/.plot
	$(BIN)/python -m studies geriatric $(GERIATRIC) --out study/geriatric
	$(BIN)/python -m studies ppmi $(if $(PPMI_DIR),--data $(PPMI_DIR)) $(TELEMONITORING) --out study/ppmi

paper-quick: $(VENV)/.plot
	$(BIN)/python -m studies geriatric $(GERIATRIC) --out study/geriatric-quick --quick
	$(BIN)/python -m studies ppmi $(TELEMONITORING) --out study/ppmi-quick --quick

$(VENV)/.bench: $(VENV)/.core
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable ".[bench]"
	touch $@

# Stopped and called again, it goes on where it was: lines that were measured lie in bench/.
bench: $(VENV)/.bench
	$(BIN)/python benchmarks/run.py

bench-tiny: $(VENV)/.bench
	$(BIN)/python benchmarks/run.py --size tiny --fresh

bench-local: $(VENV)/.bench
	$(BIN)/python benchmarks/run.py --subject one-explanation --subject floor

bench-selection: $(VENV)/.core
	PYTHONPATH=benchmarks $(BIN)/python -m selection.speed

bench-selection-rivals: $(VENV)/.bench
	PYTHONPATH=benchmarks $(BIN)/python -m selection.rivals

bench-selection-union: $(VENV)/.core
	PYTHONPATH=benchmarks $(BIN)/python -m selection.union

bench-quality: $(VENV)/.core
	$(BIN)/python benchmarks/quality.py

bench-floor: $(VENV)/.core
	$(BIN)/python benchmarks/floor.py

bench-lazy: $(VENV)/.core
	$(BIN)/python benchmarks/lazy.py

compare: $(VENV)/.core
	$(BIN)/python benchmarks/compare.py

bench-anchors: $(VENV)/.bench
	$(BIN)/python benchmarks/anchors.py

# Without atheris the inputs are seeded changes of good ones.
FUZZ_SECONDS ?= 60
fuzz: $(VENV)/.dev
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable ".[fuzz]" || echo "atheris cannot be installed here"
	FUZZ_SECONDS=$(FUZZ_SECONDS) $(BIN)/python fuzz/drive.py

ROWS ?= 20000000
bench-streaming: $(VENV)/.core
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable ".[parquet]"
	$(BIN)/python benchmarks/streaming.py --rows $(ROWS)

clean:
	rm -rf $(VENV) .pytest_cache .mypy_cache .ruff_cache .hypothesis dist
