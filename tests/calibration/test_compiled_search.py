"""The compiled search against the loops of the array code, to the last bit."""

import numpy as np
import pytest

import uqassay.calibration.search as module
from tests.calibration.test_simplex_search import dirichlet, simulated
from uqassay.calibration.mixtures import MixtureObjective, Mixtures
from uqassay.calibration.search import QUICK, THOROUGH, SimplexSearch, search_simplex
from uqassay.metrics.measures import CALIBRATION_MEASURES
from uqassay.native import kernels

pytestmark = pytest.mark.skipif("searched" not in kernels().names, reason=str(kernels()))

COMPILED = ("ece-confidence", "kuiper-confidence", "ece-classwise", "hosmer-lemeshow", "skce-ul")
SEVERAL = SimplexSearch(n_shared=60, n_populations=3, n_kept=9, n_left=2, n_generations=5, n_rounds=4, n_steps=5)


def both(monkeypatch, objective, search, **options):
    """The same search by the kernel and by the loops, and how often the kernel was asked."""
    asked, found = [], []
    compiled = module.compiled_search

    def counted(*args, **kwargs):
        asked.append(compiled(*args, **kwargs))
        return asked[-1]

    for searched in (counted, lambda *args, **kwargs: None):
        monkeypatch.setattr(module, "compiled_search", searched)
        found.append(search_simplex(objective, search, np.random.default_rng(0), **options))
    monkeypatch.setattr(module, "compiled_search", compiled)
    assert all(one is not None for one in asked)
    return *found, len(asked)


def assert_same(one, other):
    for name in ("values", "weights", "spread", "evaluations"):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name), err_msg=name)


def objective_of(name, m, n_targets, n=60, k=5):
    rng = np.random.default_rng([m, n_targets])
    members, labels = simulated(rng, 0.1, "S1", n=n, m=m, k=k)
    drawn = np.where(rng.random((n_targets, n)) < 0.5, labels, rng.integers(0, k, (n_targets, n)))
    drawn[0] = labels
    return MixtureObjective(Mixtures(members), drawn, CALIBRATION_MEASURES[name])


@pytest.mark.parametrize("name", COMPILED)
@pytest.mark.parametrize("m", [1, 2, 3, 9, 140])
def test_searches_are_the_same(monkeypatch, name, m):
    """One draw and several, one population and several; more members than NumPy adds in one go."""
    for n_targets, search in ((1, THOROUGH if m == 9 else QUICK), (7, QUICK), (4, SEVERAL)):
        compiled, loops, asked = both(monkeypatch, objective_of(name, m, n_targets), search)
        assert asked == 1
        assert_same(compiled, loops)


@pytest.mark.parametrize("name", COMPILED)
@pytest.mark.parametrize("share", [0.0, 0.2, 0.6, 1.0])
def test_searches_that_end_early_are_the_same(monkeypatch, name, share):
    objective = objective_of(name, 6, 12)
    least = search_simplex(objective, SEVERAL, np.random.default_rng(0)).values
    enough = np.quantile(least, share) + 1e-3
    for rows in (slice(0, 12), np.array([1, 5, 11])):
        compiled, loops, _ = both(monkeypatch, objective.part(rows), SEVERAL, enough=enough)
        assert_same(compiled, loops)
        np.testing.assert_array_equal(compiled.values < enough, least[rows] < enough)
        open_ones = least[rows] >= enough
        np.testing.assert_array_equal(compiled.values[open_ones], least[rows][open_ones])


def test_undefined_and_infinite_values(monkeypatch):
    """Without a pair of instances skce-ul is undefined; impossible labels make the Hosmer-Lemeshow statistic infinite."""
    members = dirichlet(np.ones((1, 4, 3)), np.random.default_rng(0))
    undefined = MixtureObjective(Mixtures(members), np.zeros((2, 1), dtype=np.intp), CALIBRATION_MEASURES["skce-ul"])
    members = dirichlet(np.ones((30, 4, 3)), np.random.default_rng(1))
    members[:, :3, 0] = 0.0
    members /= members.sum(axis=-1, keepdims=True)
    labels = np.zeros((2, 30), dtype=np.intp)
    infinite = MixtureObjective(Mixtures(members), labels, CALIBRATION_MEASURES["hosmer-lemeshow"])
    for objective in (undefined, infinite):
        with np.errstate(all="ignore"):
            compiled, loops, _ = both(monkeypatch, objective, SEVERAL)
        assert_same(compiled, loops)
    assert np.isnan(search_simplex(undefined, SEVERAL, np.random.default_rng(0)).values).all()


def test_arrays_that_do_not_fit_are_refused():
    from uqassay.calibration.search import ALONG, MOVED_SHARE, TOWARDS
    from uqassay.native import kernel

    objective = objective_of("ece-confidence", 3, 2)
    fine, rough = objective.compiled
    weights, values = np.full((2, 1, 4, 3), 1 / 3), np.zeros((2, 1, 4))
    labels, plan = objective.labels.astype(np.int64), np.array([[2, 2]])

    def call(rows=(0, 1), plan=plan, numbers=None, labels=labels):
        steps = np.zeros((2, 1, 1, 4)), np.zeros((2, 1, 2, 1, 6)), np.zeros((2, 1, 1, 2))
        numbers = np.full(2 * 4 * 8, 0.5) if numbers is None else numbers
        rows = np.array(rows, dtype=np.int64)
        moves = TOWARDS, ALONG, MOVED_SHARE
        return kernel("searched")(
            rough, fine, labels, rows, 2, weights, values, plan, numbers, *moves, *steps, 1e-6, -np.inf
        )

    assert call()[0].shape == (2, 1, 3)
    for wrong in (
        {"rows": (0, 2)},
        {"plan": np.array([[5, 2]])},
        {"plan": np.array([[2, 5]])},
        {"numbers": np.full(63, 0.5)},
        {"numbers": np.full(64, 1.0)},
        {"labels": labels[:, 1:].copy()},
    ):
        with pytest.raises(ValueError, match=r"fit|row|grow|numbers|label"):
            call(**wrong)
