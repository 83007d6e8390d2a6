# GEMM Lab. A machine with make and Python 3.11 or newer needs one command: `make lab`, or `make test`.
# Everything is installed into this folder (.tools, .venv) from requirements.lock; `make clean` takes it away again.

PYTHON ?= python3
JOBS ?= 2
UV_VERSION := 0.13.9

UV := .tools/bin/uv
BIN := .venv/bin
LESSONS := $(sort $(wildcard notebooks/[0-9]*.ipynb))
SOLUTIONS := $(sort $(wildcard notebooks/instructor/[0-9]*.ipynb))

# CUDA=12 or 13 adds CuPy. The choice is remembered in the stamp's name, so that a later `make test` keeps CuPy.
# A variable CUDA that some other program left in the environment is no choice.
ifeq ($(filter 12 13,$(CUDA)),)
  ifeq ($(origin CUDA),command line)
    $(error CUDA=$(CUDA): choose CUDA=12 or CUDA=13, the major version that nvidia-smi shows; without a GPU leave it out)
  endif
  CUDA := $(patsubst .venv/ready-cuda%,%,$(firstword $(wildcard .venv/ready-cuda*)))
endif
LOCKS := requirements.lock $(CUDA:%=requirements-cuda%.lock)
STAMP := .venv/ready$(CUDA:%=-cuda%)
NEWS := @jupyterlab/apputils-extension:announcements  # asks everybody, over the lesson, whether it may fetch news
NBGRADER := .venv-nbgrader

# An environment does not survive a move of this folder or the loss of its Python: then it is made anew.
ifneq ($(shell test -x $(BIN)/python && cat .venv/made-in 2>/dev/null),$(CURDIR))
  NEW_VENV := 1
  .PHONY: $(STAMP)
endif

ifneq ($(shell cat $(NBGRADER)/ready 2>/dev/null),$(CURDIR))
  .PHONY: $(NBGRADER)/ready
endif

export UV_PYTHON_DOWNLOADS := never
export VIRTUAL_ENV := $(CURDIR)/.venv

.DEFAULT_GOAL := help
.PHONY: help setup lab test bench bench-grade counters notebooks exercises reset nbgrader lock lint clean

help:  ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-11s %s\n", $$1, $$2 }' Makefile

lab: setup  ## set up and open the lessons in JupyterLab (CUDA=12 or CUDA=13: with CuPy for an NVIDIA GPU)
	@$(if $(LESSONS),$(BIN)/jupyter-trust $(LESSONS) >/dev/null 2>&1 || true)  # or tables lose their colours
	PATH="$(CURDIR)/$(BIN):$$PATH" $(BIN)/python -m jupyterlab --ServerApp.root_dir="$(CURDIR)" --LabApp.default_url=/lab/tree/notebooks \
	  $(if $(filter 0,$(shell id -u)),--allow-root) $(ARGS)

test: setup nbgrader  ## set up and run every test, the lessons included (ARGS="-k naive" chooses some)
	$(BIN)/python -m pytest -n $(JOBS) --dist loadfile --nbval --nbval-current-env tests $(LESSONS) $(SOLUTIONS) $(ARGS)

bench: setup  ## time every kernel and cuBLAS on this machine's GPU (ARGS="--help" lists the options)
	$(BIN)/gemm-lab bench $(ARGS)

counters: setup  ## record what this GPU counts and computes (needs ncu), for `make test` to compare with the emulator
	@$(BIN)/python -m benchmarks.testbench $(ARGS)

notebooks: setup  ## run the lessons from top to bottom and write their outputs (LESSON=01: that one)
	$(BIN)/python -m tools.build_notebooks $(LESSON) $(ARGS)

exercises: setup  ## run the instructor's notebooks and write their outputs and the released exercises
	$(BIN)/python -m tools.build_exercises $(LESSON)

bench-grade: setup  ## time the grading of 100 submissions
	$(BIN)/python -m benchmarks.grading $(ARGS)

reset: setup  ## LESSON=01: bring a lesson back as it came; your copy stays beside it
	@$(BIN)/python -m tools.reset $(LESSON)

setup: $(STAMP)  ## only set up

nbgrader: $(NBGRADER)/ready  ## only set up nbgrader, for instructors, in an environment of its own

lint: setup  ## style of the Python code
	$(BIN)/ruff check gemm_lab tests tools benchmarks

clean:  ## remove what set-up installed (your lessons stay)
	rm -rf .tools .venv $(NBGRADER)

$(STAMP): $(LOCKS) pyproject.toml | .tools/uv-$(UV_VERSION)
	@$(if $(NEW_VENV),$(UV) venv --quiet --clear --python $(PYTHON) .venv)
	@echo "Installing what GEMM Lab needs into .venv (once: about 300 MB to download, without CuPy)"
	@$(UV) pip sync --require-hashes $(LOCKS)
	@$(UV) pip install --quiet --no-deps --no-build-isolation --editable .
	@$(BIN)/jupyter-labextension disable --level=sys_prefix $(NEWS) 2>/dev/null
	@$(BIN)/python -m tools.reset --keep
	@rm -f .venv/ready* && echo "$(CURDIR)" > .venv/made-in && touch $@

# The course itself comes in by a path file: it is built by packages that only .venv has.
$(NBGRADER)/ready: requirements-instructor.lock | .tools/uv-$(UV_VERSION)
	@$(UV) venv --quiet --clear --python $(PYTHON) $(NBGRADER)
	@VIRTUAL_ENV=$(CURDIR)/$(NBGRADER) $(UV) pip sync --quiet --compile-bytecode --require-hashes $<
	@echo "$(CURDIR)" | tee "$$(echo $(NBGRADER)/lib/python3.*/site-packages)/gemm-lab.pth" > $@

.tools/uv-$(UV_VERSION):
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || { echo "GEMM Lab needs Python 3.11 or\
	 newer, and $(PYTHON) is older or missing: install one (Debian 12, Ubuntu 24.04: sudo apt-get install python3\
	 python3-venv) or name one that you have: make lab PYTHON=python3.12" >&2; exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || { echo "$(PYTHON) lacks the module venv: install it (Debian,\
	 Ubuntu: sudo apt-get install python3-venv)" >&2; exit 1; }
	@rm -rf .tools && $(PYTHON) -m venv .tools
	@.tools/bin/python -m pip install --quiet --disable-pip-version-check uv==$(UV_VERSION)
	@touch $@

# Versions and hashes for every platform and Python that the course supports, and no address of a registry.
PIN = $(UV) pip compile pyproject.toml --quiet --upgrade --universal --python-version 3.11 --generate-hashes \
  --no-emit-index-url --no-annotate --custom-compile-command "make lock"
lock: .tools/uv-$(UV_VERSION)  ## pin the newest versions that pyproject.toml allows
	$(PIN) --extra lab --extra fast --extra dev --output-file requirements.lock
	$(PIN) --extra cuda12 --constraints requirements.lock --output-file requirements-cuda12.lock
	$(PIN) --extra cuda13 --constraints requirements.lock --output-file requirements-cuda13.lock
	$(PIN) --extra instructor --extra fast --constraints requirements.lock --output-file requirements-instructor.lock
