# make lab                opens the course                make train   trains a small model (PRESET=12m: the big one)
# make test               checks everything               make bench   measures this machine
# make test-fast          most of it, in less time        make clean   removes what the set-up made
# make prove              shows what the kernels do on an NVIDIA card, in 20 minutes at most
# Options: COMPILER=zig brings a C++ compiler by pip; PEERS=1 compares with PyTorch too; PYTHON=... chooses the Python.
# Written for GNU make 3.81, the one that macOS has.

COMPILER =
PEERS =
PYTHON =
PRESET = small
RUN = runs/$(PRESET)

BIN = .venv/bin
ZIG = $(filter zig,$(COMPILER))
LONGEST = notebooks/16_train_it.ipynb
NOTEBOOKS = $(LONGEST) $(filter-out $(LONGEST),$(wildcard notebooks/*.ipynb))
KERNEL_NOTEBOOKS = $(wildcard notebooks/0[4-9]*.ipynb notebooks/1[0-2]*.ipynb)
NBVAL = --nbval --nbval-sanitize-with tests/nbval_sanitize.cfg --nbval-cell-timeout 900
# which notebook cannot run here is known to the tests, and so to a run of theirs; to a run of notebooks alone it is told
SKIPS = -p tests.conftest
# With peers the notebooks on kernels run under another compiler, too, and all others with the matrix products of an older
# processor. A notebook's cells stay on one worker, and what takes longest starts first, so that none waits for it at the end
PYTEST = $(BIN)/python -m pytest -n 2 --dist loadscope --no-loadscope-reorder

ifneq ($(COMPILER),)
export COURSE_COMPILER := $(COMPILER)
endif

# Finds a Python and lets course_lib/environment.py make .venv and install into it: $(call prepare,extras).
# When all is in place already, one short look is all that happens: no network.
prepare = @$(BIN)/python -m course_lib.environment --check $(1) $(ZIG) 2>/dev/null || { found=; \
	for python in $(if $(PYTHON),$(PYTHON),python3.11 python3.12 python3.13 python3.14 python3 python); do \
		"$$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1 || continue; \
		found="$${found:-$$python}"; \
		"$$python" -c 'import ensurepip, venv' >/dev/null 2>&1 && { found="$$python"; break; }; \
	done; \
	if [ -z "$$found" ]; then $(no_python) exit 1; fi; \
	"$$found" -m course_lib.environment $(1) $(ZIG); }

no_python = \
	echo 'The course needs Python 3.11 or newer, and found none (looked for: $(if $(PYTHON),$(PYTHON),python3.11 to python3.14, python3)).'; \
	sudo=$$([ "$$(id -u)" = 0 ] || echo 'sudo '); \
	if [ "$$(uname -s)" = Darwin ]; then echo 'Install it, then say make again: brew install python@3.13'; \
	elif command -v apt-get >/dev/null; then \
		for version in 3.13 3.12 3.11 3; do \
			apt-cache show "python$$version-venv" >/dev/null 2>&1 && break; done; \
		echo "Install it, then say make again: $${sudo}apt-get update && $${sudo}apt-get install -y python$$version python$$version-venv"; \
	elif command -v dnf >/dev/null; then echo "Install it, then say make again: $${sudo}dnf install -y python3"; \
	else echo 'Install it with the package manager of your system or from python.org, then say make again.'; fi;

.PHONY: help install lab test test-fast train bench prove clean

help:
	@sed -n '/^#/!q;s/^# //p' Makefile

install:
	$(call prepare,)

lab: install
	@$(BIN)/course lab

test:
	$(call prepare,test $(if $(PEERS),peers browser webgpu zig many serve site))
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
ifneq ($(PEERS),)
	OPENBLAS_CORETYPE=Haswell OPENBLAS_NUM_THREADS=1 $(PYTEST) $(SKIPS) $(NBVAL) $(filter-out $(KERNEL_NOTEBOOKS),$(NOTEBOOKS))
	@if command -v clang++ >/dev/null; then set -x; COURSE_COMPILER=clang $(PYTEST) $(SKIPS) $(NBVAL) $(KERNEL_NOTEBOOKS); \
	else echo 'The chapters on kernels were not run under clang: there is no clang++ here (sudo apt install clang).'; fi
endif
	$(PYTEST) $(NBVAL) $(if $(PEERS),--peers $(KERNEL_NOTEBOOKS),$(NOTEBOOKS)) tests

test-fast:
	$(call prepare,test)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(PYTEST) -m 'not slow' tests

train: install
	$(BIN)/course train --preset $(PRESET) --out $(RUN) $(if $(wildcard $(RUN)/last.safetensors),--resume)

bench:
	$(call prepare,peers)
	$(BIN)/course bench cpu
	$(BIN)/course bench tokenizer
	-$(BIN)/course bench busy  # which needs two cores

# With PEERS=1 PyTorch is installed too, to compare with.
prove:
	$(call prepare,test $(if $(PEERS),peers))
	$(BIN)/course prove

clean:
	rm -rf .venv .cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
	@echo 'Removed .venv and every cache. Your runs (runs/) and answers (exercises/mine/) are still there.'
