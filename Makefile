# Each target sets up all it needs in .venv, from PyPI alone.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
JOBS ?= $(shell env -u OMP_NUM_THREADS nproc)
MINUTES ?= 5
export CMAKE_BUILD_PARALLEL_LEVEL ?= $(JOBS)

.PHONY: demo python test compat pytorch-tests fuzz bench lint docs build cpp-test sanitize clean

$(VENV)/ready-%: pyproject.toml
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install -q --disable-pip-version-check $$($(BIN)/python tools/extras.py build $*)
	@touch $@

build: $(VENV)/ready-build
	@$(BIN)/python tools/build.py

python: $(VENV)/ready-build
	@$(BIN)/python tools/build.py --python

demo: python $(VENV)/ready-demo
	$(BIN)/python examples/digits.py --out demo-out

test: build $(VENV)/ready-test
	$(BIN)/python -m pytest -n $(JOBS)

compat: build $(VENV)/ready-test $(VENV)/ready-bench
	PYTHONPATH=tests OMP_NUM_THREADS=1 $(BIN)/python -m compat --jobs $(JOBS)
	$(BIN)/python -m pytest tests/test_examples.py

pytorch-tests: build $(VENV)/ready-test
	PYTHONPATH=tests $(BIN)/python -m pytorch --jobs $(JOBS) $(ARGS)

fuzz: build $(VENV)/ready-test
	PYTHONPATH=tests $(BIN)/python -m fuzz --minutes $(MINUTES) --jobs $(JOBS) $(if $(SEED),--seed $(SEED))

bench: build $(VENV)/ready-bench
	$(BIN)/python -m benchmarks

lint: build $(VENV)/ready-lint
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	git ls-files '*.h' '*.hpp' '*.cpp' ':!tests/taedagen/golden' | xargs $(BIN)/clang-format --dry-run -Werror

docs: build $(VENV)/ready-docs
	$(BIN)/python tools/docs.py

cpp-test: $(VENV)/ready-build $(VENV)/ready-test
	$(BIN)/python tools/build.py --cpp-test

sanitize: $(VENV)/ready-build $(VENV)/ready-test
	$(BIN)/python tools/sanitize.py

clean:
	rm -rf build dist $(VENV) demo-out *.egg-info taeda/_C taeda/_C.*.so taeda/*.pyi taeda/generated taeda/lib
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
	rm -rf .mypy_cache .ruff_cache .pytest_cache .hypothesis
