# On a machine with Python and make, start with `make demo` or `make test`.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
OLDEST := .venv-oldest

.PHONY: help demo picture docs test test-fast test-oldest check format paper paper-quick bench bench-tiny history fuzz torture licences clean

help:
	@echo "make demo         install, run the main job on a small generated data set, and name the page to open (OPEN=1 opens it)"
	@echo "make picture      redraw the pictures of README and docs, and run the tutorial notebook (needs chromium)"
	@echo "make test         install with the test extras and run every test"
	@echo "make test-fast    the tests that take under two minutes in all: no subprocesses, clusters, browsers, studies or fuzzing"
	@echo "make test-oldest  the tests of test-fast, with the oldest allowed version of every dependency, in $(OLDEST)/"
	@echo "make check        lint, format check and strict types"
	@echo "make docs         build the site from docs/, warnings as errors"
	@echo "make format       apply ruff's fixes and format"
	@echo "make paper        redo the paper's two studies and its protocol on other patients, in study/ (make paper-quick: small versions; JOBS=8: more processes)"
	@echo "make bench SUBJECT=NAME  a benchmark, or several; its tables are written into docs/evidence: $(SUBJECTS)"
	@echo "make bench        all of them (a day)"
	@echo "make bench SUBJECT=speed BEFORE=COMMIT  also times the main paths at that commit, in the same run (without it: at the last release)"
	@echo "make bench SUBJECT=certificates JOBS=8  several processes, for subjects that time nothing"
	@echo "make bench-tiny   the smallest size of every subject, to see that it runs (two minutes)"
	@echo "make history BEFORE=COMMIT  the time of the main paths beside an earlier commit, and where it goes (five minutes)"
	@echo "make fuzz         hostile input for every fuzzing target, FUZZ_SECONDS (60) each"
	@echo "make torture      kill fits at random moments and resume them, TORTURE_KILLS (1000) times"
	@echo "make licences     the packages that Oleander needs, with the licences of those that are installed"
	@echo "make clean        remove the virtual environment and caches"

$(BIN)/python:
	$(PYTHON) -c 'import sys; sys.exit(0 if sys.version_info >= (3, 11) else "Oleander needs Python 3.11 or newer; this is " + sys.version.split()[0] + ". Try: make PYTHON=python3.12 ...")'
	$(PYTHON) -m venv $(VENV)

$(VENV)/.core: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable .
	touch $@

# Two gigabytes, which uv installs in a fraction of pip's time. All that .core needs is among them.
$(VENV)/.dev: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check uv
	$(BIN)/uv pip install --quiet --python $(BIN)/python --editable ".[dev]"
	touch $(VENV)/.core $@

demo: $(VENV)/.core
	$(BIN)/oleander demo $(if $(OPEN),--open)

picture: $(VENV)/.dev
	$(BIN)/python docs/draw_ideas.py
	$(BIN)/python docs/draw_rules.py
	$(BIN)/python docs/draw_gallery.py
	$(BIN)/python docs/draw_uses.py
	$(BIN)/python docs/run_tutorial.py
	$(BIN)/python docs/draw_panels.py
	$(BIN)/python docs/draw_picture.py

$(VENV)/.docs: $(VENV)/.core
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable ".[docs]"
	touch $@

docs: $(VENV)/.docs
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet

test: $(VENV)/.dev
	$(BIN)/python -m pytest --numprocesses 2 --dist worksteal

test-fast: $(VENV)/.dev
	$(BIN)/python -m pytest --numprocesses 2 --dist worksteal -m "not slow"

# uv chooses the lowest versions that pyproject.toml allows; what these need in turn is the newest. Wheels only, because
# a version without one for this Python cannot be meant; lime has none at all. rivals and check are left out: the former
# need newer versions of ours, the latter run nothing of ours.
$(OLDEST)/.test: pyproject.toml
	$(PYTHON) -m venv --clear $(OLDEST)
	$(OLDEST)/bin/python -m pip install --quiet --disable-pip-version-check uv
	$(OLDEST)/bin/uv pip install --quiet --python $(OLDEST)/bin/python --resolution lowest-direct --only-binary :all: --no-binary lime --no-binary oleander --editable ".[test]"
	touch $@

# TESTS=tests/test_kinds.py runs one small fit of each kind only.
test-oldest: $(OLDEST)/.test
	$(OLDEST)/bin/python -m pytest --numprocesses 2 --dist worksteal -m "not slow" $(TESTS)

check: $(VENV)/.dev
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy

format: $(VENV)/.dev
	$(BIN)/ruff check --fix
	$(BIN)/ruff format

# Data sets beside the project are used. Otherwise the geriatric set is fetched, PPMI is a synthetic cohort unless
# PPMI_DIR names a folder with the study's tables, and the other patients are left out. STUDY_OPTIONS="--centers all"
# makes every row a center, as in the paper.
SHARED := ../shared/data
GERIATRIC := $(if $(wildcard $(SHARED)/geriatric),--data $(SHARED)/geriatric)
CLINICAL := $(if $(and $(wildcard $(SHARED)/heart_disease),$(wildcard $(SHARED)/dermatology)),--data $(SHARED))

$(VENV)/.plot: $(VENV)/.core
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable ".[plot]"
	touch $@

# Finished parts are kept in study/: stopped and called again, a run continues where it was. The report needs all three
# studies. JOBS is the number of processes, by default two; it changes no result.
STUDY := $(if $(JOBS),--jobs $(JOBS)) $(STUDY_OPTIONS)
paper: $(VENV)/.plot
	$(BIN)/python -m studies geriatric $(GERIATRIC) --out study/geriatric $(STUDY)
	$(BIN)/python -m studies ppmi $(if $(PPMI_DIR),--data $(PPMI_DIR)) --out study/ppmi $(STUDY)
	$(if $(CLINICAL),$(BIN)/python -m studies clinical $(CLINICAL) --out study/clinical $(STUDY),@echo "no clinical study and no report: put heart_disease and dermatology into $(SHARED)")
	$(if $(CLINICAL),$(BIN)/python -m studies report --out study --page docs/evidence/studies.md)

paper-quick: $(VENV)/.plot
	$(BIN)/python -m studies geriatric $(GERIATRIC) --out study/geriatric-quick --quick $(STUDY)
	$(BIN)/python -m studies ppmi --out study/ppmi-quick --quick $(STUDY)
	$(if $(CLINICAL),$(BIN)/python -m studies clinical $(CLINICAL) --out study/clinical-quick --quick $(STUDY))

$(VENV)/.bench: $(VENV)/.core
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable ".[bench]"
	touch $@

# The packages of rivals have an environment of their own; one that cannot be installed is a line that says so.
$(VENV)/.rivals: $(VENV)/.bench
	$(BIN)/python -m benchmarks.outside.install
	touch $@

SUBJECTS := one-explanation selection speed quality certificates field numbers number-laws streaming watching router group-floors edits differences large-programs

# Every line is kept in bench/ as it is measured: stopped and called again, a run continues where it was.
bench: $(VENV)/.bench $(if $(filter field,$(or $(SUBJECT),field)),$(VENV)/.rivals)
	$(BIN)/python -m benchmarks.run $(if $(SUBJECT),--subject $(SUBJECT)) $(if $(JOBS),--jobs $(JOBS)) $(if $(BEFORE),--before $(BEFORE))

bench-tiny: $(VENV)/.bench
	$(BIN)/python -m benchmarks.run --size tiny --fresh

# Both versions are measured in one run, so that the ratio says more than two runs on different days.
history: $(VENV)/.bench
	$(BIN)/python -m benchmarks.history $(if $(BEFORE),--before $(BEFORE))

# Without atheris the inputs are seeded changes of good ones.
FUZZ_SECONDS ?= 60
fuzz: $(VENV)/.dev
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable ".[fuzz]" || echo "atheris cannot be installed here"
	FUZZ_SECONDS=$(FUZZ_SECONDS) $(BIN)/python fuzz/drive.py

# Fits that are killed and resumed; the table is that of docs/evidence/reliability.md.
TORTURE_KILLS ?= 1000
torture: $(VENV)/.dev
	$(BIN)/python fuzz/torture.py --kills $(TORTURE_KILLS)

licences: $(VENV)/.core
	$(BIN)/python docs/list_licences.py

clean:
	rm -rf $(VENV) $(OLDEST) .pytest_cache .mypy_cache .ruff_cache .hypothesis dist
