# make demo   train a few classifiers on real data and open demo/report.html
# make test   style, types, and every test; what CI runs
# make check  style, types, and every test that is not slow: two minutes on two cores
# make slow-tests  all tests; writes tests/slow_tests.txt, the list of those that take long
# make test-pure  the rooms that compiled kernels serve, tested on the array formulas alone
# make install-check  every way of installation in an empty environment, and the kernels' tests on Python 3.11 to 3.13
# make kernels   the compiled kernels built again, after a change in native/ (make test and make demo build them the first time)
# make guide  the guide with its tutorials and the reference of Python names, rendered into docs/build/html
# make links  asks the network whether the external links of the guide lead somewhere (not in CI)
# make pictures  the gallery of figures in the guide (docs/pictures/figures), drawn again
# make bench  speed, side by side with what people use today
# make docs-numbers  measured tables of the guide: make those again whose golden run gives other numbers (TABLE=name, or "a b": these)

PYTHON ?= python3
VENV   ?= .venv
# the CPU build where one is pinned; any torch >= 2.2 will do
TORCH  ?= torch==2.13.0
# processes that share the tests: one more than the cores here, because some wait for a browser or another process
JOBS   ?= 3
BIN     = $(VENV)/bin

.PHONY: demo test check slow-tests test-pure install-check kernels guide links pictures bench lint docs-numbers clean

demo: $(VENV)/.demo
	$(BIN)/uqassay demo --output demo

# compiled files are kept, because tests start many processes; what is skipped is listed with its reason
PYTEST = PYTHONDONTWRITEBYTECODE= OMP_NUM_THREADS=1 $(BIN)/python -m pytest -q -rs -n $(JOBS) --dist worksteal
# style and types are checked while the tests run, and shown after them
PYTEST_AND_LINT = $(MAKE) --no-print-directory lint >$(VENV)/lint.txt 2>&1 & lint=$$!; \
  $(PYTEST) $(1) $(PYTEST_ARGS); tests=$$?; wait $$lint; lint=$$?; cat $(VENV)/lint.txt; [ $$tests$$lint = 00 ]
test: $(VENV)/.test
	$(call PYTEST_AND_LINT,-m "slow or not slow")

check: $(VENV)/.test
	$(call PYTEST_AND_LINT,-m "not slow")

slow-tests: $(VENV)/.test
	$(PYTEST) -m "slow or not slow" -p tests.processor_times $(PYTEST_ARGS)

PURE_TESTS = tests/test_native.py tests/credal tests/losses tests/measures tests/metrics/ranking tests/statistics
test-pure: $(VENV)/.test
	UQASSAY_PURE=1 $(PYTEST) -m "not slow" $(PURE_TESTS) $(PYTEST_ARGS)

install-check:
	$(PYTHON) -m tests.install_check

kernels: $(VENV)/.build
	$(EDITABLE) . --no-deps
	$(BIN)/python -c 'import uqassay; print(uqassay.kernels())'

lint: $(VENV)/.test
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/python -m benchmarks.docs_numbers --check

# tutorials are executed; a warning fails
guide: $(VENV)/.docs
	$(BIN)/python -m sphinx -W --keep-going -q -b html docs docs/build/html

links: $(VENV)/.docs
	$(BIN)/python -m sphinx -q -b linkcheck -D nb_execution_mode=off docs docs/build/links

pictures: $(VENV)/.test
	$(BIN)/python docs/make_pictures.py --figures

bench: $(VENV)/.test
	$(BIN)/python -m benchmarks.speed
	for script in benchmarks/bench_*.py; do $(BIN)/python $$script || exit 1; done

docs-numbers: $(VENV)/.test
	$(BIN)/python -m benchmarks.docs_numbers --make $(TABLE)

$(VENV)/bin/python:
	$(PYTHON) -m venv $(VENV)

# What builds the kernels stands in the virtual environment: a second installation then compiles what has changed alone.
INSTALL = $(BIN)/python -m pip install --quiet
EDITABLE = $(INSTALL) --no-build-isolation --editable
$(VENV)/.build: pyproject.toml | $(VENV)/bin/python
	$(INSTALL) 'scikit-build-core>=0.12' 'nanobind>=2.4' cmake ninja
	touch $@

$(VENV)/.demo: $(VENV)/.build
	$(EDITABLE) . scikit-learn
	touch $@

# What tests compare with, alone: bayesian-torch asks for torchvision and tensorboard and needs neither, laplace-torch for
# torchvision, and its parts for other versions of what is here.
LAPLACE = laplace-torch==0.3 curvlinops-for-pytorch==3.0.1 backpack-for-pytorch==1.7.1 asdfghjkl==0.1a4 \
  einops einconv unfoldNd opt-einsum tqdm torchmetrics lightning-utilities
# The rules of axe-core 4.12.1 (one script, MPL-2.0), which Selenium runs in the pages: Playwright is not needed.
AXE = axe-playwright-python==0.1.8
$(VENV)/.test: Makefile $(VENV)/.build
	$(EDITABLE) '.[test]' '$(TORCH)'
	$(INSTALL) --no-deps 'bayesian-torch>=0.5' $(LAPLACE) $(AXE)
	touch $@ $(VENV)/.demo

$(VENV)/.docs: $(VENV)/.test
	$(EDITABLE) '.[docs]' '$(TORCH)'
	touch $@

clean:
	rm -rf $(VENV) demo build docs/build dist src/uqassay/_kernels.* .pytest_cache .mypy_cache .ruff_cache .hypothesis
