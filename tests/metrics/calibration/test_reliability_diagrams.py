"""Bins and reliability diagrams: against loops, NumPy and the definitions."""

import dataclasses
from fractions import Fraction
from functools import partial

import numpy as np
import pytest
from scipy import stats
from tests.kinds import PREDICTING, random_prediction
from tests.refusals import refuses

import uqassay as uq
from uqassay.arrays import as_bfloat16
from uqassay.metrics import confidence_calibration_error, kernel_calibration_error, reliability_diagram
from uqassay.metrics.kernel_error import kernel_bandwidth
from uqassay.metrics.reliability_diagrams import (
    as_probs,
    band_of_counts,
    bins_of_classes,
    bins_of_classes_left_inclusive,
    bins_of_confidence,
    bins_of_first_class,
    bins_of_ranks,
    bins_of_values,
    check_bins,
    classes_apart,
    edges_of_equal_width,
    expected_calibration_error,
    inner_edges,
    instance_weights,
    labels_and_probs,
    ranges_sentence,
    reliability,
)
from uqassay.native import kernel
from uqassay.predictions import Members, Point
from uqassay.statistics import proportion_estimate

# -- bins ------------------------------------------------------------------------------------------------------------


def places(values, n_bins, binning="width"):
    return bins_of_values(np.asarray(values, dtype=float), n_bins, binning).place.tolist()


@pytest.mark.parametrize("n_bins", [1, 2, 5, 10, 15, 23, 24, 25, 26, 100, 300])
def test_width_loses_no_end_and_is_right_inclusive(n_bins):
    edges = edges_of_equal_width(n_bins)
    np.testing.assert_allclose(edges, np.linspace(0, 1, n_bins + 1), rtol=1e-15)
    assert places([0.0, 1.0, np.nextafter(0, 1), np.nextafter(1, 0)], n_bins) == [0, n_bins - 1, 0, n_bins - 1]
    assert places(edges[1:], n_bins) == list(range(n_bins))
    assert places(np.nextafter(edges[1:-1], 1), n_bins) == list(range(1, n_bins))


@pytest.mark.parametrize("n_bins", [3, 6, 7, 9, 10, 12, 14, 20, 49, 100])
def test_multiples_fall_below_their_edge_however_they_were_computed(n_bins):
    j = np.arange(n_bins + 1)
    wanted = np.maximum(j - 1, 0).tolist()
    assert places(j / n_bins, n_bins) == wanted
    assert places(np.minimum(j * (1 / n_bins), 1.0), n_bins) == wanted


def test_mass_splits_evenly_without_ties(random_generator):
    values = random_generator.random(43)
    for n_bins in (1, 10, 24, 40):
        counts = np.bincount(places(values, n_bins, "mass"), minlength=n_bins)
        assert counts.tolist() == np.diff(np.arange(n_bins + 1) * 43 // n_bins).tolist()


def test_mass_keeps_equal_values_together():
    values = [0.2] * 5 + [0.5] * 3 + [0.9] * 2
    for order in (range(10), range(9, -1, -1), (3, 7, 9, 0, 1, 8, 2, 4, 5, 6)):
        found = places([values[i] for i in order], 5, "mass")
        assert [found[list(order).index(i)] for i in range(10)] == [2] * 5 + [3] * 3 + [4] * 2
    assert places([0.3] * 7, 4, "mass") == [3] * 7
    assert places([0.3], 10, "mass") == [9]
    assert places([0.1, 0.2], 5, "mass") == [2, 4]


def test_every_instance_is_counted_once(random_generator):
    probs = random_generator.dirichlet([0.1, 0.1, 0.1], (6, 50))  # many nearly 0 and 1
    y = random_generator.integers(0, 3, (6, 50))
    for binning in ("width", "mass"):
        for bins in (bins_of_confidence(probs, 7, binning), bins_of_classes(probs, 7, binning)):
            assert (bins.size.sum(axis=-1) == 50).all()
        assert (bins.observed(y).sum(axis=(-1, -2)) == 50).all()
        np.testing.assert_allclose(bins.expected.sum(axis=(-1, -2)), 50, rtol=1e-12)


def test_first_of_equal_probabilities_is_predicted():
    probs = np.array([[0.25, 0.25, 0.25, 0.25], [0.1, 0.4, 0.4, 0.1], [0.1, 0.2, 0.3, 0.4]])
    bins = bins_of_confidence(probs, 10, "width")
    assert bins.event.tolist() == [0, 1, 3] == probs.argmax(axis=1).tolist()


def test_many_classes():
    probs = np.full((3, 300), 0.5 / 299)
    probs[[0, 1, 2], [255, 256, 299]] = 0.5
    assert bins_of_confidence(probs, 10, "width").event.tolist() == [255, 256, 299]


@pytest.mark.parametrize("layout", ["instances first", "classes first"])
def test_results_do_not_depend_on_the_chunk_size(random_generator, layout):
    probs = random_generator.dirichlet(np.ones(5), (40, 30))
    if layout == "classes first":
        probs = np.swapaxes(np.ascontiguousarray(np.swapaxes(probs, -1, -2)), -1, -2)
    y = random_generator.integers(0, 5, (7, 1, 30))
    for make in (bins_of_confidence, bins_of_classes):
        for binning in ("width", "mass"):
            whole = make(probs, 10, binning)
            for rows in (slice(0, 1), slice(3, 20), slice(39, 40)):
                part = make(probs[rows], 10, binning)
                assert (part.expected == whole.expected[rows]).all()
                assert (part.observed(y) == whole.observed(y)[:, rows]).all()
                assert (part.expected_at_events(y) == whole.expected_at_events(y)[:, rows]).all()


def test_sums_against_loops(random_generator):
    probs = random_generator.dirichlet(np.ones(3), 20)
    y = random_generator.integers(0, 3, 20)
    weights = random_generator.random(20)
    bins = bins_of_classes(probs, 4, "width", weights)
    place = np.ceil(probs * 4).astype(int) - 1
    for k in range(3):
        for b in range(4):
            inside, here = place[:, k] == b, (place[:, k] == b) & (y == k)
            assert bins.size[k, b] == pytest.approx(weights[inside].sum())
            assert bins.expected[k, b] == pytest.approx((weights * probs[:, k])[inside].sum())
            assert bins.squares[k, b] == pytest.approx((weights * probs[:, k] ** 2)[inside].sum())
            assert bins.observed(y)[k, b] == pytest.approx(weights[here].sum())
            assert bins.expected_at_events(y)[k, b] == pytest.approx((weights * probs[:, k])[here].sum())


# -- the authors' bins --------------------------------------------------------------------------------------------------


def test_left_inclusive_bins_against_digitize(random_generator):
    values = np.concatenate([random_generator.random(50), np.arange(11) / 10, [0.0, 1.0]])
    probs = np.stack([values, 1 - values], axis=1)
    for n_bins in (1, 5, 10, 30):
        wanted = np.digitize(probs, np.linspace(0, 1 + 1e-8, n_bins + 1)) - 1
        assert bins_of_classes_left_inclusive(probs, n_bins).place.T.tolist() == wanted.tolist()


def test_bins_of_ranks_against_a_split(random_generator):
    probs = random_generator.dirichlet(np.ones(3), (3, 23))
    for n_bins in (1, 5, 23, 30):
        found = bins_of_ranks(probs, n_bins).place
        for d in range(3):
            order = np.argsort(1 - probs[d, :, 0])[::-1]
            for b, rows in enumerate(np.array_split(order, n_bins)):
                assert np.flatnonzero(found[d, 0] == b).tolist() == sorted(rows.tolist())
        assert (found == found[:, :1]).all()


def test_bins_of_ranks_separate_ties():
    tied = np.full((5, 2), 0.5)
    assert bins_of_ranks(tied, 2).place[0].tolist() == [1, 1, 0, 0, 0]
    assert bins_of_first_class(tied, 2).place.tolist() == [[1] * 5, [1] * 5]


# -- complaints ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n_bins", [0, -1, 1.5, "10", True, None, 2**15 + 1, np.inf, [10]])
def test_numbers_of_bins_that_are_refused(n_bins):
    code = "range" if isinstance(n_bins, int) and n_bins is not True else "type"
    with refuses("n_bins", code, got="must be a whole number from 1 to 32,768"):
        check_bins(n_bins, "width")


def test_binnings_that_are_refused():
    with refuses("binning", "choice", got="got None"):
        check_bins(10, None)
    check_bins(np.int64(3), "mass")


@pytest.mark.parametrize("n_bins", [1, 10, 300])
@pytest.mark.parametrize("binning", ["width", "mass"])
@pytest.mark.parametrize(("n", "k"), [(1, 2), (40, 3), (33, 60)])
def test_counts_of_many_draws_against_counting(n, k, binning, n_bins, monkeypatch):
    rng = np.random.default_rng([n, k, n_bins])
    probs = rng.dirichlet(np.ones(k), n).round(1 if k < 60 else 3)
    bins = bins_of_classes(probs, n_bins, binning)
    labels = rng.integers(0, k, (2, 5, n))
    counts = np.zeros((2, 5, k, n_bins))
    for a, b, i in np.ndindex(*labels.shape):
        label = labels[a, b, i]
        counts[a, b, label, bins.place[label, i]] += 1
    for pure in ("0", "1"):
        monkeypatch.setenv("UQASSAY_PURE", pure)
        for given in (labels, np.asfortranarray(labels)):
            found = bins.observed(given)
            assert found.dtype == np.float64
            np.testing.assert_array_equal(found, counts)


@pytest.mark.skipif(kernel("events_of_classes") is None, reason="needs the compiled kernels")
def test_the_kernel_of_counts_refuses_numbers_out_of_range():
    places, labels = np.zeros((2, 3), np.uint8), np.zeros((4, 3), np.int64)
    counted = kernel("events_of_classes")
    assert counted(places, labels, 1).tolist() == [[[3.0], [0.0]]] * 4
    for wrong, match in ((labels + 2, "outside the classes"), (labels - 1, "outside the classes")):
        with pytest.raises(ValueError, match=match):
            counted(places, wrong, 1)
    with pytest.raises(ValueError, match="outside the bins"):
        counted(places + 1, labels, 1)
    with pytest.raises(ValueError, match="one label for each instance"):
        counted(places, labels[:, :2].copy(), 1)


# -- edges -----------------------------------------------------------------------------------------------------------
#
# Edges of bins in float16, bfloat16, float32 and float64: shares k / 10 share the bins of the exact numbers.


TYPES = (np.float16, np.float32, np.float64)


def bins_of(values, n_bins):
    return np.searchsorted(inner_edges(n_bins, values), values, side="left")


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("n_bins", [2, 3, 7, 10, 15, 100, 300])
def test_shares_lie_in_the_bins_of_the_exact_numbers(dtype, n_bins):
    shares = [Fraction(k, n_bins) for k in range(n_bins + 1)]
    values = np.array([float(share) for share in shares]).astype(dtype).astype(float)
    assert bins_of(values, n_bins).tolist() == [max(k - 1, 0) for k in range(n_bins + 1)]


def test_bfloat16_is_compared_in_bfloat16():
    words = np.array([0.1, 0.2, 0.3, 0.6, 0.7], dtype=np.float32).view(np.uint32)
    rounded = as_bfloat16(((words + 0x7FFF + (words >> 16 & 1)) & 0xFFFF0000).view(np.float32))
    assert rounded[3] > 0.601
    assert bins_of(rounded.astype(float), 10).tolist() == [0, 1, 2, 5, 6]


def test_numbers_above_an_edge_lie_above_it():
    edges = edges_of_equal_width(10)[1:-1]
    assert bins_of(np.nextafter(edges, 1), 10).tolist() == list(range(1, 10))
    single = np.nextafter(np.nextafter(edges.astype(np.float32), np.float32(2)), np.float32(2))
    assert (bins_of(single.astype(float), 10) == np.arange(1, 10)).sum() >= 8  # two float32 numbers above the edge
    half = np.nextafter(edges.astype(np.float16), np.float16(2)).astype(float)
    assert bins_of(half, 10).tolist() == list(range(1, 10))


def test_means_of_single_precision_members_share_the_bins_of_double_precision():
    from uqassay.metrics import classwise_calibration_error, confidence_calibration_error

    rng = np.random.default_rng(0)
    first = rng.integers(1, 9, (400, 4)) / 10
    first = first[np.abs(first.mean(axis=1) - 0.5) > 0.01]  # no two classes that are equally probable
    probs, labels = np.stack([first, 1 - first], axis=2), rng.integers(2, size=len(first))
    for metric in (confidence_calibration_error, classwise_calibration_error):
        single, double = (float(metric(labels, Members(probs.astype(t)))) for t in (np.float32, np.float64))
        assert single == pytest.approx(double, abs=1e-6)


@pytest.mark.parametrize("dtype", TYPES)
def test_two_instances_by_hand(dtype):
    """.7 is wrong and .6 is right, in two bins: (.7 + .4) / 2."""
    from uqassay.metrics import confidence_calibration_error, expected_calibration_error

    probs = np.array([[0.7, 0.3], [0.6, 0.4]], dtype=dtype)
    assert float(confidence_calibration_error([1, 0], probs)) == pytest.approx(0.55, abs=1e-3)
    assert float(confidence_calibration_error([1, 0], Point(probs))) == pytest.approx(0.55, abs=1e-3)
    assert float(expected_calibration_error([0, 1], probs[:, 0])) == pytest.approx(0.55, abs=1e-3)


def test_float32_shares_have_the_error_of_float64():
    from uqassay.metrics import (
        calibration_error_estimate,
        classwise_calibration_error,
        confidence_calibration_error,
        hosmer_lemeshow_statistic,
        proper_score_parts,
        reliability_diagram,
    )

    rng = np.random.default_rng(0)
    top = rng.integers(5, 11, 3000) / 10
    probs = np.stack([top, 1 - top], axis=1)
    labels = (rng.random(3000) > top).astype(int)
    single, double = probs.astype(np.float32), probs
    for metric in (
        confidence_calibration_error,
        classwise_calibration_error,
        hosmer_lemeshow_statistic,
        lambda y, p: calibration_error_estimate(y, p),
        lambda y, p: proper_score_parts(y, p).calibration,
    ):
        assert float(metric(labels, single)) == pytest.approx(float(metric(labels, double)), rel=1e-4, abs=1e-6)
    np.testing.assert_array_equal(reliability_diagram(labels, single).count, reliability_diagram(labels, double).count)


# -- inputs ----------------------------------------------------------------------------------------------------------
#
# Labels and probabilities of calibration measures: arrays, batches and predictions.


@pytest.mark.parametrize("kind", PREDICTING)
def test_a_prediction_stands_for_its_mean(kind, random_generator):
    prediction = random_prediction(kind, random_generator, n=30, n_classes=4)
    y, mean = random_generator.integers(0, 4, 30), prediction.mean_probs()
    assert confidence_calibration_error(y, prediction) == confidence_calibration_error(y, mean)
    assert kernel_calibration_error(y, prediction) == kernel_calibration_error(y, mean)
    np.testing.assert_array_equal(reliability_diagram(y, prediction).accuracy, reliability_diagram(y, mean).accuracy)


DOOR = {
    "confidence_calibration_error": uq.metrics.confidence_calibration_error,
    "classwise_calibration_error": uq.metrics.classwise_calibration_error,
    "proper_score_parts": uq.metrics.proper_score_parts,
    "kernel_calibration_error": uq.metrics.kernel_calibration_error,
    "kernel_bandwidth": lambda y, probs: kernel_bandwidth(probs),
    "hosmer_lemeshow_statistic": uq.metrics.hosmer_lemeshow_statistic,
    "reliability_diagram": uq.metrics.reliability_diagram,
    "hosmer_lemeshow_test": uq.calibration.hosmer_lemeshow_test,
    "kernel_calibration_estimate": uq.calibration.kernel_calibration_estimate,
    "skce_pvalue": partial(uq.calibration.skce_pvalue, n_draws=19),
    "calibration_test": partial(uq.calibration.calibration_test, n_draws=19),
}


def plain(result):
    return dataclasses.asdict(result) if dataclasses.is_dataclass(result) else result


@pytest.mark.parametrize("name", DOOR)
@pytest.mark.parametrize(("n", "m"), [(12, 12), (12, 4), (20, 1)])
def test_an_array_means_the_same_as_its_prediction(name, n, m, random_generator):
    """(n, K) is a point and (n, M, K) members, which stand for their mean, also where n = M."""
    members, y = random_generator.dirichlet(np.ones(3), (n, m)), random_generator.integers(0, 3, n)
    mean = uq.Members(members).mean_probs()
    wanted = plain(DOOR[name](y, uq.Point(mean)))
    for same in (mean, {"probs": mean}, uq.Members(members), members, {"probs": members}):
        np.testing.assert_equal(plain(DOOR[name](y, same)), wanted)


def test_members_are_no_batch(random_generator):
    probs, y = random_generator.dirichlet(np.ones(3), (5, 7)), random_generator.integers(0, 3, (5, 7))
    with refuses("y_true", "shape", got="batched=True"):
        confidence_calibration_error(y, probs)
    each = [confidence_calibration_error(*one) for one in zip(y, probs, strict=True)]
    np.testing.assert_array_equal(confidence_calibration_error(y, probs, batched=True), each)


@pytest.mark.parametrize("dtype", ["float16", "float32"])
def test_sums_of_low_precision_are_accepted_from_all_kinds(dtype, random_generator):
    members = random_generator.dirichlet(np.ones(9), (30, 4)).astype(dtype)
    y = random_generator.integers(0, 9, 30)
    of_array = confidence_calibration_error(y, members)
    assert of_array == confidence_calibration_error(y, uq.Members(members))
    assert confidence_calibration_error(y, members[:, 0]) == confidence_calibration_error(y, uq.Point(members[:, 0]))


def test_labels_of_a_prediction_go_by_its_class_names():
    probs = np.array([[0.9, 0.1], [0.2, 0.8]])
    named = uq.Point(probs, class_names=("cat", "dog"))
    np.testing.assert_array_equal(labels_and_probs(["dog", "cat"], named)[0], [1, 0])
    with refuses("y_true", got="row 1 .*'cow'|'cow' in row 1"):
        labels_and_probs(["dog", "cow"], named)


def test_batches_broadcast(random_generator):
    probs = random_generator.dirichlet(np.ones(3), (5, 7))
    labels, p = labels_and_probs(random_generator.integers(0, 3, (4, 1, 7)), probs, batched=True)
    assert (labels.shape, p.shape) == ((4, 1, 7), (5, 7, 3))
    with refuses("y_true", "shape", got=r"\(2, 7\) and \(5, 7, 3\)"):
        labels_and_probs(np.zeros((2, 7), int), probs, batched=True)
    with refuses("y_true", "mismatch", got=r"\(6,\)"):
        labels_and_probs(np.zeros(6, int), probs, batched=True)


def test_classes_come_before_instances_in_memory_and_rounding_is_clipped():
    given = np.array([[1.0 + 5e-7, -5e-7], [0.25, 0.75]])
    given.flags.writeable = False
    p = as_probs(given)
    assert p.swapaxes(-1, -2).flags.c_contiguous
    assert (p.min(), p.max()) == (0.0, 1.0)
    np.testing.assert_array_equal(p[1], given[1])


@pytest.mark.parametrize(
    ("probs", "code"),
    [
        (np.zeros(3), "shape"),
        (np.ones((3, 1)), "one-column"),
        (np.empty((0, 2)), "shape"),
        ([[0.5, 0.6]], "sum"),
        ([[np.nan, 0.5]], "finite"),
        (np.ma.masked_array([[0.5, 0.5]], [[0, 1]]), "masked"),
    ],
)
def test_what_is_not_a_distribution_is_refused(probs, code):
    with refuses("probs", code):
        as_probs(probs)
    with refuses("probs", code):
        as_probs(probs, batched=True)


@pytest.mark.parametrize(
    ("y", "code", "got"),
    [([0.5], "type", "row 0 holds 0.5"), ([np.nan], "type", "nan"), ([2], "range", "2"), ([-1], "range", "-1")],
)
def test_labels_are_class_indices(y, code, got):
    with refuses("y_true", code, got=got):
        labels_and_probs(y, [[0.5, 0.5]])


def test_weights_are_relative_to_the_greatest():
    assert instance_weights(None, 3) is None
    np.testing.assert_array_equal(instance_weights([1, 2, 4], 3), [0.25, 0.5, 1.0])


def test_classes_lie_apart_in_memory_with_the_same_values(random_generator):
    for probs in (random_generator.dirichlet(np.ones(3), 7), random_generator.dirichlet(np.ones(3), (2, 7))):
        found = classes_apart(probs)
        np.testing.assert_array_equal(found, probs)
        assert np.swapaxes(found, -1, -2).flags.c_contiguous
        assert np.shares_memory(classes_apart(found), found)
        assert not np.shares_memory(found, probs)


# -- reliability bands -----------------------------------------------------------------------------------------------
#
# Bands over all bins of a reliability diagram; their error rate is in `tests.metrics.calibration.test_error_coverage`.


EDGES = np.linspace(0, 1, 11)


def test_band_against_scipy():
    hits, count = np.array([0.0, 3.0, 0.0, 17.0, 5.0]), np.array([4.0, 10.0, 0.0, 20.0, 5.0])
    low, high = band_of_counts(hits, count, 0.9)
    each = 0.9 ** (1 / 4)  # of four filled bins
    for b in (0, 1, 3, 4):
        exact = stats.binomtest(int(hits[b]), int(count[b])).proportion_ci(each, method="exact")
        assert (low[b], high[b]) == pytest.approx((exact.low, exact.high))
    assert np.isnan([low[2], high[2]]).all()


def test_groups_of_one_are_nearly_independent(random_generator):
    confidence = random_generator.random(400)
    hits = (random_generator.random(400) < confidence).astype(float)
    alone = reliability(hits, confidence, n_bins=4)
    grouped = reliability(hits, confidence, n_bins=4, groups=np.arange(400))
    np.testing.assert_allclose(grouped.band_low, alone.band_low, atol=0.02)
    np.testing.assert_allclose(grouped.band_high, alone.band_high, atol=0.02)
    np.testing.assert_allclose(grouped.low, alone.low, atol=0.01)


def test_groups_that_agree_count_once(random_generator):
    confidence, hits = np.full(30, 0.7), np.repeat([1.0, 0.0], [20, 10])
    alone = reliability(hits, confidence)
    copies = reliability(np.repeat(hits, 10), np.repeat(confidence, 10), groups=np.repeat(np.arange(30), 10))
    b = int(np.flatnonzero(alone.count > 0)[0])
    assert copies.band_low[b] < alone.band_low[b] + 0.01
    assert copies.band_high[b] > alone.band_high[b] - 0.01
    wilson = uq.statistics.proportion_estimate(np.repeat(hits, 10), groups=np.repeat(np.arange(30), 10))
    assert (copies.low[b], copies.high[b]) == (wilson.low, wilson.high)


def test_one_group_in_a_bin_says_nothing():
    r = reliability([1, 1, 0, 1], [0.95, 0.95, 0.25, 0.25], groups=[0, 0, 0, 1])
    assert (r.band_low[9], r.band_high[9]) == (0, 1)
    assert np.isnan([r.low[9], r.high[9]]).all()
    assert not (r.over | r.under).any()


def test_over_and_under_are_where_the_band_excludes_the_confidence():
    confidence = np.repeat([0.95, 0.65, 0.55], 200)
    hits = np.concatenate([np.arange(200) < 150, np.arange(200) < 130, np.arange(200) < 180]).astype(float)
    r = reliability(hits, confidence)
    assert np.flatnonzero(r.over).tolist() == [9]
    assert np.flatnonzero(r.under).tolist() == [5]
    assert r.sentence() == "Too sure where it states 90 to 100 %; too unsure where it states 50 to 60 %."


def test_a_calibrated_certain_classifier_is_not_accused():
    r = reliability(np.ones(50), np.ones(50))
    assert r.sentence() == "Nowhere shown to be too sure or too unsure."


def test_ranges_of_neighbours_and_bins_of_equal_mass():
    over = np.isin(np.arange(10), (2, 3, 7))
    none = np.zeros(10, bool)
    assert ranges_sentence(EDGES, over, none) == (
        "Too sure where it states 20 to 40 % and 70 to 80 %; nowhere shown to be too unsure."
    )
    assert ranges_sentence(EDGES, none, ~none) == (
        "Too unsure where it states 0 to 100 %; nowhere shown to be too sure."
    )
    edges = np.array([0.2513, 0.6, 1.0, 1.0])
    assert ranges_sentence(edges, np.array([True, False, True]), none[:3]) == (
        "Too sure where it states 25.1 to 60.0 % and 100.0 %; nowhere shown to be too unsure."
    )


def test_three_networks_on_cifar_10(cifar10):
    y, probs = cifar10["labels"], cifar10["three"]
    told = uq.metrics.reliability_diagram(y, probs).sentence()
    assert told == "Too sure where it states 90 to 100 %; too unsure where it states 60 to 70 %."


@pytest.fixture
def data(random_generator):
    probs = random_generator.dirichlet(np.ones(4), 300)
    return random_generator.integers(0, 4, 300), probs


@pytest.mark.parametrize("binning", ["width", "mass"])
@pytest.mark.parametrize("event", ["predicted", 0, 3])
def test_bins_against_a_loop_and_wilson_intervals(data, binning, event):
    y, probs = data
    values = probs.max(axis=1) if event == "predicted" else probs[:, event]
    happened = y == (probs.argmax(axis=1) if event == "predicted" else event)
    r = reliability_diagram(y, probs, event=event, n_bins=8, binning=binning, level=0.9)
    if binning == "width":
        place = np.maximum(np.ceil(values * 8).astype(int) - 1, 0)
        np.testing.assert_allclose(r.edges, np.arange(9) / 8)
    else:
        place = np.searchsorted(np.sort(values)[300 * np.arange(1, 8) // 8], values, side="right")
        assert r.edges.tolist() == [*[values[place == b].min() for b in range(8)], values.max()]
        assert set(r.count.tolist()) <= {37, 38}
    for b in range(8):
        inside = place == b
        assert r.count[b] == inside.sum()
        if not inside.any():
            assert np.isnan([r.confidence[b], r.accuracy[b], r.low[b], r.high[b]]).all()
            continue
        assert r.confidence[b] == pytest.approx(values[inside].mean())
        assert r.accuracy[b] == pytest.approx(happened[inside].mean())
        if inside.sum() > 1:
            wilson = proportion_estimate(happened[inside], level=0.9)
            assert (r.low[b], r.high[b]) == pytest.approx((wilson.low, wilson.high))


def test_against_sklearn_calibration_curve(needs, data):
    needs("sklearn")
    from sklearn.calibration import calibration_curve

    y, probs = data
    fraction, mean = calibration_curve(y == 2, probs[:, 2], n_bins=10, strategy="uniform")
    r = reliability_diagram(y, probs, event=2)
    filled = r.count > 0
    np.testing.assert_allclose(r.accuracy[filled], fraction)
    np.testing.assert_allclose(r.confidence[filled], mean)


def test_both_functions_agree(data):
    y, probs = data
    r = reliability_diagram(y, probs)
    s = reliability(probs.argmax(axis=1) == y, probs.max(axis=1))
    for name in ("edges", "count", "confidence", "accuracy", "low", "high"):
        np.testing.assert_array_equal(getattr(r, name), getattr(s, name))
    ece = expected_calibration_error(probs.argmax(axis=1) == y, probs.max(axis=1))
    assert ece == pytest.approx(confidence_calibration_error(y, probs), abs=1e-15)
    filled = s.count > 0
    gaps = np.abs(s.accuracy[filled] - s.confidence[filled])
    assert ece == pytest.approx((s.count[filled] * gaps).sum() / 300, abs=1e-15)


def test_intervals_cover_the_true_frequency():
    generator = np.random.default_rng(2)
    covered = np.zeros(2)
    for _ in range(300):
        p = generator.random(200)
        y = (generator.random(200) < p**1.4).astype(int)
        for j, binning in enumerate(("width", "mass")):
            r = reliability_diagram(y, np.stack([1 - p, p], axis=1), event=1, n_bins=5, binning=binning)
            inner = r.edges[1:-1]
            place = np.searchsorted(inner, p, side="left" if binning == "width" else "right")
            truth = np.bincount(place, p**1.4, 5) / np.bincount(place, minlength=5)
            covered[j] += ((r.low <= truth) & (truth <= r.high)).mean() / 300
    assert (covered > 0.935).all()
    assert (covered < 0.99).all()


def test_shares_of_hits():
    r = reliability([0.5, 1.0, 0.25], [0.9, 0.95, 0.1], n_bins=2)
    assert r.accuracy.tolist() == [0.25, 0.75]
    assert expected_calibration_error([0.5, 1.0, 0.25], [0.9, 0.95, 0.1], n_bins=2) == pytest.approx((0.35 + 0.15) / 3)


def test_ordinary_extremes():
    r = reliability_diagram([1], [[0.0, 1.0]])
    assert r.count.tolist() == [0] * 9 + [1]
    assert (r.accuracy[-1], r.high[-1]) == (1.0, 1.0)
    assert 0 < r.low[-1] < 1
    flat = reliability_diagram([0, 1, 1], np.full((3, 2), 0.5), event=0, n_bins=4, binning="mass")
    assert flat.count.tolist() == [0, 0, 0, 3]
    assert flat.edges.tolist() == [0.5] * 5
    assert reliability([1], [1.0005]).count[-1] == 1  # float16 rounds sums beyond 1
    assert reliability_diagram([0, 0], np.array([[1, 0], [0.5, 0.5]], np.float16), event=1).accuracy[0] == 0


@pytest.mark.parametrize(
    ("call", "refusal"),
    [
        (
            lambda: reliability([1, 0], [0.5]),
            ("confidence", "mismatch", "got 1"),
        ),
        (lambda: reliability([1], [0.5], n_bins=0), ("n_bins", "range", "got 0")),
        (lambda: reliability([1], [1.2]), ("confidence", "range", "row 0 is 1.2")),
        (lambda: reliability([1, 1], [0.5, np.nan]), ("confidence", "range", "row 1 is nan")),
        (lambda: reliability([np.nan], [0.5]), ("correct", "range", "row 0 is nan")),
        (lambda: expected_calibration_error([2], [0.5]), ("correct", "range", "row 0 is 2")),
        (lambda: reliability([1], [0.5], level=1.0), ("level", "range")),
        (
            lambda: reliability_diagram([0], [[0.5, 0.5]], event=2),
            ("event", "choice", "got 2"),
        ),
        (lambda: reliability_diagram([0], [[0.5, 0.5]], event="best"), ("event", "choice")),
        (lambda: reliability_diagram([[0]], [[0.5, 0.5]]), ("y_true", "shape")),
    ],
)
def test_invalid_input_is_refused(call, refusal):
    with refuses(*refusal):
        call()


def test_weights_are_repetitions_of_cases_in_one_group(random_generator):
    # rates and the interval of each bin; the joint ones know how unequal the weights of the groups are
    weights = random_generator.integers(0, 4, 60)
    confidence = random_generator.random(60)
    correct = (random_generator.random(60) < confidence).astype(float)
    groups = np.arange(60)
    weighted = uq.metrics.reliability(correct, confidence, n_bins=3, groups=groups, sample_weight=weights)
    copied = uq.metrics.reliability(
        *(np.repeat(x, weights) for x in (correct, confidence)), n_bins=3, groups=np.repeat(groups, weights)
    )
    for name in ("confidence", "accuracy", "low", "high"):
        np.testing.assert_allclose(getattr(weighted, name), getattr(copied, name), rtol=1e-9)
    assert (weighted.band_low <= weighted.low).all()
    assert (weighted.band_high >= weighted.high).all()
