import numpy as np
import pytest
from tests.refusals import refuses

from uqassay.metrics.bins import (
    bins_of_classes,
    bins_of_classes_left_inclusive,
    bins_of_confidence,
    bins_of_first_class,
    bins_of_ranks,
    bins_of_values,
    check_bins,
    edges_of_equal_width,
)
from uqassay.native import kernel


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


@pytest.mark.skipif(kernel("events_of_classes") is None, reason="needs uqassay-native")
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
