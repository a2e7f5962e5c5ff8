from itertools import pairwise

import numpy as np
import pytest
from scipy.optimize import minimize

import uqassay as uq
from tests.calibration.made_up_data import grid_of_weights, labelled_by_a_mixture
from tests.refusals import refuses
from uqassay.calibration.search import QUICK
from uqassay.calibration.weights import (
    N_FOLDS,
    STRENGTHS,
    EnsembleWeights,
    brier_weights,
    log_loss_weights,
    predictive_weights,
)
from uqassay.metrics.measures import calibration_measure

# -- ensemble weights ------------------------------------------------------------------------------------------------
#
# Weights of an ensemble's members: against grids, SciPy's solver, the conditions of the optimum, and symmetry.


SOLVERS = {"log-loss": log_loss_weights, "brier": brier_weights}


@pytest.mark.parametrize("name", ["ece-confidence", "ece-classwise"])
@pytest.mark.parametrize("m", [2, 3])
def test_measures_are_at_most_those_of_a_grid(name, m):
    members, labels = labelled_by_a_mixture(20 + m, 80, m, 3)
    fitted = EnsembleWeights(name).fit(members, labels)
    measure = calibration_measure(name)
    found = [float(measure.prepare(np.einsum("nmk,m->nk", members, w)).values(labels)) for w in grid_of_weights(m, 60)]
    null_like = np.std(found)
    assert fitted.value_ <= min(found) + 0.02 * null_like
    own = measure.prepare(np.einsum("nmk,m->nk", members, fitted.weights_)).values(labels)
    assert fitted.value_ == pytest.approx(float(own), abs=1e-12)
    assert np.isnan(fitted.gap_)


@pytest.mark.parametrize("name", ["log-loss", "brier", "ece-confidence", "skce-ul"])
def test_permuting_members_permutes_weights(name):
    members, labels = labelled_by_a_mixture(30, 120, 4, 3)
    order = np.array([2, 0, 3, 1])
    weights = EnsembleWeights(name, search=QUICK).fit(members, labels).weights_
    assert np.array_equal(EnsembleWeights(name, search=QUICK).fit(members[:, order], labels).weights_, weights[order])


@pytest.mark.parametrize("name", ["log-loss", "brier", "ece-confidence"])
def test_equal_members_share_their_weight(name):
    members, labels = labelled_by_a_mixture(31, 100, 3, 3)
    alone = EnsembleWeights(name, search=QUICK).fit(members, labels).weights_
    twice = EnsembleWeights(name, search=QUICK).fit(members[:, [0, 1, 0, 2, 0]], labels).weights_
    assert twice[[0, 1, 3]] == pytest.approx(alone / [3, 1, 1], abs=1e-12)
    assert twice[0] == twice[2] == twice[4]
    every = EnsembleWeights(name, search=QUICK).fit(members[:, [1, 1, 1]], labels).weights_
    assert every.tolist() == [1 / 3] * 3


@pytest.mark.parametrize("name", ["log-loss", "brier", "ece-confidence", "hosmer-lemeshow"])
def test_ordinary_inputs(name):
    members, labels = labelled_by_a_mixture(32, 30, 2, 2)
    one = EnsembleWeights(name).fit(members[:, :1], labels)
    assert one.weights_.tolist() == [1.0]
    assert one.predict_proba(members[:, :1]) == pytest.approx(members[:, 0], abs=1e-12)
    single = EnsembleWeights(name, search=QUICK).fit(members[:1], labels[:1])
    assert single.weights_.sum() == pytest.approx(1)
    frozen = np.asfortranarray(members)
    frozen.flags.writeable = False
    as_lists = EnsembleWeights(name, search=QUICK).fit(members.tolist(), labels.tolist()).weights_
    assert np.array_equal(as_lists, EnsembleWeights(name, search=QUICK).fit(frozen, labels).weights_)
    assert np.array_equal(as_lists, EnsembleWeights(name, search=QUICK).fit(uq.Members(members), labels).weights_)
    constant = np.full((30, 3, 2), 0.5)
    assert EnsembleWeights(name, search=QUICK).fit(constant, np.zeros(30)).weights_.tolist() == [1 / 3] * 3
    low = EnsembleWeights(name, search=QUICK).fit(members.astype(np.float32), labels).weights_
    assert low.sum() == pytest.approx(1)


def test_predict_on_new_data_keeps_class_names_ids_and_groups():
    members, labels = labelled_by_a_mixture(33, 60, 3, 3)
    fitted = EnsembleWeights("brier").fit(members[:40], labels[:40])
    new = uq.Members(members[40:], class_names=["a", "b", "c"], ids=np.arange(20) + 7, groups=np.arange(20) % 3)
    point = fitted.predict(new)
    assert isinstance(point, uq.Point)
    assert point.probs == pytest.approx(np.einsum("nmk,m->nk", members[40:], fitted.weights_), abs=1e-12)
    assert point.class_names == ("a", "b", "c")
    assert point.ids.tolist() == new.ids.tolist()
    assert point.groups.tolist() == new.groups.tolist()
    assert np.array_equal(fitted.predict(members[40:]).probs, fitted.predict_proba(members[40:]))


def test_a_truth_among_the_mixtures_is_recovered_as_instances_grow():
    errors = []
    for n in (200, 2000, 20_000):
        generator = np.random.default_rng(35)
        members = generator.dirichlet(np.ones(4), size=(n, 3))
        truth = np.einsum("nmk,m->nk", members, [0.6, 0.3, 0.1])
        labels = (generator.random((n, 1)) > truth.cumsum(axis=1)).sum(axis=1)
        errors.append(np.abs(EnsembleWeights("log-loss").fit(members, labels).weights_ - [0.6, 0.3, 0.1]).max())
    assert all(later < sooner for sooner, later in pairwise(errors))
    assert errors[-1] < 0.03


def test_measures_with_other_bins_and_objects_of_the_scores_are_taken():
    members, labels = labelled_by_a_mixture(3, 60, 3, 3)
    fitted = EnsembleWeights("mce-confidence-mass", search=QUICK).fit(members, labels)
    measure = calibration_measure("mce-confidence", binning="mass")
    assert fitted.value_ == pytest.approx(float(measure.prepare(fitted.weights_ @ members).values(labels)), abs=1e-12)
    for name in SOLVERS:
        by_object = EnsembleWeights(calibration_measure(name)).fit(members, labels)
        assert np.array_equal(by_object.weights_, EnsembleWeights(name).fit(members, labels).weights_)
        assert by_object.gap_ < 1e-9


def test_scikit_learn_clones_it(needs):
    needs("sklearn")
    from sklearn.base import clone

    copy = clone(EnsembleWeights("brier", search=QUICK, rng=3))
    assert (copy.measure, copy.search, copy.rng) == ("brier", QUICK, 3)


MEMBERS, LABELS = labelled_by_a_mixture(37, 20, 2, 3)


@pytest.mark.parametrize(
    ("call", "refusal"),
    [
        (lambda: EnsembleWeights("ece").fit(MEMBERS, LABELS), ("measure", "choice")),
        (lambda: EnsembleWeights("brier").fit(MEMBERS[:, 0, 0], LABELS), ("members", "shape")),
        (lambda: EnsembleWeights("brier").fit(MEMBERS, LABELS[:5]), ("y", "mismatch")),
        (lambda: EnsembleWeights("brier").fit(MEMBERS, np.ones((20, 3))), ("y", "shape")),
        (lambda: EnsembleWeights("brier").fit(MEMBERS, LABELS + 1), ("y", "range")),
        (lambda: EnsembleWeights("brier").fit(MEMBERS * np.nan, LABELS), ("members", "finite")),
        (
            lambda: EnsembleWeights(search="quick").fit(MEMBERS, LABELS),
            ("search", "type", "got 'quick'"),
        ),
        (lambda: EnsembleWeights("brier").predict(MEMBERS), ("weights_", "missing")),
        (
            lambda: EnsembleWeights("brier").fit(MEMBERS, LABELS).predict(MEMBERS[:, :1]),
            ("members", "shape", "got 1"),
        ),
    ],
)
def test_bad_input_is_refused(call, refusal):
    with refuses(*refusal):
        call()


# -- score weights ---------------------------------------------------------------------------------------------------
#
# Weights of least score against SLSQP, a grid and fixed points.


def score(name, members, labels, weights):
    mixed = np.einsum("nmk,m->nk", members, weights)
    if name == "log-loss":
        return -np.log([mixed[i, label] for i, label in enumerate(labels)]).mean()
    return np.mean([((row - np.eye(len(row))[label]) ** 2).sum() for row, label in zip(mixed, labels, strict=True)])


@pytest.mark.parametrize("name", SOLVERS)
@pytest.mark.parametrize(("seed", "n", "m", "k"), [(0, 40, 2, 3), (1, 200, 5, 4), (2, 25, 8, 2), (3, 7, 3, 10)])
def test_scores_against_slsqp(name, seed, n, m, k):
    members, labels = labelled_by_a_mixture(seed, n, m, k, 0.5)
    weights, value, gap = SOLVERS[name](members, labels)
    by_scipy = minimize(
        lambda w: score(name, members, labels, np.maximum(w, 0)),
        np.full(m, 1 / m),
        method="SLSQP",
        bounds=[(0, 1)] * m,
        constraints={"type": "eq", "fun": lambda w: w.sum() - 1},
        options={"maxiter": 500, "ftol": 1e-12},
    )
    assert value == pytest.approx(score(name, members, labels, weights), abs=1e-12)
    mixed = np.einsum("nmk,m->nk", members, weights)
    assert value == pytest.approx(float(calibration_measure(name).prepare(mixed).values(labels)), abs=1e-9)
    assert value <= by_scipy.fun + 1e-9
    assert gap <= 1e-9
    assert value == pytest.approx(by_scipy.fun, abs=1e-5)
    assert weights.min() >= 0
    assert weights.sum() == pytest.approx(1, abs=1e-12)


@pytest.mark.parametrize("name", SOLVERS)
@pytest.mark.parametrize("m", [2, 3])
def test_scores_against_a_grid(name, m):
    members, labels = labelled_by_a_mixture(10 + m, 30, m, 3)
    weights, value, _ = SOLVERS[name](members, labels)
    found = [score(name, members, labels, w) for w in grid_of_weights(m, 50)]
    assert value <= min(found) + 1e-10
    assert value > min(found) - 0.01
    assert np.abs(grid_of_weights(m, 50)[int(np.argmin(found))] - weights).max() < 0.06


def test_log_loss_weights_are_the_fixed_point_of_em():
    members, labels = labelled_by_a_mixture(5, 500, 6, 4)
    weights = EnsembleWeights("log-loss").fit(members, labels).weights_
    given = members[np.arange(500), :, labels]
    ratios = (given / (given @ weights)[:, None]).mean(axis=0)
    assert weights * ratios == pytest.approx(weights, abs=1e-6)
    assert ratios.max() <= 1 + 1e-9


def test_impossible_labels_give_an_infinite_loss_and_the_weights_of_the_others():
    members, labels = labelled_by_a_mixture(34, 50, 3, 3)
    impossible = np.tile([1.0, 0.0, 0.0], (1, 3, 1))
    with_it = EnsembleWeights("log-loss").fit(np.concatenate([members, impossible]), np.append(labels, 2))
    assert np.isinf(with_it.value_)
    assert with_it.weights_ == pytest.approx(EnsembleWeights("log-loss").fit(members, labels).weights_, abs=1e-9)
    none = EnsembleWeights("log-loss").fit(np.array([[[1.0, 0.0, 0.0], [0.5, 0.5, 0.0]]]), [2])
    assert none.weights_.tolist() == [0.5, 0.5]
    tiny = np.array([[[1 - 1e-300, 1e-300], [1 - 2e-300, 2e-300]]])
    assert log_loss_weights(tiny, np.array([1]))[0] == pytest.approx([0, 1], abs=1e-6)


def test_many_members_and_few_instances_reach_the_gap():
    members, labels = labelled_by_a_mixture(36, 30, 100, 3, 0.1)
    for solver in SOLVERS.values():
        weights, _, gap = solver(members, labels)
        assert gap <= 1e-9
        assert weights.sum() == pytest.approx(1, abs=1e-12)


# -- predictive weights ----------------------------------------------------------------------------------------------
#
# Weights for null labels: against SciPy's minimiser and cross-validation written out.


def drawn(probs, rng):
    cumulated = probs.cumsum(axis=1)
    return (rng.random((len(probs), 1)) * cumulated[:, -1:] >= cumulated[:, :-1]).sum(axis=1)


def penalised(given, strength):
    """Weights with the greatest Σ ln p_λ(y) + c Σ ln λ, by a general solver on unbounded parameters."""

    def loss(free):
        logs = free - np.logaddexp.reduce(free)
        weights = np.exp(logs)
        shares = given * weights / (given @ weights)[:, np.newaxis]
        slope = (weights - shares).sum(axis=0) + strength * (len(free) * weights - 1)
        return -np.log(given @ weights).sum() - strength * logs.sum(), slope

    free = minimize(loss, np.zeros(given.shape[1]), jac=True, method="BFGS", options={"gtol": 1e-8}).x
    return np.exp(free - np.logaddexp.reduce(free))


@pytest.mark.parametrize("case", range(6))
def test_against_cross_validation_written_out(case):
    rng = np.random.default_rng(case)
    n, m, k = 24 + case, 3, 3
    members = rng.dirichlet(np.ones(k), (n, m))
    labels = drawn(np.einsum("nmk,m->nk", members, rng.dirichlet(np.ones(m))), rng)
    given = np.take_along_axis(members, labels[:, None, None], axis=2)[..., 0]
    order = np.random.default_rng(100 + case).permutation(n)
    losses = np.zeros(len(STRENGTHS) + 1)
    for c, strength in enumerate((*STRENGTHS, np.inf)):
        for fold in range(N_FOLDS):
            left_out = order[np.arange(n) % N_FOLDS == fold]
            rest = np.setdiff1d(np.arange(n), left_out)
            weights = np.full(m, 1 / m) if strength == np.inf else penalised(given[rest], strength)
            losses[c] -= np.log(given[left_out] @ weights).sum()
    best = int(losses.argmin())
    found = predictive_weights(members, labels, np.random.default_rng(100 + case))
    assert np.diff(np.sort(losses))[0] > 1e-4, "a tie would say nothing"
    expected = np.full(m, 1 / m) if best == len(STRENGTHS) else penalised(given, STRENGTHS[best])
    np.testing.assert_allclose(found, expected, atol=2e-3)


def test_the_truth_at_a_vertex_is_kept():
    rng = np.random.default_rng(0)
    members = rng.dirichlet(np.full(4, 0.2), (300, 20))
    found = predictive_weights(members, drawn(members[:, 3], rng), rng)
    assert found.argmax() == 3
    assert found[3] > 0.9


def test_many_similar_members_keep_their_weights():
    # the most likely weights lie on a few of 80 members that differ by chance only
    rng = np.random.default_rng(1)
    centre = rng.dirichlet(np.ones(3), 150)
    members = np.stack([rng.dirichlet(40 * p + 1e-3, 80) for p in centre])
    labels = drawn(members.mean(axis=1), rng)
    likely = log_loss_weights(members, labels)[0]
    found = predictive_weights(members, labels, rng)
    assert (likely > 1e-3).sum() < 20
    assert np.abs(found - 1 / 80).sum() < 0.5 * np.abs(likely - 1 / 80).sum()


def test_the_generator_determines_the_result():
    rng = np.random.default_rng(5)
    members = rng.dirichlet(np.ones(3), (50, 4))
    labels = rng.integers(0, 3, 50)
    first, again = (predictive_weights(members, labels, np.random.default_rng(9)) for _ in range(2))
    np.testing.assert_array_equal(first, again)


@pytest.mark.parametrize("n", [1, 2, 5, 9])
def test_few_instances(n):
    rng = np.random.default_rng(n)
    members = rng.dirichlet(np.ones(2), (n, 3))
    found = predictive_weights(members, np.zeros(n, dtype=np.intp), rng)
    assert found.shape == (3,)
    assert abs(found.sum() - 1) < 1e-12
    assert (found >= 0).all()


def test_labels_impossible_for_all_members_are_ignored():
    members = np.zeros((30, 2, 3))
    members[:, 0, 0], members[:, 0, 1] = 0.9, 0.1
    members[:, 1, 0], members[:, 1, 1] = 0.5, 0.5
    labels = np.array([0] * 22 + [1] * 3 + [2] * 5)  # nobody gives class 2 a chance
    possible = labels < 2
    found = predictive_weights(members, labels, np.random.default_rng(0))
    np.testing.assert_array_equal(
        found, predictive_weights(members[possible], labels[possible], np.random.default_rng(0))
    )
    np.testing.assert_array_equal(
        predictive_weights(members, np.full(30, 2), np.random.default_rng(0)), np.full(2, 0.5)
    )


def test_sparse_members_never_leave_a_label_out_without_chance():
    # each member is certain, and all labels that came are explained by one member or the other
    members = np.zeros((40, 2, 2))
    members[:, 0, 0] = members[:, 1, 1] = 1.0
    labels = np.array([0] * 39 + [1])
    found = predictive_weights(members, labels, np.random.default_rng(0))
    assert 0.005 < found[1] < 0.2
