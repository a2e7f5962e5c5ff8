"""Fixtures and switches that every test may use."""

import gc
import importlib.util
import os
import shutil
from collections.abc import Generator
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from _pytest.doctest import DoctestModule
from hypothesis import HealthCheck, settings

import uqassay as uq
from tests.processor_times import listed, name_of
from uqassay._workers import VARIABLE
from uqassay.native import extension

# processes of the tests work alone: their siblings use the other cores, and a worker takes a second of a processor to start
os.environ.setdefault(VARIABLE, "1")
REQUIRE_ALL = os.environ.get("UQASSAY_REQUIRE_ALL") == "1"
SHARED = Path(__file__).resolve().parents[2] / "shared"


# a busy machine takes longer, and that is no failure
settings.register_profile("patient", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("patient")


def pytest_configure(config: pytest.Config) -> None:
    """Leave slow tests out of a bare ``pytest``; files named on the command line, and ``make test``, run whole."""
    if not config.option.markexpr and config.args_source is not pytest.Config.ArgsSource.ARGS:
        config.option.markexpr = "not slow"


@pytest.hookimpl(wrapper=True)
def pytest_collect_file() -> Generator[None, list[pytest.Collector], list[pytest.Collector]]:
    """Tests have no examples in docstrings: looking for them takes a fifth of the time of collection."""
    return [found for found in (yield) if not isinstance(found, DoctestModule)]


def pytest_collection() -> None:
    """Nothing of what is collected is garbage."""
    gc.disable()


def pytest_collection_finish() -> None:
    """All tests live to the end, so garbage is looked for among what they make alone, and seldom: a saving of 3 %."""
    gc.freeze()
    gc.set_threshold(100_000, 50, 100)
    gc.enable()


@pytest.hookimpl(tryfirst=True)  # before tests are chosen by their marks
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Tests in the list are slow, unless the list is made; files with slow tests run first, so that no process is left with a
    long test at the end.
    """
    if not config.pluginmanager.has_plugin("processor-times"):
        names = listed()
        for item in items:
            if name_of(item.nodeid) in names:
                item.add_marker("slow")
    slow = {item.path for item in items if item.get_closest_marker("slow")}
    items.sort(key=lambda item: item.path not in slow)


def skip_or_fail(reason: str) -> None:
    """Skip with a reason; fail instead where the run promised to have everything."""
    if REQUIRE_ALL:
        pytest.fail(f"UQASSAY_REQUIRE_ALL=1, yet {reason}")
    pytest.skip(reason)


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Tests in a browser need one, before any of their fixtures are made."""
    if item.get_closest_marker("browser") is None and "driver" not in getattr(item, "fixturenames", ()):
        return
    if importlib.util.find_spec("selenium") is None:
        skip_or_fail("selenium is not installed")
    if not (shutil.which("chromium") or shutil.which("google-chrome")) or not shutil.which("chromedriver"):
        skip_or_fail("Chromium or its driver is not installed")


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of real predictions and paper tables that stands beside the checkout."""
    if not (SHARED / "data").is_dir():
        skip_or_fail("the folder of shared data beside the checkout is absent")
    return SHARED


@pytest.fixture(scope="session")
def cifar10(shared: Path) -> dict[str, np.ndarray]:
    """Labels and saved predictions on the CIFAR-10 test set."""
    folder = shared / "data" / "cifar10_test"
    beliefs = np.load(folder / "rs_nn_beliefs.npz", allow_pickle=False)
    return {
        "labels": np.load(folder / "labels.npy").astype(np.int64),
        "human_counts": np.load(folder / "human_counts.npy"),
        "snn": np.load(folder / "snn.npz")["probs"],
        "de_avg": np.load(folder / "deep_ensemble_average.npz")["probs"],
        "three": np.load(folder / "three_networks.npz")["probs"],
        "beliefs": beliefs["beliefs"],
        "focal_sets": beliefs["focal_sets"],
        "classes": beliefs["classes"],
    }


@pytest.fixture(scope="module")
def without_calibration():
    """Assays without calibration tests, unless some are asked for: nine tenths of the time of a small assay.

    For modules that look at other findings and share no cached assay with modules that do not, by
    ``pytestmark = pytest.mark.usefixtures("without_calibration")``.
    """
    with pytest.MonkeyPatch.context() as patched:
        patched.setitem(uq.assay.__kwdefaults__, "calibration", ())
        yield


@pytest.fixture(scope="module")
def coarse_pages():
    """Pages that rank the models at 21 λ, as those of many instances do, and not at 201, and that find the smallest gain of a
    refusal from few quantiles: half the time of a small page.

    For modules that look at neither.
    """
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("uqassay.report.page.WORK", 0.0)
        patched.setattr("uqassay.metrics.risk.NODES", 8)
        patched.setattr("uqassay.metrics.risk.HALVINGS", 5)
        yield


@pytest.fixture(scope="module")
def without_drawings():
    """Pages whose figures are empty: half the time of a small page. For modules that look at no figure."""
    with pytest.MonkeyPatch.context() as patched:
        for place in ("drawings", "page", "study_pages"):
            patched.setattr(f"uqassay.report.{place}.inline_svg", lambda *_, **__: "<svg></svg>")
        yield


@pytest.fixture(scope="module")
def without_detectable():
    """Paired tests that do not find the smallest difference that they could have shown: half their time.

    For modules that count rejections alone.
    """
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("uqassay.statistics.paired_tests._detectable_statistic", lambda *_: None)
        yield


@pytest.fixture
def needs():
    """Skip (or fail, see above) when an optional package is missing: needs("torch")."""

    def check(*modules: str) -> None:
        for module in modules:
            if importlib.util.find_spec(module) is None:
                skip_or_fail(f"the package {module} is not installed")

    return check


@pytest.fixture
def compiled() -> ModuleType:
    """The extension module with the kernels; skip (or fail, see above) where it was not built."""
    found = extension()
    if found is None:
        skip_or_fail(str(uq.kernels()))
    return found


@pytest.fixture
def random_generator() -> np.random.Generator:
    """A fresh generator with a fixed seed."""
    return np.random.default_rng(20260)
