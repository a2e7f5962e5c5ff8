import numpy as np
import pytest
from tests.refusals import refuses

from uqassay.metrics.calibration import confidence_calibration_error
from uqassay.metrics.reliability_diagrams import expected_calibration_error, reliability, reliability_diagram
from uqassay.statistics import proportion_estimate


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
