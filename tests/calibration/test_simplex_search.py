"""The search over mixtures against dense grids, SciPy's solvers, and what it promises.

Run as a script, ``python -m tests.calibration.test_simplex_search [DATA SETS] [MEASURE,...]``, it prints the comparison with
COBYLA on 200 random data sets each of two kinds (a quarter of an hour on one core, most of it COBYLA's): members around a
common centre, and members that have nothing in common.
"""

import sys
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

import uqassay.calibration.mixtures as mixtures_module
import uqassay.calibration.search as module
from tests.calibration.made_up_data import draw_labels
from tests.refusals import refuses
from uqassay.calibration.mixtures import MixtureObjective, Mixtures
from uqassay.calibration.search import (
    PATIENT,
    QUICK,
    THOROUGH,
    RowNumbers,
    SimplexSearch,
    best_of,
    dealt_out,
    first_mixtures,
    minimise_over_simplex,
    moved_mixtures,
    onto_simplex,
    refined,
    search_simplex,
    sizes,
    step_lengths,
    survivors,
)
from uqassay.metrics.measures import CALIBRATION_MEASURES, CalibrationMeasure

FOUR = ("ece-confidence", "ece-classwise", "hosmer-lemeshow", "skce-ul")
SETTINGS = [(u, scenario) for u in (0.01, 0.1, 1.0) for scenario in ("S1", "S2")]


def dirichlet(alpha: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Dirichlet draws for parameters (..., K) however small, in logarithms: G(a) = G(a + 1) U^(1/a)."""
    with np.errstate(divide="ignore"):
        logs = np.log(rng.standard_gamma(alpha + 1)) + np.log(rng.random(alpha.shape)) / np.maximum(alpha, 1e-300)
    parts = np.exp(logs - logs.max(axis=-1, keepdims=True))
    return parts / parts.sum(axis=-1, keepdims=True)


def simulated(
    rng: np.random.Generator, u: float, scenario: str, n: int = 100, m: int = 10, k: int = 10
) -> tuple[np.ndarray, np.ndarray]:
    """Members ~ Dir(K p / u) around p ~ Dir(1/K), and labels from a mixture (S1) or from outside of them all (S2)."""
    centre = dirichlet(np.full((n, k), 1 / k), rng)
    members = dirichlet(np.repeat(k * centre[:, np.newaxis] / u, m, axis=1), rng)
    if scenario == "S1":
        truth = np.einsum("m,nmk->nk", rng.dirichlet(np.ones(m)), members)
    else:
        share = rng.random((n, 1))
        truth = (1 - share) * members.mean(axis=1) + share * np.eye(k)[centre.argmax(axis=1)]
    labels = (np.cumsum(truth, axis=1)[:, :-1] <= rng.random((n, 1))).sum(axis=1)
    return members, labels


def problem(
    seed: object, name: str, u: float = 0.1, scenario: str = "S1", **sizes: int
) -> tuple[MixtureObjective, float]:
    """An objective, and the standard deviation of the measure under calibration, the unit of all distances here."""
    rng = np.random.default_rng(seed)
    return with_unit(*simulated(rng, u, scenario, **sizes), name, rng)


def with_unit(
    members: np.ndarray, labels: np.ndarray, name: str, rng: np.random.Generator
) -> tuple[MixtureObjective, float]:
    mixtures, measure = Mixtures(members), CALIBRATION_MEASURES[name]
    truths = rng.dirichlet(np.ones(members.shape[1]), 100)
    probs = mixtures.probs(truths)
    null = measure.prepare(probs).values(draw_labels(rng, probs))
    return MixtureObjective(mixtures, labels[np.newaxis], measure), float(null.std())


def cobyla(objective: MixtureObjective) -> float:
    """COBYLA from the mean with default tolerances; the end point is brought back to the simplex, in the better of two ways."""
    from scipy.optimize import minimize

    m = objective.mixtures.n_members
    constraints = [
        {"type": "ineq", "fun": lambda weights: weights},
        {"type": "ineq", "fun": lambda weights: weights.sum() - 1},
        {"type": "ineq", "fun": lambda weights: 1 - weights.sum()},
    ]
    end = minimize(lambda w: at(objective, w), np.full(m, 1 / m), method="COBYLA", constraints=constraints).x
    clipped = np.maximum(end, 0)
    return min(at(objective, clipped / clipped.sum()), at(objective, onto_simplex(end)))


def at(objective: MixtureObjective, weights: np.ndarray) -> float:
    return float(objective.shared(weights[np.newaxis])[0, 0])


# -- the minimum --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", FOUR)
@pytest.mark.parametrize("m", [2, 3])
def test_minimum_against_a_dense_grid(name, m):
    steps = 4000 if m == 2 else 90
    share = np.arange(steps + 1) / steps
    grid = np.stack(np.meshgrid(*[share] * (m - 1), indexing="ij"), axis=-1).reshape(-1, m - 1)
    grid = np.concatenate([grid, 1 - grid.sum(axis=1, keepdims=True)], axis=1)
    grid = grid[grid[:, -1] > -1e-12]
    for i in range(3):
        objective, sd = problem([i, m], name, u=(0.01, 0.1, 1.0)[i], m=m)
        least = objective.shared(np.maximum(grid, 0)).min()
        # of binned measures, one search in seven stays in a local minimum: no error of the test, which searches alike under
        # the null hypothesis
        thorough, quick = (
            [search_simplex(objective, s, np.random.default_rng(i + 3 * j)).values[0] for j in range(3)]
            for s in (THOROUGH, QUICK)
        )
        assert min(thorough) <= least + (1e-5 if name == "skce-ul" else 0.02) * sd
        assert min(quick) <= least + (1e-3 if name == "skce-ul" else 0.3) * sd


@pytest.mark.slow
def test_minimum_against_cobyla():
    """Each measure and each setting in some pairs: COBYLA takes long."""
    worse = []
    for i, name in [(i, name) for j, name in enumerate(FOUR) for i in range(len(SETTINGS)) if (i + j) % 4 == 1]:
        objective, sd = problem([5, i], name, *SETTINGS[i], m=6)
        found = search_simplex(objective, THOROUGH, np.random.default_rng(i)).values[0]
        worse.append((found - cobyla(objective)) / sd)
    assert max(worse) <= 1e-3
    assert np.mean(np.array(worse) <= 1e-9) >= 5 / 6


@pytest.mark.parametrize("i", range(2))
def test_smooth_minimum_against_sequential_quadratic_programming(i):
    from scipy.optimize import minimize

    u, scenario = SETTINGS[i + 1]
    objective, sd = problem([6, i], "skce-ul", u, scenario, m=6)
    found = search_simplex(objective, THOROUGH, np.random.default_rng(i))
    starts = np.concatenate([found.weights, np.full((1, 6), 1 / 6), np.random.default_rng(i).dirichlet(np.ones(6), 3)])
    ends = [
        minimize(
            lambda weights: at(objective, weights),
            start,
            method="SLSQP",
            bounds=[(0, 1)] * 6,
            constraints={"type": "eq", "fun": lambda weights: weights.sum() - 1},
            options={"ftol": 1e-14, "maxiter": 300},
        ).x
        for start in starts
    ]
    assert found.values[0] <= min(at(objective, onto_simplex(end)) for end in ends) + 1e-6 * sd


# -- promises -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", CALIBRATION_MEASURES)
@pytest.mark.parametrize("m", [1, 2, 3, 6])
def test_value_and_weights_belong_together(name, m):
    rng = np.random.default_rng(m)
    members, _ = simulated(rng, 0.3, "S1", n=31, m=m, k=4)
    mixtures, measure = Mixtures(members), CALIBRATION_MEASURES[name]
    labels = rng.integers(0, 4, (5, 31))
    objective = MixtureObjective(mixtures, labels, measure)
    found = search_simplex(objective, QUICK, np.random.default_rng(0))
    assert found.values.shape == found.spread.shape == (5,)
    assert found.weights.shape == (5, m)
    assert found.evaluations == objective.evaluations > 0
    assert found.weights.min() >= 0
    np.testing.assert_allclose(found.weights.sum(axis=1), 1, atol=1e-12)
    rounding = 1e-14 if name in ("skce-uq", "skce-biased") else 0.0
    recomputed = measure.prepare(mixtures.probs(found.weights)).values(labels)
    np.testing.assert_allclose(recomputed, found.values, rtol=0, atol=rounding)
    plain = objective.shared(np.concatenate([np.eye(m), np.full((1, m), 1 / m)]))
    least = np.fmin.reduce(plain, axis=1)
    assert ((found.values <= least + rounding) | np.isnan(least)).all()


@pytest.mark.parametrize("name", FOUR)
@pytest.mark.parametrize("n_targets", [1, 4])
def test_result_never_exceeds_the_starting_mixtures(name, n_targets, monkeypatch):
    drawn = []
    keep = module.first_mixtures
    monkeypatch.setattr(module, "first_mixtures", lambda *given: drawn.append(keep(*given)) or drawn[-1])
    objective, _ = problem(8, name)
    labels = np.random.default_rng(1).integers(0, 10, (n_targets, 100))
    objective = MixtureObjective(objective.mixtures, labels, objective.measure)
    values, _ = minimise_over_simplex(objective, QUICK, np.random.default_rng(0))
    (first,) = drawn
    judged = objective.exact(np.broadcast_to(first, (n_targets, *first.shape)))
    np.testing.assert_array_equal(first[:11], np.concatenate([np.full((1, 10), 0.1), np.eye(10)]))
    assert (values <= judged[:, :11].min(axis=1)).all()
    assert (values <= judged.min(axis=1) * (1 + 1e-6)).all()


@pytest.mark.parametrize("search", [QUICK, replace(THOROUGH, n_generations=10)])
def test_neither_chunks_nor_threads_change_the_result(monkeypatch, search):
    def everything() -> list[np.ndarray]:
        objective, _ = problem(9, "ece-classwise", n=40, m=5, k=4)
        labels = np.random.default_rng(1).integers(0, 4, (3, 40))
        objective = MixtureObjective(objective.mixtures, labels, objective.measure)
        return list(minimise_over_simplex(objective, search, np.random.default_rng(2)))

    expected = everything()
    for chunk_bytes, few_parts, cores in ((1, 10**9, 1), (30_000, 0, 3), (2**40, 0, 2)):
        monkeypatch.setattr(mixtures_module, "CHUNK_BYTES", chunk_bytes)
        monkeypatch.setattr(mixtures_module, "FEW_PARTS", few_parts)
        monkeypatch.setattr(mixtures_module, "available_cores", lambda cores=cores: cores)
        for found, wanted in zip(everything(), expected, strict=True):
            np.testing.assert_array_equal(found, wanted)


def test_same_generator_same_result():
    objective, _ = problem(10, "hosmer-lemeshow", n=30, m=4, k=3)
    first, again, other = (
        search_simplex(objective, QUICK, np.random.default_rng(seed)).weights[0] for seed in (1, 1, 2)
    )
    np.testing.assert_array_equal(first, again)
    assert np.abs(first - other).max() > 0


def test_spread_is_the_distance_between_the_populations():
    objective, sd = problem(11, "ece-confidence")
    several = search_simplex(objective, replace(QUICK, n_populations=3), np.random.default_rng(0))
    assert 0 < several.spread[0] < 3 * sd
    single = search_simplex(objective, QUICK, np.random.default_rng(0))
    assert np.isnan(single.spread[0])
    smooth, sd = problem(12, "skce-ul", m=4)
    two = replace(THOROUGH, n_populations=2)
    assert search_simplex(smooth, two, np.random.default_rng(0)).spread[0] < 1e-5 * sd


def test_effort_grows_if_mixtures_are_cheap():
    spread, labels = simulated(np.random.default_rng(3), 1.0, "S1", n=300, k=5)
    agreeing = spread[:, :1] * 0.98 + spread * 0.02
    judged = []
    for members in (spread, agreeing):
        objective = MixtureObjective(Mixtures(members), labels[np.newaxis], CALIBRATION_MEASURES["ece-classwise"])
        found = search_simplex(objective, THOROUGH, np.random.default_rng(0))
        judged.append(found.evaluations)
        assert found.values[0] <= objective.exact(np.eye(10)[np.newaxis]).min()
    assert judged[1] > 1.5 * judged[0]
    assert found.spread[0] >= 0  # of several populations


@pytest.mark.parametrize(("name", "value"), [("n_left", 0), ("n_kept", 2.5), ("n_populations", "x"), ("n_steps", -1)])
def test_invalid_searches_are_refused(name, value):
    with refuses("search", "range", got=f"{name} must be a whole number from 1; got {value!r}"):
        replace(THOROUGH, **{name: value})


# -- ordinary and odd inputs --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", FOUR)
@pytest.mark.parametrize("search", [QUICK, THOROUGH])
def test_equal_members_have_the_value_of_each(name, search):
    rng = np.random.default_rng(0)
    one = rng.dirichlet(np.ones(3), 20)
    labels = rng.integers(0, 3, (2, 20))
    measure = CALIBRATION_MEASURES[name]
    for m in (1, 2, 5):
        objective = MixtureObjective(Mixtures(np.repeat(one[:, np.newaxis], m, axis=1)), labels, measure)
        found = search_simplex(objective, search, np.random.default_rng(0))
        single = measure.prepare(one[np.newaxis]).values(labels)
        assert (found.values <= single + 1e-12).all()
        if name == "skce-ul" or m == 1:  # binned measures may jump where rounding moves a probability over an edge
            np.testing.assert_allclose(found.values, single, atol=1e-12)
        np.testing.assert_allclose(found.weights.sum(axis=1), 1, atol=1e-12)
        assert m > 1 or (found.spread == 0).all()


@pytest.mark.parametrize("name", FOUR)
@pytest.mark.parametrize(("n", "m", "k"), [(1, 3, 2), (1, 2, 5), (2, 4, 2), (3, 12, 3), (9, 40, 2)])
def test_small_problems(name, n, m, k):
    n = max(n, 2) if name == "skce-ul" else n  # a single instance has no pair
    rng = np.random.default_rng(1)
    objective = MixtureObjective(
        Mixtures(rng.dirichlet(np.ones(k), (n, m))), rng.integers(0, k, (2, n)), CALIBRATION_MEASURES[name]
    )
    for search in (QUICK, THOROUGH):
        found = search_simplex(objective, search, np.random.default_rng(0))
        assert not np.isnan(found.values).any()
        np.testing.assert_allclose(found.weights.sum(axis=1), 1, atol=1e-12)
        assert found.weights.min() >= 0


def test_one_hot_members_with_infinite_values():
    """Where a class has no probability and happens all the same, Hosmer-Lemeshow is infinite: at every corner here."""
    members = np.eye(3)[np.array([[0, 1], [1, 0], [0, 1], [1, 0], [0, 1], [1, 0]])]
    labels = np.array([[0, 1, 1, 0, 0, 1], [2, 1, 1, 0, 0, 1]])
    objective = MixtureObjective(Mixtures(members), labels, CALIBRATION_MEASURES["hosmer-lemeshow"])
    assert np.isinf(objective.shared(np.eye(2))).all()
    for search in (QUICK, THOROUGH):
        found = search_simplex(objective, search, np.random.default_rng(0))
        assert np.isfinite(found.values[0])
        assert found.values[1] == np.inf  # the last class has no probability in any mixture
        assert np.isnan(found.spread[1])


def measure_of(values: object) -> CalibrationMeasure:
    """A user's measure, from a function of the probability of class 0 of the first instance."""

    class Prepared:
        def __init__(self, probs: np.ndarray) -> None:
            self.first = probs[..., 0, 0]

        def values(self, labels: np.ndarray) -> np.ndarray:
            return values(np.broadcast_to(self.first, np.broadcast_shapes(self.first.shape, labels.shape[:-1])))

    return CalibrationMeasure("own", "strong", "A test.", "none", Prepared)


@pytest.mark.parametrize("m", [2, 4])
def test_undefined_values_lose_against_defined_ones(m):
    members = np.random.default_rng(0).dirichlet(np.ones(2), (3, m))
    members[0, :, 0] = np.linspace(0, 1, m)
    members[0, :, 1] = 1 - members[0, :, 0]
    labels = np.zeros((2, 3), dtype=np.intp)
    part = MixtureObjective(Mixtures(members), labels, measure_of(lambda p: np.where(p < 0.4, np.nan, p)))
    found = search_simplex(part, THOROUGH, np.random.default_rng(0))
    np.testing.assert_allclose(found.values, 0.4, atol=1e-4)
    assert (found.values >= 0.4).all()
    nowhere = MixtureObjective(Mixtures(members), labels, measure_of(lambda p: np.full_like(p, np.nan)))
    assert np.isnan(search_simplex(nowhere, QUICK, np.random.default_rng(0)).values).all()


def test_negative_and_huge_values():
    members = np.random.default_rng(0).dirichlet(np.ones(2), (3, 4))
    labels = np.zeros((1, 3), dtype=np.intp)
    lowest = members[0, :, 0].min()
    for scale in (-1e-300, 1.0, 1e300):
        objective = MixtureObjective(Mixtures(members), labels, measure_of(lambda p, scale=scale: scale * (p - 2)))
        found = search_simplex(objective, QUICK, np.random.default_rng(0))
        end = members[0, :, 0].max() if scale < 0 else lowest
        np.testing.assert_allclose(found.values[0], scale * (end - 2), rtol=1e-9)


@pytest.mark.parametrize(
    "search",
    [
        SimplexSearch(0, 1, 1, 1, 0, 0, 1),
        SimplexSearch(0, 5, 50, 50, 3, 1, 1),
        SimplexSearch(3, 2, 1, 9, 2, 2, 3),
    ],
)
@pytest.mark.parametrize("m", [1, 2, 3])
def test_the_smallest_searches(search, m):
    objective, _ = problem(13, "ece-confidence", n=20, m=m, k=3)
    found = search_simplex(objective, search, np.random.default_rng(0))
    assert found.values[0] <= objective.shared(np.eye(m)).min()
    assert found.values[0] == at(objective, found.weights[0])


# -- the full comparison ------------------------------------------------------------------------------------------------


def apart(rng: np.random.Generator, n: int = 100, m: int = 10, k: int = 5) -> tuple[np.ndarray, np.ndarray]:
    """Members that have nothing in common, and labels from a mixture of theirs: classes often change places."""
    members = rng.dirichlet(np.full(k, 0.5), (n, m))
    truth = np.einsum("m,nmk->nk", rng.dirichlet(np.ones(m)), members)
    return members, (np.cumsum(truth, axis=1)[:, :-1] <= rng.random((n, 1))).sum(axis=1)


def main(n_sets: int, names: Sequence[str]) -> None:
    """Print how often the searches end above COBYLA, and by how much, in standard deviations of the null."""
    print(f"{n_sets} data sets: n = 100, M = 10; differences from COBYLA in standard deviations of the null")
    print("members  measure             search      worse by > 1e-9   > 1e-3   greatest      mean   median")
    for members, name in [
        (kind, name)
        for name in names
        for kind in ("around", "apart")
        if (kind, name) != ("around", "ece-confidence-mass")
    ]:
        theirs = []
        ours: dict[str, list[float]] = {"THOROUGH": [], "PATIENT": []}
        for i in range(n_sets):
            rng = np.random.default_rng([7, i])
            drawn = simulated(rng, *SETTINGS[i % len(SETTINGS)]) if members == "around" else apart(rng)
            objective, sd = with_unit(*drawn, name, rng)
            theirs.append(cobyla(objective) / sd)
            for found, search in zip(ours.values(), (THOROUGH, PATIENT), strict=True):
                found.append(search_simplex(objective, search, np.random.default_rng(i)).values[0] / sd)
        for which, found in ours.items():
            d = np.array(found) - theirs
            print(
                f"{members:8} {name:19} {which:10} {np.mean(d > 1e-9):16.1%} {np.mean(d > 1e-3):8.1%} {d.max():10.2e} "
                f"{d.mean():9.3f} {np.median(d):8.3f}",
                flush=True,
            )


# -- parts of the draws -------------------------------------------------------------------------------------------------


def several_labels(name: str, n_draws: int) -> MixtureObjective:
    objective, _ = problem(8, name)
    labels = np.repeat(objective.labels, n_draws, axis=0)
    labels[:, ::3] = np.random.default_rng(1).integers(0, 10, (n_draws, 34))
    return MixtureObjective(objective.mixtures, labels, objective.measure)


@pytest.mark.parametrize("name", [*FOUR, "kuiper-confidence"])
def test_draws_are_searched_alone_as_among_others(name):
    objective = several_labels(name, 9)
    every = search_simplex(objective, QUICK, np.random.default_rng(0))
    for draws in (slice(0, 2), slice(8, 9), np.array([1, 7, 4])):
        some = search_simplex(objective.part(draws), QUICK, np.random.default_rng(0))
        np.testing.assert_array_equal(some.values, every.values[draws])
        np.testing.assert_array_equal(some.weights, every.weights[draws])


@pytest.mark.parametrize("name", [*FOUR, "kuiper-confidence"])
def test_draws_with_enough_are_not_searched_further(name):
    objective = several_labels(name, 12)
    every = search_simplex(objective, QUICK, np.random.default_rng(0))
    evaluations = every.evaluations
    for enough in (*np.quantile(every.values, [0.2, 0.5, 0.8]), 2 * every.values.max()):
        found = search_simplex(objective, QUICK, np.random.default_rng(0), enough=enough)
        below = every.values < enough
        np.testing.assert_array_equal(found.values < enough, below)
        assert (found.values[below] >= every.values[below]).all()
        np.testing.assert_array_equal(found.values[~below], every.values[~below])
        np.testing.assert_array_equal(found.weights[~below], every.weights[~below])
        values = objective.exact(found.weights[:, np.newaxis])[:, 0]
        np.testing.assert_allclose(found.values, values, rtol=1e-9, atol=1e-12)
        assert found.evaluations < evaluations
        evaluations = found.evaluations


# -- mixture populations ---------------------------------------------------------------------------------------------
#
# Starting mixtures, populations and their moves.


@pytest.mark.parametrize("m", [1, 2, 3, 7])
def test_onto_simplex_against_a_quadratic_program(m):
    from scipy.optimize import minimize

    points = np.random.default_rng(m).normal(0.3, 1.0, (12, m))
    for point, ours in zip(points, onto_simplex(points), strict=True):
        theirs = minimize(
            lambda x, point=point: ((x - point) ** 2).sum(),
            np.full(m, 1 / m),
            jac=lambda x, point=point: 2 * (x - point),
            method="SLSQP",
            bounds=[(0, 1)] * m,
            constraints={"type": "eq", "fun": lambda x: x.sum() - 1, "jac": np.ones_like},
            options={"ftol": 1e-15},
        ).x
        np.testing.assert_allclose(ours, theirs, atol=1e-6)


def test_onto_simplex_leaves_its_points_and_reaches_corners():
    inside = np.random.default_rng(0).dirichlet(np.ones(6), (4, 5))
    np.testing.assert_allclose(onto_simplex(inside), inside, atol=1e-15)
    np.testing.assert_array_equal(onto_simplex(np.array([9.0, 0.0, -3.0])), [1.0, 0.0, 0.0])
    np.testing.assert_allclose(onto_simplex(np.full(4, -7.0)), 0.25)


@pytest.mark.parametrize("m", [1, 2, 3, 9])
def test_first_mixtures_are_mixtures_with_the_mean_and_the_members_in_front(m):
    first = first_mixtures(m, 60, np.random.default_rng(0))
    assert first.min() >= 0
    np.testing.assert_allclose(first.sum(axis=1), 1, atol=1e-12)
    np.testing.assert_allclose(first[0], 1 / m)
    if m > 1:
        np.testing.assert_array_equal(first[1 : m + 1], np.eye(m))
        assert len(first) == m + 1 + (180 if m == 2 else 60)


def test_the_best_mixtures_are_dealt_out_in_turn():
    first, values = np.arange(6.0)[:, None] * [1.0, 0.0], np.array([[5.0, 1.0, 4.0, 0.0, 2.0, 3.0]])
    weights, dealt = dealt_out(first, values, 2, 2)
    assert dealt.tolist() == [[[0.0, 2.0], [1.0, 3.0]]]
    assert weights[..., 0].tolist() == [[[3.0, 4.0], [1.0, 5.0]]]


def test_populations_shrink_linearly_to_the_size_left():
    assert sizes(10, 2, 4) == [8, 6, 4, 2]
    assert sizes(3, 5, 2) == [3, 3]


def test_moves_stay_on_the_simplex_and_survivors_are_the_better_of_both():
    rng = np.random.default_rng(1)
    weights = rng.dirichlet(np.ones(4), (3, 8))
    children = moved_mixtures(weights, RowNumbers(rng, 3, np.arange(3)))
    assert children.min() >= 0
    np.testing.assert_allclose(children.sum(axis=2), 1, atol=1e-12)
    assert (children != weights).any(axis=2).mean() > 0.9
    values, found = np.sort(rng.random((3, 8)), axis=1), rng.random((3, 8))
    kept, least = survivors(weights, values, children, found, 5)
    better = np.minimum(values, found)
    np.testing.assert_array_equal(least, np.sort(better, axis=1)[:, :5])
    for t in range(3):
        for i in range(5):
            (at,) = np.flatnonzero(better[t] == least[t, i])
            np.testing.assert_array_equal(kept[t, i], (children if found[t, at] <= values[t, at] else weights)[t, at])
    np.testing.assert_array_equal(best_of(weights, found, 2)[1], np.sort(found, axis=1)[:, :2])


# -- mixture refinement ----------------------------------------------------------------------------------------------
#
# Rounds of refinement.


@pytest.mark.parametrize("m", [2, 5])
def test_rounds_never_get_worse_and_reach_the_minimum_of_a_quadratic(m):
    rng = np.random.default_rng(m)
    aims, weights = rng.dirichlet(np.ones(m), 4)[:, None], rng.dirichlet(np.ones(m), (4, 2))

    def values_of(mixtures):
        return ((mixtures - aims[:, :, None]) ** 2).sum(axis=-1)

    values, last, numbers = (
        values_of(weights[:, :, None])[..., 0],
        np.zeros_like(weights),
        RowNumbers(rng, 4, np.arange(4)),
    )
    for r in range(6):
        before = values
        lengths = step_lengths(r // 2, numbers.random((4, 2, 16, 1)))
        weights, values, last = refined(values_of, weights, values, last, lengths, numbers)
        assert (values <= before).all()
        assert weights.min() >= 0
        np.testing.assert_allclose(weights.sum(axis=-1), 1, atol=1e-12)
        np.testing.assert_allclose(values, values_of(weights[:, :, None])[..., 0], atol=1e-15)
    assert values.max() < 1e-2


def test_step_lengths_become_finer_from_round_to_round():
    for r in range(3):
        lengths = step_lengths(r, np.random.default_rng(r).random(500))
        assert 16.0 ** -(r + 1) <= lengths.min() < lengths.max() <= 16.0 ** -(r / 2)


# -- row numbers -----------------------------------------------------------------------------------------------------
#
# Random numbers of some rows are those of all rows.


def test_some_rows_have_the_numbers_that_they_have_among_all():
    every, some = (RowNumbers(np.random.default_rng(3), 5, rows) for rows in (np.arange(5), np.array([4, 1])))
    for shape, whole, axis in (((2, 4), (5, 4), 0), ((6, 2), (15, 2), 0), ((2, 6, 2), (2, 15, 2), 1)):
        each = shape[axis] // 2
        places = np.concatenate([np.arange(4 * each, 5 * each), np.arange(each, 2 * each)])
        np.testing.assert_array_equal(some.random(shape, axis), every.random(whole, axis).take(places, axis=axis))
    some.keep(np.array([1]))
    np.testing.assert_array_equal(some.random((1, 2)), every.random((5, 2))[1:2])


def test_numbers_of_all_rows_stay_the_same_whichever_rows_go_on():
    every, some = (RowNumbers(np.random.default_rng(3), 5, rows) for rows in (np.arange(5), np.array([4, 1])))
    np.testing.assert_array_equal(some.of_all(3), every.of_all(3))
    np.testing.assert_array_equal(some.random((2, 3)), every.random((5, 3))[[4, 1]])


if __name__ == "__main__":
    usual = (*FOUR, "kuiper-confidence", "ece-confidence-mass")
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 200, sys.argv[2].split(",") if len(sys.argv) > 2 else usual)
