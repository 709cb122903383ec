# assay: `make tune` runs the main job on a bundled example, `make test` passes all tests.
# Both install missing packages first; no other preparation is needed.

SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
MAKEFLAGS += --no-builtin-rules
# Launched programs do not inherit them: a study begun by make would differ from its resumption.
unexport MAKEFLAGS MFLAGS

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
LOWEST := $(VENV)/lowest
BUDGET ?= 5m
# Compilation, installations and checks run at the same time.
TOGETHER = $(MAKE) -j4 --output-sync=target PYTHON=$(PYTHON) VENV=$(VENV)
PREPARE_TESTS = $(TOGETHER) check-types $(VENV)/.tested-with $(VENV)/.example check-sources
# One installation at a time: in the environment, and of system packages. Services that a package
# starts would keep the lock without --close.
INSTALL = flock --close $(VENV)/pyvenv.cfg $(BIN)/python -m pip install -q
SYSTEM_PACKAGES = flock --close tools/system-packages tools/system-packages
SOURCES := pyproject.toml CMakeLists.txt $(shell find src native -type f ! -name '*.pyc' 2>/dev/null)

.PHONY: help tune test test-full test-lowest check check-types check-sources check-imports wording docs man format clean bench-overhead bench-statistics bench-search bench-recommendations bench-programs bench-warm bench-start bench-partition bench-kernels bench-tier bench-progress bench-pytorch bench-scale bench-smoke

help: ## this list
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:[^#]*## /\t/' | expand -t 20

tune: $(VENV)/.installed $(VENV)/.example ## find the best configuration for the bundled example
	$(BIN)/assay tune --budget $(BUDGET) -- $(abspath $(BIN))/python examples/digits/digits.py
	$(BIN)/assay report last -q -o build/report.html
	@echo "The report is in $(abspath build/report.html)"

wheel: $(VENV)/.created ## build/wheels: a wheel that other distributions install without a compiler
	$(BIN)/python -m pip install -q --group wheel
	rm -rf build/wheels
	$(BIN)/python tools/portable_wheel.py build/wheels

test: ## all tests but the slow ones
	$(PREPARE_TESTS)
	tools/run-tests $(BIN)

test-full: ## all tests, and the date's shard of the slow ones
	$(PREPARE_TESTS)
	tools/system-packages full
	tools/run-tests $(BIN) --full

test-lowest: ## unit, golden and example tests with the lowest versions declared (Python 3.11 or 3.12)
	tools/system-packages build examples test
	$(PYTHON) -c 'import sys; (3, 11) <= sys.version_info[:2] <= (3, 12) or sys.exit("the lowest versions have wheels for Python 3.11 and 3.12: set PYTHON")'
	$(PYTHON) -m venv --clear $(LOWEST)
	$(LOWEST)/bin/python -m pip install -q --upgrade pip
	$(LOWEST)/bin/python tools/lowest.py run > $(LOWEST)/run.txt
	$(LOWEST)/bin/python tools/lowest.py build > $(LOWEST)/build.txt
	$(LOWEST)/bin/python -m pip install -q --only-binary :all: -C build-dir=build/lowest \
	  -c $(LOWEST)/run.txt --build-constraint $(LOWEST)/build.txt . --group test -r examples/requirements.txt
	tools/run-tests $(LOWEST)/bin unit examples

check: ## types, style, layers, forbidden imports, wording
	$(TOGETHER) check-types check-sources check-imports

check-types: $(VENV)/.packages
	$(BIN)/mypy

# The sources themselves, so that they are checked while they are compiled.
check-sources: $(VENV)/.packages
	$(BIN)/ruff check --no-cache .
	$(BIN)/ruff format --check .
	PYTHONPATH=src $(BIN)/lint-imports --no-cache
	$(BIN)/clang-format --dry-run -Werror $$(git ls-files '*.cpp' '*.hpp')
	$(PYTHON) tools/wording.py

# In `make test` it is one of the unit tests.
check-imports: $(VENV)/.tested-with
	$(BIN)/python -m pytest -q tests/unit/test_imports.py

wording: ## wording of documentation, comments and messages against its limits (WORDING="--list 5")
	$(PYTHON) tools/wording.py $(WORDING)

docs: $(VENV)/.tested-with ## the documentation as a site: build/site/index.html
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build
	@echo "The site is in $(abspath build/site/index.html)"

man: $(VENV)/.installed ## manual pages: build/man
	$(BIN)/python -m tools.docs.manual build/man

format: $(VENV)/.tested-with ## rewrite sources in the project's style
	$(BIN)/ruff check --no-cache --fix-only -q .
	$(BIN)/ruff format -q .
	$(BIN)/clang-format -i $$(git ls-files '*.cpp' '*.hpp')

bench-overhead: $(VENV)/.tested-with $(VENV)/.peers ## cost and accuracy of measuring, compared with other tools (BENCH="--write --part timing")
	$(BIN)/python -m benchmarks.overhead $(BENCH)

bench-statistics: $(VENV)/.tested-with ## error rates of verdicts, compared with the rules of other tools (BENCH="--write --recorded FILE...")
	$(BIN)/python -m benchmarks.verdicts $(BENCH)

bench-search: $(VENV)/.tested-with ## quality of the search, compared with other optimisers; resumes after interruption (BENCH="--write TABLE...")
	$(BIN)/python -m benchmarks.search $(BENCH)

bench-recommendations: $(VENV)/.tested-with ## quality and error rates of recommendations; resumes after interruption (BENCH="--write --studies 2000 TABLE...")
	$(BIN)/python -m benchmarks.recommendations $(BENCH)

bench-programs: $(VENV)/.tested-with $(VENV)/.example ## effect of recommended settings on real programs; resumes after interruption (BENCH="--write --budget 2m")
	$(BIN)/python -m benchmarks.programs $(BENCH)

bench-warm: $(VENV)/.tested-with ## benefit of earlier studies for a search (BENCH="--write TABLE...")
	$(BIN)/python -m benchmarks.warm $(BENCH)

bench-start: $(VENV)/.tested-with $(VENV)/.peers ## time until a program starts, and cost of a full plan (BENCH=--write)
	$(BIN)/python -m benchmarks.start $(BENCH)

bench-partition: $(VENV)/.tested-with $(VENV)/.peers ## isolation of a program in a partition, under load (BENCH=--write)
	$(BIN)/python -m benchmarks.partition $(BENCH)

bench-kernels: $(VENV)/.libraries $(VENV)/.python-libraries $(VENV)/.tested-with ## kernels of the catalogue, compared with libraries and the machine's roofs (BENCH=--write)
	$(BIN)/python -m benchmarks.kernels --python $(VENV)/python-libraries/bin/python $(BENCH)

bench-tier: $(VENV)/.tested-with ## programs whose data exceed memory, compared with swap and mapped files (BENCH="--write --part rates")
	$(BIN)/python -m benchmarks.tier $(BENCH)

bench-progress: $(VENV)/.tested-with $(VENV)/.peers ## values that programs report while they run: cost, length of launches, search; at most two hours, resumes after interruption (BENCH="--write --part search")
	$(BIN)/python -m benchmarks.progress $(BENCH)

bench-pytorch: $(VENV)/.tested-with $(VENV)/.peers ## tuning of a PyTorch training loop in 15 minutes (BENCH="--model transformer --write")
	$(BIN)/python -m benchmarks.progress.pytorch $(BENCH)

bench-scale: $(VENV)/.tested-with ## cost at the sizes that assay is made for; at most 30 minutes, resumes after interruption (BENCH="--write --part study")
	$(BIN)/python -m benchmarks.scale $(BENCH)

bench-smoke: $(VENV)/.tested-with ## one short run of each benchmark
	$(BIN)/python -m benchmarks.overhead --smoke
	$(BIN)/python -m benchmarks.verdicts --quick
	$(BIN)/python -m benchmarks.search --quick
	$(BIN)/python -m benchmarks.warm --quick
	$(BIN)/python -m benchmarks.start --smoke
	$(BIN)/python -m benchmarks.partition --quick
	$(BIN)/python -m benchmarks.kernels --smoke
	$(BIN)/python -m benchmarks.tier --quick
	$(BIN)/python -m benchmarks.progress --quick
	$(BIN)/python -m benchmarks.scale --quick

clean: ## remove build products and the virtual environment
	rm -rf build .checks $(VENV)

# --- set-up -----------------------------------------------------------------------------------

$(VENV)/.created:
	$(SYSTEM_PACKAGES) build
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "assay needs Python 3.11 or newer")'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install -q --upgrade pip
	touch $@

# The wheel is built in an environment of its own, so that other packages are installed meanwhile.
$(VENV)/.built: $(VENV)/.created $(SOURCES)
	rm -rf build/wheel
	$(BIN)/python -m pip wheel -q --no-deps -w build/wheel .
	touch $@

$(VENV)/dependencies.txt: $(VENV)/.created pyproject.toml
	$(BIN)/python -c 'import tomllib; print(*tomllib.load(open("pyproject.toml", "rb"))["project"]["dependencies"], sep="\n")' > $@

# Without --force-reinstall, pip keeps an installed assay of the same version.
$(VENV)/.installed: $(VENV)/.built $(VENV)/dependencies.txt
	$(INSTALL) -r $(VENV)/dependencies.txt
	$(INSTALL) --force-reinstall --no-deps build/wheel/assay-*.whl
	touch $@

$(VENV)/.example: $(VENV)/.created examples/requirements.txt
	$(SYSTEM_PACKAGES) examples
	$(INSTALL) -r examples/requirements.txt
	touch $@

# All in one step: each step reads the lists of all packages again.
$(VENV)/.system-packages: $(VENV)/.created tools/system-packages
	$(SYSTEM_PACKAGES) build examples test
	touch $@

# Packages of the tests and checks, and all that assay itself depends on.
$(VENV)/.packages: $(VENV)/dependencies.txt pyproject.toml
	$(INSTALL) -r $(VENV)/dependencies.txt --group test --group docs --group check
	touch $@

$(VENV)/.tested-with: $(VENV)/.installed $(VENV)/.packages $(VENV)/.system-packages
	touch $@

# Libraries that kernels are compared with. One of them is found by its header when the native part is built.
$(VENV)/.libraries: $(VENV)/.created tools/system-packages
	tools/system-packages kernels
	rm -f $(VENV)/.built $(VENV)/.installed
	if [ -d build ]; then find build -name libraries.cpp.o -delete; fi
	touch $@

# Libraries for Python that kernels are compared with, in an environment of their own.
$(VENV)/.python-libraries: $(VENV)/.created benchmarks/kernels/peers.txt
	$(PYTHON) -m venv --clear $(VENV)/python-libraries
	for library in $$(cat benchmarks/kernels/peers.txt); do \
	  $(VENV)/python-libraries/bin/python -m pip install -q "$$library" || echo "left out: $$library" >&2; \
	done
	touch $@

# Other measuring tools, apart from assay's dependencies; tools that cannot be installed are left out.
$(VENV)/.peers: $(VENV)/.created benchmarks/peers.txt
	tools/system-packages bench
	$(PYTHON) -m venv --clear $(VENV)/bench
	for peer in $$(cat benchmarks/peers.txt); do \
	  $(VENV)/bench/bin/python -m pip install -q "$$peer" || echo "left out: $$peer" >&2; \
	done
	touch $@
