"""Mixtures of members and objectives: correct values that do not depend on the other mixtures, chunks or threads."""

import threading

import numpy as np
import pytest

import uqassay.calibration.mixtures as mixture_products
import uqassay.calibration.mixtures as module
from uqassay.calibration.mixtures import (
    BinsOfConfidence,
    ClassesOfEqualMass,
    ClassesOfEqualWidth,
    CumulatedConfidence,
    MixtureObjective,
    Mixtures,
    Predicted,
    bins_of_equal_width,
    errors_of_mixtures,
    numbers,
    of_targets,
    products_of,
    quick_numbers,
    sums_of_bins,
)
from uqassay.metrics.measures import CALIBRATION_MEASURES, calibration_measure
from uqassay.native import kernels

SHAPES = ((12, 4, 3), (1, 2, 2), (7, 1, 5), (30, 9, 2))


def members_of(shape: tuple[int, int, int], seed: int = 0) -> np.ndarray:
    n, m, k = shape
    return np.random.default_rng(seed).dirichlet(np.full(k, 0.7), (n, m))


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("lead", [(), (1,), (20,), (3, 5), (0,)])
def test_probs_against_brute_force(shape, lead):
    members = members_of(shape)
    weights = np.random.default_rng(1).dirichlet(np.ones(shape[1]), lead)
    found = Mixtures(members).probs(weights)
    assert found.shape == (*lead, shape[0], shape[2])
    np.testing.assert_allclose(found, np.einsum("...m,nmk->...nk", weights, members), atol=1e-15)


def test_a_mixture_of_one_member_is_that_member():
    members = members_of((12, 4, 3))
    np.testing.assert_array_equal(Mixtures(members).probs(np.eye(4)), members.swapaxes(0, 1))


@pytest.mark.parametrize("long_row", [mixture_products.LONG_ROW, 1])
def test_probs_do_not_depend_on_the_other_mixtures(monkeypatch, long_row):
    monkeypatch.setattr(mixture_products, "LONG_ROW", long_row)
    mixtures = Mixtures(members_of((101, 10, 7)))
    weights = np.random.default_rng(2).dirichlet(np.ones(10), 37)
    together = mixtures.probs(weights)
    for i, one in enumerate(weights):
        np.testing.assert_array_equal(mixtures.probs(one), together[i])
    np.testing.assert_array_equal(mixtures.probs(weights[5:].reshape(4, 8, 10)).reshape(32, 101, 7), together[5:])


@pytest.mark.parametrize("order", ["float32", "read-only", "fortran", "list"])
def test_members_in_any_form(order):
    members = members_of((12, 4, 3))
    given = {"float32": members.astype(np.float32), "fortran": np.asfortranarray(members), "list": members.tolist()}
    form = given.get(order, members)
    if order == "read-only":
        members.flags.writeable = False
    weights = np.full((1, 4), 0.25)
    np.testing.assert_allclose(Mixtures(form).probs(weights)[0], members.mean(axis=1), atol=1e-7)


def objective_of(name: str, n_targets: int = 5) -> MixtureObjective:
    mixtures = Mixtures(members_of((23, 4, 3)))
    labels = np.random.default_rng(4).integers(0, 3, (n_targets, 23))
    return MixtureObjective(mixtures, labels, CALIBRATION_MEASURES[name])


@pytest.mark.parametrize("name", CALIBRATION_MEASURES)
def test_shared_and_own_against_one_mixture_at_a_time(name):
    objective = objective_of(name)
    weights = np.random.default_rng(5).dirichlet(np.ones(4), (5, 6))
    shared, own = objective.shared(weights[0]), objective.own(weights)
    assert shared.shape == own.shape == (5, 6)
    assert objective.evaluations == 6 + 30
    for t in range(5):
        for i in range(6):
            for found, one in ((shared[t, i], weights[0, i]), (own[t, i], weights[t, i])):
                expected = objective.measure.prepare(objective.mixtures.probs(one)).values(objective.labels[t])
                assert abs(found - expected) <= 1e-15 * max(1.0, abs(expected))  # sums in another order


def test_other_labels_have_their_own_count_of_evaluations():
    objective = objective_of("ece-confidence")
    weights = np.random.default_rng(5).dirichlet(np.ones(4), (5, 6))
    others = objective.of_labels(objective.labels[::-1])
    np.testing.assert_array_equal(others.own(weights[::-1]), objective.own(weights)[::-1])
    assert (objective.evaluations, others.evaluations) == (30, 30)
    assert others.part(slice(2)).shared(weights[0]).shape == (2, 6)
    assert (objective.evaluations, others.evaluations) == (30, 36)


@pytest.mark.parametrize("name", CALIBRATION_MEASURES)
@pytest.mark.parametrize("n", [1, 2, 3])
def test_undefined_as_the_measure_of_the_mean_is(name, n):
    measure = CALIBRATION_MEASURES[name]
    for members in (members_of((n, 4, 3)), np.eye(3)[np.random.default_rng(1).integers(0, 3, (n, 4))]):
        for labels in (np.zeros(n, dtype=np.intp), np.arange(n) % 3):
            objective = MixtureObjective(Mixtures(members), labels[np.newaxis], measure)
            with np.errstate(all="ignore"):
                assert objective.undefined() == np.isnan(measure.prepare(members.mean(axis=1)).values(labels))
            assert objective.evaluations == 0


def test_own_of_some_targets():
    objective = objective_of("ece-classwise")
    weights = np.random.default_rng(5).dirichlet(np.ones(4), (5, 6))
    targets = np.array([3, 0, 3])
    np.testing.assert_array_equal(objective.own(weights[targets], targets), objective.own(weights)[targets])


@pytest.mark.parametrize("name", ["ece-confidence", "hosmer-lemeshow", "skce-ul"])
def test_neither_chunks_nor_threads_change_a_number(monkeypatch, name):
    weights = np.random.default_rng(6).dirichlet(np.ones(4), (5, 40))
    truths = weights[0]

    def everything() -> list[np.ndarray]:
        objective = objective_of(name)
        return [objective.shared(truths), objective.own(weights)]

    expected = everything()
    for chunk_bytes, few_parts, cores in ((1, 10**9, 1), (3_000, 0, 3), (1, 0, 2), (2**40, 0, 4)):
        monkeypatch.setattr(module, "CHUNK_BYTES", chunk_bytes)
        monkeypatch.setattr(module, "FEW_PARTS", few_parts)
        monkeypatch.setattr(module, "available_cores", lambda cores=cores: cores)
        for found, wanted in zip(everything(), expected, strict=True):
            np.testing.assert_array_equal(found, wanted)


def test_a_thread_starts_no_threads(monkeypatch):
    def refuse(*_: object) -> None:
        raise AssertionError("a pool within a thread")

    monkeypatch.setenv("UQASSAY_PURE", "1")  # kernels take four mixtures at once
    monkeypatch.setattr(module, "CHUNK_BYTES", 1)
    monkeypatch.setattr(module, "FEW_PARTS", 0)
    monkeypatch.setattr(module, "available_cores", lambda: 4)
    monkeypatch.setattr(module, "ThreadPoolExecutor", refuse)
    objective, found = objective_of("ece-confidence"), []
    with pytest.raises(AssertionError, match="a pool within a thread"):
        objective.shared(np.eye(4))
    worker = threading.Thread(target=lambda: found.append(objective.shared(np.eye(4))))
    worker.start()
    worker.join()
    assert found[0].shape == (5, 4)


def test_an_exception_in_a_thread_is_raised(monkeypatch):
    monkeypatch.setenv("UQASSAY_PURE", "1")
    monkeypatch.setattr(module, "CHUNK_BYTES", 1)
    monkeypatch.setattr(module, "FEW_PARTS", 0)
    monkeypatch.setattr(module, "available_cores", lambda: 2)
    objective = objective_of("ece-confidence")
    objective.labels = objective.labels[:, :-1]
    with pytest.raises(ValueError, match="broadcast"):
        objective.shared(np.eye(4))


@pytest.mark.parametrize("n", [0, 1, 2, 17])
@pytest.mark.parametrize("bytes_each", [0.0, 1.0, 1e5, 1e6, 1e9])
def test_parts_cover_everything_once_and_evenly(n, bytes_each):
    parts = module._parts(n, bytes_each)
    assert [i for part in parts for i in range(n)[part]] == list(range(n))
    lengths = [part.stop - part.start for part in parts]
    assert max(lengths) - min(lengths) <= 1
    assert max(lengths) <= max(1, module.CHUNK_BYTES / max(bytes_each, 1e-300))


# Products of weights and members: the same rounding for one mixture and for many.


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_products_do_not_depend_on_their_number(dtype):
    rng = np.random.default_rng(0)
    by_member = rng.random((5, 103)).astype(dtype)
    weights = rng.dirichlet(np.ones(5), 21)
    together = products_of(weights, by_member)
    assert together.dtype == dtype
    np.testing.assert_allclose(together, weights @ by_member, rtol=1e-5)
    for i, one in enumerate(weights):
        np.testing.assert_array_equal(products_of(one[np.newaxis], by_member, "test")[0], together[i])
    assert products_of(weights, by_member[:, :0]).shape == (21, 0)


def test_subnormal_numbers_keep_their_order():
    probs = np.array([0.0, 5e-324, 1e-320, 1e-310, 1e-300, 1e-3])
    for dtype in (np.float64, np.float32):
        quick = quick_numbers(probs, dtype)
        assert quick[0] == 0
        assert (np.diff(quick) > 0).all()
        assert quick[1] > 10 * np.finfo(dtype).tiny
        assert quick[-1] == dtype(1e-3)


# Confidences of mixtures: which classes are computed, and errors against the measures.

ERRORS = {
    "ece-confidence": lambda predicted: BinsOfConfidence(predicted, 10, False),
    "ece-confidence-mass": lambda predicted: BinsOfConfidence(predicted, 10, True),
    "kuiper-confidence": lambda predicted: CumulatedConfidence(predicted, "kuiper"),
    "ks-confidence": lambda predicted: CumulatedConfidence(predicted, "ks"),
}


def test_classes_that_no_mixture_predicts_are_left_out():
    agree, differ = [[0.6, 0.3, 0.1], [0.7, 0.1, 0.2]], [[0.6, 0.3, 0.1], [0.2, 0.5, 0.3]]
    assert Predicted(np.array([agree, agree])).n_columns == 2
    assert Predicted(np.array([agree, differ])).n_columns == 4  # every class of the second may win: 0.3 against 0.2
    assert Predicted(np.array([[[1 / 3] * 3]])).n_columns == 3  # ties


@pytest.mark.parametrize("name", ERRORS)
def test_errors_of_formulas_against_the_measure(name):
    rng = np.random.default_rng(0)
    members, weights = rng.dirichlet(np.ones(4), (40, 3)), rng.dirichlet(np.ones(3), 6)
    labels = rng.integers(0, 4, (2, 40))
    errors, targets = ERRORS[name](Predicted(members)), np.array([0, 1, 1, 0, 1, 0])
    exact = calibration_measure(name).prepare(np.einsum("lm,nmk->lnk", weights, members)).values(labels[targets])
    np.testing.assert_allclose(errors.values(weights, errors.arranged(labels), targets), exact, rtol=1e-11)
    rough = errors.single().values(weights, errors.arranged(labels), targets)  # after the other precision
    assert 0 < np.abs(rough - exact).max() < 1e-5


# Errors of every class of mixtures: which probabilities are computed, and errors against the measures.

HOSMER_LEMESHOW = calibration_measure("hosmer-lemeshow").prepare
CLASS_ERRORS = {
    "ece-classwise": lambda members: ClassesOfEqualWidth(members, 10),
    "ece-classwise-mass": lambda members: ClassesOfEqualMass(members, 10),
    "hosmer-lemeshow": lambda members: ClassesOfEqualMass(
        members, HOSMER_LEMESHOW.n_bins, least_expected=HOSMER_LEMESHOW.least_expected
    ),
}


def test_probabilities_that_stay_in_their_bin_are_left_out():
    members = np.array([[[0.65, 0.35], [0.68, 0.32]], [[0.65, 0.35], [0.75, 0.25]]])
    bins = 2 * 10
    assert ClassesOfEqualWidth(members[:1], 10).n_columns == bins
    assert ClassesOfEqualWidth(members, 10).n_columns == bins + 2
    assert ClassesOfEqualMass(members, 10).n_columns == 4  # all of them


@pytest.mark.parametrize("name", CLASS_ERRORS)
def test_errors_of_all_classes_against_the_measure(name):
    rng = np.random.default_rng(0)
    members, weights = rng.dirichlet(np.ones(4), (80, 3)), rng.dirichlet(np.ones(3), 6)
    labels = rng.integers(0, 4, (2, 80))
    errors, targets = CLASS_ERRORS[name](members), np.array([0, 1, 1, 0, 1, 0])
    measure = calibration_measure(name)
    exact = measure.prepare(np.einsum("lm,nmk->lnk", weights, members)).values(labels[targets])
    np.testing.assert_allclose(errors.values(weights, errors.arranged(labels), targets), exact, rtol=1e-11)
    rough = errors.single().values(weights, errors.arranged(labels), targets)
    assert 0 < np.abs(rough / exact - 1).max() < 1e-4


# Bins and sums of several mixtures at once.


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_bins_against_edges_with_rounding(dtype):
    """A probability on an edge, or above it by rounding, lies in the bin below."""
    edges = np.arange(1, 10) / 10
    probs = np.concatenate([edges, np.nextafter(edges.astype(dtype), 2), edges + 1e-4, [1e-6, 1.0]]).astype(dtype)
    below = np.arange(9)
    expected = np.concatenate([below, below, below + 1, [0, 9]])
    found = bins_of_equal_width(np.stack([probs, probs[::-1]]), 10, None, 10)
    np.testing.assert_array_equal(found, np.stack([expected, expected[::-1] + 10]))


def test_bins_of_classes_are_counted_on():
    first_bin = np.array([0, 5, 10])
    found = bins_of_equal_width(np.array([[0.0, 0.3, 1.0], [0.5, 0.0, 0.1]]), 5, first_bin, 15)
    np.testing.assert_array_equal(found, [[0, 6, 14], [17, 20, 25]])


def test_sums_against_a_loop():
    rng = np.random.default_rng(0)
    at, amounts = rng.integers(0, 4, (3, 20)), rng.random((3, 20))
    expected = np.array([[row[bins == b].sum() for b in range(4)] for bins, row in zip(at, amounts, strict=True)])
    np.testing.assert_allclose(sums_of_bins(at + 4 * numbers(3), 3, 4, amounts), expected, rtol=1e-14)
    counts = sums_of_bins(at + 4 * numbers(3), 3, 4)
    np.testing.assert_array_equal(counts, [[(row == b).sum() for b in range(4)] for row in at])


def test_labels_of_targets():
    labels = np.arange(6).reshape(2, 3)
    np.testing.assert_array_equal(of_targets(labels, np.array([1, 0, 1])), labels[[1, 0, 1]])
    assert of_targets(labels[:1], np.array([0, 0])).shape == (1, 3)


# Calibration errors found with little work: the same numbers as the measures themselves give.

WITHOUT_BINS = ("ks-confidence", "kuiper-confidence")
QUICK_ONES = (
    "ece-confidence",
    "ece-confidence-mass",
    "ece-classwise",
    "ece-classwise-mass",
    "hosmer-lemeshow",
    *WITHOUT_BINS,
)
KINDS = ("spread", "agreeing", "votes", "one-hot", "equal", "tied classes", "float32")


def sharp_members(kind: str, n: int, m: int, k: int) -> np.ndarray:
    rng = np.random.default_rng([n, m, k])
    if kind == "agreeing":
        return rng.dirichlet(np.ones(k), (n, 1)) * 0.98 + 0.02 * rng.dirichlet(np.ones(k), (n, m))
    if kind == "votes":  # tenths: every probability lies on an edge of ten bins
        return rng.multinomial(10, rng.dirichlet(np.ones(k), n)[:, np.newaxis].repeat(m, axis=1)) / 10
    if kind == "one-hot":
        return np.eye(k)[rng.integers(0, k, (n, m))]
    if kind == "equal":
        return (rng.multinomial(10, np.full(k, 1 / k), n) / 10)[:, np.newaxis].repeat(m, axis=1)
    spread = rng.dirichlet(np.full(k, 0.5), (n, m))
    if kind == "tied classes":
        spread[..., -1] = spread[..., 0]
        return spread / spread.sum(axis=-1, keepdims=True)
    return spread.astype(np.float32) if kind == "float32" else spread


@pytest.mark.parametrize("name", QUICK_ONES)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("n", "m", "k", "n_bins"), [(31, 4, 3, 10), (40, 3, 2, 5), (1, 3, 5, 10), (7, 1, 2, 15), (20, 6, 4, 1)]
)
def test_values_against_the_measure(name, kind, n, m, k, n_bins):
    measure = calibration_measure(name, n_bins=None if name in WITHOUT_BINS else n_bins)
    members = sharp_members(kind, n, m, k)
    rng = np.random.default_rng(1)
    plain = np.concatenate([np.eye(m), np.full((1, m), 1 / m)])
    for n_targets in (1, 4):
        labels = rng.integers(0, k, (n_targets, n))
        objective = MixtureObjective(Mixtures(members), labels, measure)
        random = rng.dirichlet(np.ones(m), (n_targets, 9))
        judged = np.concatenate([random, np.broadcast_to(np.eye(m), (n_targets, m, m))], axis=1)
        np.testing.assert_allclose(objective.own(judged), objective.exact(judged), rtol=1e-11, atol=1e-14)
        rough, exact = objective.own(random, rough=True), objective.exact(random)
        np.testing.assert_allclose(rough, exact, rtol=2e-5, atol=2e-6)
        targets = np.arange(n_targets)[::-1]
        np.testing.assert_array_equal(objective.own(judged[targets], targets), objective.own(judged)[targets])
        if kind not in ("votes", "equal"):  # where the mean lies on an edge, rounding decides
            means = np.broadcast_to(plain, (n_targets, *plain.shape))
            np.testing.assert_allclose(objective.own(means), objective.exact(means), rtol=1e-11, atol=1e-14)


@pytest.mark.parametrize("name", QUICK_ONES)
def test_mixtures_of_equal_members_are_exact(name):
    members = sharp_members("equal", 40, 5, 3)
    labels = np.random.default_rng(0).integers(0, 3, (1, 40))
    objective = MixtureObjective(Mixtures(members), labels, CALIBRATION_MEASURES[name])
    weights = np.random.default_rng(1).dirichlet(np.ones(5), (1, 200))
    single = CALIBRATION_MEASURES[name].prepare(members[:, 0]).values(labels[0])
    np.testing.assert_allclose(objective.exact(weights), single, rtol=1e-14)


@pytest.mark.parametrize("name", ["ece-confidence", "ece-classwise"])
def test_few_columns_remain_if_members_agree(name):
    members = sharp_members("agreeing", 300, 6, 10)
    prepare = CALIBRATION_MEASURES[name].prepare
    agreeing, spread = (errors_of_mixtures(sharp_members(kind, 300, 6, 10), prepare) for kind in ("agreeing", "spread"))
    assert agreeing is not None
    assert spread is not None
    assert agreeing.n_columns < 0.2 * members[:, 0].size
    assert agreeing.n_columns < spread.n_columns


@pytest.mark.parametrize("name", [name for name in CALIBRATION_MEASURES if name not in QUICK_ONES])
def test_other_measures_use_all_probabilities(name):
    members = sharp_members("spread", 12, 3, 4)
    measure = CALIBRATION_MEASURES[name]
    assert errors_of_mixtures(members, measure.prepare) is None or (
        name == "skce-ul" and "pair_errors" in kernels().names
    )
    objective = MixtureObjective(Mixtures(members), np.zeros((1, 12), dtype=np.intp), measure)
    assert objective.n_columns == 12 * 4
    weights = np.random.default_rng(0).dirichlet(np.ones(3), (1, 5))
    np.testing.assert_allclose(objective.own(weights, rough=True), objective.exact(weights), rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("name", [name for name in CALIBRATION_MEASURES if not name.startswith("hosmer-lemeshow")])
def test_subnormal_probabilities_do_not_change_results(name):
    """Hosmer-Lemeshow aside, for which something impossible is worse than something nearly impossible."""
    members = sharp_members("spread", 24, 3, 4)
    members[:12, :, 3] = 1e-320
    members[:12] /= members[:12].sum(axis=-1, keepdims=True)
    labels = np.tile(np.arange(3), (1, 8))
    objective = MixtureObjective(Mixtures(members), labels, CALIBRATION_MEASURES[name])
    weights = np.random.default_rng(0).dirichlet(np.ones(3), (1, 6))
    np.testing.assert_allclose(objective.own(weights), objective.exact(weights), rtol=1e-10, atol=1e-14)
