import math
from itertools import pairwise

import numpy as np
import pytest
from scipy.stats import foldnorm
from tests.refusals import refuses

from uqassay.metrics.calibration import (
    PrepareCalibrationError,
    classwise_calibration_error,
    confidence_calibration_error,
)
from uqassay.metrics.reliability_diagrams import classes_apart
from uqassay.native import kernel

BOTH = pytest.mark.parametrize("measure", [confidence_calibration_error, classwise_calibration_error])


def grid_rows(generator, n, k, steps=10):
    """Probabilities that are multiples of 1 / steps, 0 and 1 among them, with many ties and on many edges."""
    cuts = np.sort(generator.integers(0, steps + 1, (n, k - 1)), axis=1)
    cuts = np.concatenate([np.zeros((n, 1)), cuts, np.full((n, 1), steps)], axis=1)
    return np.diff(cuts, axis=1) / steps


def labels_from(generator, probs):
    u = generator.random((*probs.shape[:-1], 1))
    return np.minimum((u > probs.cumsum(axis=-1)).sum(axis=-1), probs.shape[-1] - 1)


# -- brute force from the definitions, on plain lists -------------------------------------------------------------------


def bin_by_width(values, b):
    edges = np.linspace(0, 1, b + 1).tolist()
    bins = [[] for _ in range(b)]
    for i, v in enumerate(values):
        for j, (low, high) in enumerate(pairwise(edges)):
            if low < v <= high or (j == 0 and v == 0):
                bins[j].append(i)
                break
        else:
            raise AssertionError(f"{v} is in no bin")
    return bins


def bin_by_mass(values, b):
    ordered = sorted(values)
    starts = [ordered[len(values) * j // b] for j in range(1, b)]
    bins = [[] for _ in range(b)]
    for i, v in enumerate(values):
        bins[sum(v >= s for s in starts)].append(i)
    return bins


def gaps_of(values, happened, b, binning):
    """Share of the instances and mean probability − frequency, for every bin with instances."""
    split = bin_by_width if binning == "width" else bin_by_mass
    filled = [rows for rows in split(values, b) if rows]
    n = len(values)
    return [(len(r) / n, sum(values[i] for i in r) / len(r) - sum(happened[i] for i in r) / len(r)) for r in filled]


def by_hand(gaps, norm, direction):
    if direction == "signed":
        return sum(w * g for w, g in gaps) if norm == "l1" else max((g for _, g in gaps), key=abs)
    gaps = [(w, {"both": abs(g), "over": max(g, 0.0), "under": max(-g, 0.0)}[direction]) for w, g in gaps]
    if norm == "max":
        return max(g for _, g in gaps)
    return sum(w * (g if norm == "l1" else g * g) for w, g in gaps)


def events_of(y, probs, by):
    rows = probs.tolist()
    if by == "classwise":
        return [([r[k] for r in rows], [int(label == k) for label in y]) for k in range(probs.shape[1])]
    predicted = [r.index(max(r)) for r in rows]
    return [([max(r) for r in rows], [int(p == label) for p, label in zip(predicted, y, strict=True)])]


def brute_force(y, probs, by, b, binning, norm, direction="both"):
    found = [by_hand(gaps_of(v, h, b, binning), norm, direction) for v, h in events_of(y, probs, by)]
    if norm == "max":
        return max(found, key=abs)
    mean = sum(found) / len(found)
    return math.sqrt(mean) if norm == "l2" else mean


@pytest.mark.parametrize("binning", ["width", "mass"])
@pytest.mark.parametrize("norm", ["l1", "l2", "squared", "max"])
@pytest.mark.parametrize(
    ("k", "n", "b"), [(2, 30, 10), (3, 41, 10), (10, 25, 7), (3, 4, 10), (2, 1, 5), (3, 50, 30), (2, 9, 1)]
)
def test_against_brute_force(random_generator, binning, norm, k, n, b):
    for probs in (grid_rows(random_generator, n, k), random_generator.dirichlet(np.ones(k), n)):
        y = random_generator.integers(0, k, n)
        for direction in ("both", "over", "under", "signed"):
            options = {"n_bins": b, "binning": binning, "norm": norm, "direction": direction}
            if direction == "signed" and norm in ("l2", "squared"):
                continue
            wanted = brute_force(y.tolist(), probs, "confidence", b, binning, norm, direction)
            assert confidence_calibration_error(y, probs, **options) == pytest.approx(wanted, abs=1e-14)
            if direction != "signed":
                wanted = brute_force(y.tolist(), probs, "classwise", b, binning, norm, direction)
                assert classwise_calibration_error(y, probs, **options) == pytest.approx(wanted, abs=1e-14)


def test_debiased_squares_against_pairs_of_instances(random_generator):
    probs = grid_rows(random_generator, 60, 3)
    y = random_generator.integers(0, 3, 60)
    for by, measure in (("confidence", confidence_calibration_error), ("classwise", classwise_calibration_error)):
        found = []
        for values, happened in events_of(y.tolist(), probs, by):
            total = 0.0
            for rows in bin_by_width(values, 10):
                d = [values[i] - happened[i] for i in rows]
                products = [d[i] * d[j] for i in range(len(d)) for j in range(len(d)) if i != j]
                total += len(rows) / 60 * (sum(products) / len(products) if products else 0.0)
            found.append(total)
        wanted = sum(found) / len(found)
        assert measure(y, probs, norm="squared", debiased=True) == pytest.approx(wanted, abs=1e-14)


def test_debiased_l1_against_scipy(random_generator):
    probs = random_generator.dirichlet(np.ones(3), 200)
    y = labels_from(random_generator, probs)
    [(values, happened)] = events_of(y.tolist(), probs, "confidence")
    total = 0.0
    for rows in bin_by_mass(values, 6):
        d = np.array([values[i] - happened[i] for i in rows])
        gap, spread = abs(d.mean()), d.std(ddof=1) / math.sqrt(len(d))
        total += len(rows) / 200 * (2 * gap - foldnorm.mean(gap / spread, scale=spread))
    found = confidence_calibration_error(y, probs, n_bins=6, binning="mass", debiased=True)
    assert found == pytest.approx(total, abs=1e-13)


# -- other packages, where conventions agree ----------------------------------------------------------------------------


@pytest.fixture(scope="module")
def side_by_side():
    """60 instances of 4 classes, none of them on an edge of 5, 10 or 15 bins."""
    generator = np.random.default_rng(7)
    z = generator.normal(size=(60, 4)) * 1.5
    probs = np.exp(z) / np.exp(z).sum(axis=1, keepdims=True)
    return (generator.random((60, 1)) > probs.cumsum(axis=1) ** 1.3).sum(axis=1).clip(0, 3), probs


TORCHMETRICS = {  # torchmetrics 1.9.0, multiclass_calibration_error(n_bins=5, 10, 15), which counts in float32
    "l1": [0.014081772416830063, 0.030597060918807983, 0.07492616772651672],
    "l2": [0.019140219315886497, 0.03677833452820778, 0.1260574609041214],
    "max": [0.037481069564819336, 0.06583082675933838, 0.7564117908477783],
}
NETCAL = {  # netcal 1.4.0, ECE(b).measure and MCE(b).measure
    "l1": [0.014081791497467609, 0.03059704850452534, 0.07492614584478931],
    "max": [0.03748103421557103, 0.06583086755651624, 0.7564118159218708],
}
PYCALIB = [
    0.07807430195475278,
    0.11086047969280868,
    0.10601064925189377,
]  # pycalib 0.1.0.dev6, classwise_ECE(bins=5, 10, 15)


@pytest.mark.parametrize("norm", ["l1", "l2", "max"])
def test_against_torchmetrics(side_by_side, norm):
    found = [confidence_calibration_error(*side_by_side, n_bins=b, norm=norm) for b in (5, 10, 15)]
    assert found == pytest.approx(TORCHMETRICS[norm], abs=2e-6)


@pytest.mark.parametrize("norm", ["l1", "max"])
def test_against_netcal(side_by_side, norm):
    found = [confidence_calibration_error(*side_by_side, n_bins=b, norm=norm) for b in (5, 10, 15)]
    assert found == pytest.approx(NETCAL[norm], abs=1e-12)


def test_classwise_against_pycalib(side_by_side):
    found = [classwise_calibration_error(*side_by_side, n_bins=b) for b in (5, 10, 15)]
    assert found == pytest.approx(PYCALIB, abs=1e-12)


def test_debiased_against_torchmetrics_where_a_bin_has_one_confidence():
    generator = np.random.default_rng(8)
    confidence = np.array([0.55, 0.65, 0.75, 0.85])[generator.integers(0, 4, 80)]
    right = generator.random(80) < confidence - 0.2
    probs = np.stack([confidence, 1 - confidence], axis=1)
    found = confidence_calibration_error(np.where(right, 0, 1), probs, norm="squared", debiased=True)
    # the square of torchmetrics 1.9.0, _ce_compute(confidence, right, 10, norm="l2", debias=True)
    assert found == pytest.approx(0.03318665158371041, abs=1e-12)
    kumar = 0.0
    for c in np.unique(confidence):
        a, m = right[confidence == c].mean(), (confidence == c).sum()
        kumar += m / 80 * ((c - a) ** 2 - a * (1 - a) / (m - 1))
    assert found == pytest.approx(kumar, abs=1e-14)


def test_against_sklearn_calibration_curve(needs, random_generator):
    needs("sklearn")
    from sklearn.calibration import calibration_curve

    p = random_generator.random(300)
    y = (random_generator.random(300) < p**1.5).astype(int)
    fraction, mean = calibration_curve(y, p, n_bins=10, strategy="uniform")
    found = classwise_calibration_error(y, np.stack([1 - p, p], axis=1), norm="max")
    assert found == pytest.approx(np.abs(fraction - mean).max(), abs=1e-12)


# -- batches, and what input may look like ------------------------------------------------------------------------------

FORMS = [
    {},
    {"binning": "mass", "n_bins": 6},
    {"norm": "l2"},
    {"norm": "max"},
    {"direction": "over"},
    {"norm": "squared", "debiased": True},
    {"debiased": True, "binning": "mass", "n_bins": 4},
    {"n_bins": 40},
]


@BOTH
@pytest.mark.parametrize("options", FORMS)
def test_batch_is_a_loop(random_generator, measure, options):
    probs = random_generator.dirichlet(np.ones(3), (4, 5, 50))
    y = random_generator.integers(0, 3, (4, 5, 50))
    found = measure(y, probs, **options, batched=True)
    one_by_one = [[measure(y[i, j], probs[i, j], **options) for j in range(5)] for i in range(4)]
    assert found.shape == (4, 5)
    assert found.tolist() == one_by_one


@BOTH
@pytest.mark.parametrize("options", FORMS)
def test_leading_axes_broadcast(random_generator, measure, options):
    probs = random_generator.dirichlet(np.ones(3), (5, 30))
    y = random_generator.integers(0, 3, (4, 1, 30))
    crossed = measure(y, probs, **options, batched=True)
    assert crossed.shape == (4, 5)
    assert crossed.tolist() == [[measure(y[i, 0], probs[j], **options) for j in range(5)] for i in range(4)]
    assert measure(y[0, 0], probs, **options, batched=True).tolist() == crossed[0].tolist()
    assert measure(y[:, 0], probs[2], **options, batched=True).tolist() == crossed[:, 2].tolist()


@BOTH
def test_one_data_set_gives_a_float(measure):
    found = measure([0, 1], [[0.5, 0.5], [0.2, 0.8]])
    assert isinstance(found, float)
    assert measure([[0, 1]], [[0.5, 0.5], [0.2, 0.8]], batched=True).shape == (1,)


def test_float32_softmax_is_accepted(random_generator):
    probs = random_generator.dirichlet(np.ones(100), 50).astype(np.float32)
    assert 0 < classwise_calibration_error(random_generator.integers(0, 100, 50), probs) < 0.1
    half = random_generator.dirichlet(np.ones(3), 50).astype(np.float16)
    assert 0 < confidence_calibration_error(random_generator.integers(0, 3, 50), half) < 1


@pytest.mark.parametrize("binning", ["width", "mass"])
def test_ordinary_extremes(binning):
    sure = np.eye(3)[[0, 1, 2, 2]]
    assert confidence_calibration_error([0, 1, 2, 2], sure, binning=binning) == 0
    assert confidence_calibration_error([1, 2, 0, 0], sure, binning=binning) == 1
    assert classwise_calibration_error([0, 1, 2, 2], sure, binning=binning) == 0
    flat = np.full((8, 2), 0.5)
    assert confidence_calibration_error([0] * 8, flat, binning=binning) == 0.5  # the first of equal ones is predicted
    assert confidence_calibration_error([0, 1] * 4, flat, binning=binning) == 0
    assert confidence_calibration_error([1], [[0.25, 0.75]], binning=binning) == 0.25


def test_signed_is_confidence_less_accuracy(random_generator):
    probs = random_generator.dirichlet(np.ones(4), 90)
    y = random_generator.integers(0, 4, 90)
    wanted = probs.max(axis=1).mean() - (probs.argmax(axis=1) == y).mean()
    for b, binning in ((1, "width"), (10, "width"), (7, "mass")):
        found = confidence_calibration_error(y, probs, n_bins=b, binning=binning, direction="signed")
        assert found == pytest.approx(wanted, abs=1e-14)
    over = confidence_calibration_error(y, probs, direction="over")
    under = confidence_calibration_error(y, probs, direction="under")
    assert over - under == pytest.approx(wanted, abs=1e-14)
    assert over + under == pytest.approx(confidence_calibration_error(y, probs), abs=1e-14)


# -- weights ------------------------------------------------------------------------------------------------------------


@BOTH
@pytest.mark.parametrize("binning", ["width", "mass"])
@pytest.mark.parametrize("norm", ["l1", "l2", "max"])
def test_weights_equal_copies(random_generator, measure, binning, norm):
    for n_bins in (3, 10):
        probs = grid_rows(random_generator, 40, 3)
        y = random_generator.integers(0, 3, 40)
        weights = random_generator.integers(0, 4, 40)
        copied = measure(
            np.repeat(y, weights), np.repeat(probs, weights, axis=0), n_bins=n_bins, binning=binning, norm=norm
        )
        weighted = measure(y, probs, n_bins=n_bins, binning=binning, norm=norm, sample_weight=weights)
        assert weighted == pytest.approx(copied, abs=1e-13)
        scaled = measure(y, probs, n_bins=n_bins, binning=binning, norm=norm, sample_weight=weights / 7.0)
        assert scaled == pytest.approx(copied, abs=1e-13)


@BOTH
def test_equal_weights_change_nothing(random_generator, measure):
    probs = random_generator.dirichlet(np.ones(3), (4, 50))
    y = random_generator.integers(0, 3, (4, 50))
    for binning in ("width", "mass"):
        wanted = measure(y, probs, binning=binning, batched=True)
        weighted = measure(y, probs, binning=binning, sample_weight=np.full(50, 3.0), batched=True)
        assert weighted == pytest.approx(wanted, abs=1e-14)


# -- bias ---------------------------------------------------------------------------------------------------------------


def binned_truth(probs, truth, n_bins):
    """Σ w (E p − E q)² of the confidence for a large population with these true probabilities."""
    confidence, predicted = probs.max(axis=1), probs.argmax(axis=1)
    q = np.take_along_axis(truth, predicted[:, None], axis=1)[:, 0]
    place = np.ceil(confidence * n_bins).astype(int)
    sizes = np.bincount(place)
    gaps = np.bincount(place, confidence - q)[sizes > 0] / sizes[sizes > 0]
    return sizes[sizes > 0] / len(probs), gaps


@pytest.mark.parametrize("sharper", [1.0, 1.6])
def test_debiased_squares_are_unbiased(sharper):
    generator = np.random.default_rng(3)
    truth = generator.dirichlet(np.ones(3), (4000, 60))
    probs = truth**sharper / (truth**sharper).sum(axis=-1, keepdims=True)
    y = labels_from(generator, truth)
    shares, gaps = binned_truth(probs.reshape(-1, 3), truth.reshape(-1, 3), 5)
    wanted = (shares * gaps**2).sum()
    found = confidence_calibration_error(y, probs, n_bins=5, norm="squared", debiased=True, batched=True)
    error = found.std() / np.sqrt(found.size)
    assert abs(found.mean() - wanted) < 3.5 * error
    plain = confidence_calibration_error(y, probs, n_bins=5, norm="squared", batched=True)
    assert plain.mean() - wanted > 30 * error  # what the correction takes away


def test_debiased_squares_are_unbiased_given_the_probabilities():
    generator = np.random.default_rng(4)
    probs = generator.dirichlet(np.ones(4), 50)
    y = labels_from(generator, np.broadcast_to(probs, (20000, 50, 4)))
    for measure in (confidence_calibration_error, classwise_calibration_error):
        for binning in ("width", "mass"):
            found = measure(y, probs, n_bins=5, binning=binning, norm="squared", debiased=True, batched=True)
            assert abs(found.mean()) < 3.5 * found.std() / np.sqrt(found.size)


def test_debiased_l1_keeps_59_percent_of_the_bias_when_calibrated():
    generator = np.random.default_rng(5)
    probs = np.tile([[0.7, 0.3], [0.55, 0.45]], (200, 1))
    y = labels_from(generator, np.broadcast_to(probs, (5000, 400, 2)))
    plain = confidence_calibration_error(y, probs, batched=True)
    debiased = confidence_calibration_error(y, probs, debiased=True, batched=True)
    assert debiased.mean() / plain.mean() == pytest.approx(2 - math.sqrt(2), abs=0.02)
    expected = (np.sqrt(2 * 200 * 0.21 / np.pi) + np.sqrt(2 * 200 * 0.2475 / np.pi)) / 400
    assert plain.mean() == pytest.approx(expected, rel=0.02)


def test_bias_of_debiased_l1_by_the_width_of_the_gap():
    # one bin: g ~ N(shift s, s²); bias in units of s, as the docstring gives it
    grid = np.linspace(-8, 8, 20001)
    density = np.exp(-(grid**2) / 2) / np.exp(-(grid**2) / 2).sum()
    plain, debiased = [], []
    for shift in (0, 0.5, 1, 1.5, 2, 3):
        gap = np.abs(shift + grid)
        plain.append(((gap - shift) * density).sum())
        debiased.append(((2 * gap - foldnorm.mean(gap) - shift) * density).sum())
    assert plain == pytest.approx([0.80, 0.40, 0.17, 0.06, 0.02, 0.00], abs=0.0051)
    assert debiased == pytest.approx([0.47, 0.09, -0.07, -0.09, -0.07, -0.02], abs=0.0051)


def test_single_instances_have_no_pairs():
    probs = [[0.95, 0.05], [0.85, 0.15], [0.75, 0.25]]
    for options in ({"norm": "squared"}, {}):
        assert np.isnan(confidence_calibration_error([0, 1, 1], probs, debiased=True, **options))
        two = confidence_calibration_error([0, 0, 1, 1], [*probs, probs[0]], debiased=True, **options)
        only = confidence_calibration_error([0, 1], [probs[0], probs[0]], debiased=True, **options)
        assert two == pytest.approx(only / 2)  # two of four instances have a partner


# -- complaints ---------------------------------------------------------------------------------------------------------

GOOD = [[0.5, 0.5], [0.2, 0.8]]


@BOTH
@pytest.mark.parametrize(
    ("y", "probs", "refusal"),
    [
        ([0, 1], [[0.5, 0.6], [0.2, 0.8]], ("probs", "sum", "row 0 sums to 1.1")),
        ([0, 1], [[0.5, 0.5], [np.nan, 0.8]], ("probs", "finite", "row 1 holds nan")),
        ([0, 1], [[0.5, 0.5], [-0.2, 1.2]], ("probs", "not-probabilities", "row 1 holds -0.2")),
        ([0, 1], [0.5, 0.5], ("probs", "shape")),
        ([0, 1], [[1.0], [1.0]], ("probs", "one-column")),
        ([], np.zeros((0, 2)), ("probs", "shape")),
        ([0, 1, 1], GOOD, ("y_true", "mismatch", r"got shape \(3,\)")),
        (0, GOOD, ("y_true", "mismatch")),
        ([0, 2], GOOD, ("y_true", "range", "row 1 holds 2")),
        ([-1, 1], GOOD, ("y_true", "range", "row 0 holds -1")),
        ([0, 0.5], GOOD, ("y_true", "type", "row 1 holds 0.5")),
        ([[0, 1], [0, np.nan]], GOOD, ("y_true", "type", r"index \(1, 1\) holds nan")),
        ([0, np.inf], GOOD, ("y_true", "type", "row 1 holds inf")),
        (["a", "b"], GOOD, ("y_true", "type")),
        (
            np.zeros((3, 2), int),
            [GOOD, GOOD],
            ("y_true", "shape", "got shapes"),
        ),
        (np.ma.masked_equal([0, 1], 1), GOOD, ("y_true", "masked")),
    ],
)
def test_batches_that_are_refused(measure, y, probs, refusal):
    with refuses(*refusal):
        measure(y, probs, batched=True)


@BOTH
@pytest.mark.parametrize(
    ("y", "probs", "refusal"),
    [
        ([0, 1], [[0.5, 0.6], [0.2, 0.8]], ("probs", "sum", "row 0 sums to 1.1")),
        ([0, 1], [0.5, 0.5], ("probs", "shape")),
        ([0, 1], [[1.0], [1.0]], ("probs", "one-column")),
        ([], np.zeros((0, 2)), ("probs", "shape")),
        ([0, 1, 1], GOOD, ("y_true", "mismatch", "3")),
        (0, GOOD, ("y_true", "shape", r"got shape \(\)")),
        ([[0, 1], [1, 0]], GOOD, ("y_true", "shape", "batched=True")),
        ([0, 2], GOOD, ("y_true", "range", "row 1 holds 2")),
        ([0, 0.5], GOOD, ("y_true", "type", "row 1 holds 0.5")),
        (np.ma.masked_equal([0, 1], 1), GOOD, ("y_true", "masked")),
    ],
)
def test_input_that_is_refused(measure, y, probs, refusal):
    with refuses(*refusal):
        measure(y, probs)


@BOTH
@pytest.mark.parametrize(
    ("options", "refusal"),
    [
        ({"n_bins": 0}, ("n_bins", "range", "got 0")),
        ({"n_bins": 2.5}, ("n_bins", "type")),
        ({"n_bins": True}, ("n_bins", "type")),
        ({"n_bins": np.nan}, ("n_bins", "type")),
        ({"binning": "even"}, ("binning", "choice", r"got \'even\'")),
        ({"norm": "l3"}, ("norm", "choice")),
        ({"direction": "up"}, ("direction", "choice")),
        ({"direction": "signed", "norm": "l2"}, ("direction", "missing")),
        ({"debiased": True, "norm": "l2"}, ("debiased", "conflict")),
        ({"debiased": True, "direction": "over"}, ("debiased", "conflict")),
        ({"debiased": True, "sample_weight": [1, 1]}, ("debiased", "conflict")),
        ({"sample_weight": [1, -1]}, ("sample_weight", "finite", "row 1")),
        ({"sample_weight": [1, 1, 1]}, ("sample_weight", "shape")),
    ],
)
def test_options_that_are_refused(measure, options, refusal):
    with refuses(*refusal):
        measure([0, 1], GOOD, **options)


def test_signed_classwise_is_refused():
    with refuses("direction", "choice", got='got "signed"'):
        classwise_calibration_error([0, 1], GOOD, direction="signed")


@pytest.mark.parametrize("measure", [confidence_calibration_error, classwise_calibration_error])
def test_one_bin_of_equal_mass_with_weights(measure):
    rng = np.random.default_rng(0)
    probs, labels = rng.dirichlet(np.ones(3), 40), rng.integers(0, 3, 40)
    weights = rng.integers(1, 4, 40)
    found = measure(labels, probs, n_bins=1, binning="mass", sample_weight=weights)
    copies = measure(np.repeat(labels, weights), np.repeat(probs, weights, axis=0), n_bins=1)
    np.testing.assert_allclose(found, copies, rtol=1e-12)


# -- one draw of labels for each set of probabilities -------------------------------------------------------------------


@pytest.mark.parametrize("by", ["confidence", "classwise"])
@pytest.mark.parametrize("n_bins", [1, 2, 10, 30])
@pytest.mark.parametrize(("n", "k"), [(1, 2), (7, 3), (100, 10), (300, 4)])
def test_values_have_the_same_bits_with_and_without_kernel(by, n_bins, n, k, monkeypatch):
    rng, prepare = np.random.default_rng([n, k]), PrepareCalibrationError(by, n_bins)
    sets = [rng.dirichlet(np.full(k, 0.2), (5, n)), np.stack([grid_rows(rng, n, k) for _ in range(5)])]
    for probs in (*map(classes_apart, sets), sets[0], np.eye(k)[rng.integers(0, k, (5, n))]):
        for shape in ((n,), (1, n), (5, n), (2, 1, n)):
            labels = rng.integers(0, k, shape)
            found = []
            for pure in ("0", "1"):
                monkeypatch.setenv("UQASSAY_PURE", pure)
                found.append(prepare.values(probs, labels))
            np.testing.assert_array_equal(*found)
            np.testing.assert_array_equal(found[0], prepare(probs).values(labels))
        many = rng.integers(0, k, (4, n))  # for one set of probabilities
        np.testing.assert_array_equal(prepare.values(probs[:1], many), prepare(probs[:1]).values(many))


@pytest.mark.skipif(kernel("bin_errors") is None, reason="needs the compiled kernels")
def test_the_kernel_refuses_labels_out_of_range_and_shapes_that_do_not_fit():
    errors, probs = kernel("bin_errors"), np.full((3, 2, 4), 0.5)
    for labels in (np.full((3, 4), 2), np.full((3, 4), -1), np.zeros((2, 4), dtype=int), np.zeros((3, 5), dtype=int)):
        for by_confidence in (True, False):
            with pytest.raises(ValueError, match="label"):
                errors(probs, labels, np.array([0.5]), by_confidence)
