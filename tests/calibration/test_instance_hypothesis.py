"""The test of instance-dependent combinations: no leak, what it finds, and its error rates. Run as a script, it prints them."""

import sys

import numpy as np
import pytest

import uqassay as uq
from tests.refusals import refuses
from uqassay.calibration.credal import credal_calibration_test
from uqassay.calibration.instance_weights import InstanceWeights, instance_dependent_calibration_test
from uqassay.calibration.one_classifier import calibration_test
from uqassay.calibration.weights import two_parts

SHARPNESS = np.array([0.3, 0.6, 1.5, 3.0])  # of the members: two are underconfident, two overconfident


def softmax(values):
    shares = np.exp(values - values.max(axis=-1, keepdims=True))
    return shares / shares.sum(axis=-1, keepdims=True)


def labels_of(truth, generator):
    return (generator.random((len(truth), 1)) > truth.cumsum(axis=1)).sum(axis=1).clip(0, truth.shape[1] - 1)


def in_the_family(seed, n, k=5):
    """Labels, members and features where the truth is p_λ*(x) with a linear λ*."""
    generator = np.random.default_rng(seed)
    x, slopes = generator.standard_normal((n, 3)), generator.standard_normal((3, 4))
    members = softmax(2 * generator.standard_normal((n, 1, k)) * SHARPNESS[:, None])
    truth = (softmax(x @ slopes)[:, None] @ members)[:, 0]
    return labels_of(truth, generator), members, x


def by_side(seed, n, sharpness_of_truth=1.0):
    """Each of two members is as sharp as the labels on one side of x and four times as sharp on the other."""
    generator = np.random.default_rng(seed)
    x = generator.uniform(-1, 1, n)
    z = generator.standard_normal((n, 3))
    right, wrong = softmax(z), softmax(4 * z)
    left = (x < 0)[:, None]
    members = np.stack([np.where(left, right, wrong), np.where(left, wrong, right)], axis=1)
    return labels_of(softmax(sharpness_of_truth * z), generator), members, np.sign(x)


def test_finds_weights_that_depend_on_the_instance_where_no_constant_ones_calibrate():
    verdicts = []
    for seed in range(3):
        labels, members, x = by_side(seed, 600)
        constant = credal_calibration_test(labels, members).pvalue
        verdicts.append((constant <= 0.05, instance_dependent_calibration_test(labels, members, x).reject(0.05)))
    assert [first for first, _ in verdicts] == [True] * 3
    assert sum(second for _, second in verdicts) <= 1


def test_rejects_where_no_weights_calibrate():
    for seed in range(2):
        labels, members, x = by_side(seed, 600, sharpness_of_truth=0.25)
        assert credal_calibration_test(labels, members).reject(0.05)
        assert instance_dependent_calibration_test(labels, members, x).reject(0.05)
        assert instance_dependent_calibration_test(labels, members, x, null="fixed").reject(0.05)


def test_weights_do_not_depend_on_the_labels_of_the_test_part():
    labels, members, x = in_the_family(1, 300)
    first = instance_dependent_calibration_test(labels, members, x, null="fixed", rng=4)
    changed = labels.copy()
    changed[first.test_rows] = np.random.default_rng(0).permutation(labels[first.test_rows])
    again = instance_dependent_calibration_test(changed, members, x, null="fixed", rng=4)
    assert (changed != labels).any()
    assert np.array_equal(first.test_rows, again.test_rows)
    assert np.array_equal(first.weights, again.weights)
    assert first.statistic != again.statistic
    changed = labels.copy()
    changed[first.training_rows] = (labels[first.training_rows] + 1) % 5
    other = instance_dependent_calibration_test(changed, members, x, null="fixed", rng=4)
    assert np.array_equal(first.test_rows, other.test_rows)
    assert not np.array_equal(first.weights, other.weights)


def test_fixed_null_is_the_single_test_of_the_learnt_combination():
    labels, members, x = in_the_family(2, 200)
    found = instance_dependent_calibration_test(
        labels, members, x, model=InstanceWeights(l2=1.0), null="fixed", fraction=0.6, measure="ece-classwise"
    )
    assert sorted([*found.training_rows, *found.test_rows]) == list(range(200))
    assert len(found.training_rows) == pytest.approx(120, abs=1)
    rows = found.training_rows
    learnt = InstanceWeights(l2=1.0).fit(members[rows], labels[rows], x[rows])
    probs = learnt.predict_proba(members[found.test_rows], x[found.test_rows])
    assert found.probs == pytest.approx(probs, abs=1e-12)
    assert found.weights == pytest.approx(learnt.weights(members[found.test_rows], x[found.test_rows]), abs=1e-12)
    single = calibration_test(labels[found.test_rows], probs, measure="ece-classwise", n_draws=999, rng=9)
    assert found.statistic == pytest.approx(single.statistic, abs=1e-12)
    assert found.pvalue == pytest.approx(single.pvalue, abs=0.12)
    assert found.null.mean() == pytest.approx(single.null.mean(), rel=0.1)
    assert (found.measure, found.notion, found.null_kind) == ("ece-classwise", "classwise", "fixed")


def test_refitted_null_has_the_error_of_learning():
    labels, members, x = in_the_family(3, 160)
    fixed = instance_dependent_calibration_test(labels, members, x, null="fixed")
    refitted = instance_dependent_calibration_test(labels, members, x)
    assert fixed.statistic == refitted.statistic
    assert refitted.null.mean() > fixed.null.mean()
    assert refitted.pvalue >= fixed.pvalue


def test_type_one_error_of_the_fixed_null_falls_to_the_level_as_the_training_part_grows():
    assert rate("fixed", 60, 240, 30, l2=1.0) > 0.2
    assert rate("fixed", 1500, 150, 30, l2=1.0) <= 0.05 + 2 * (0.05 * 0.95 / 30) ** 0.5


@pytest.mark.slow
def test_type_one_error_of_the_refitted_null():
    # a rate of .37 exceeds the bound with probability .95
    assert rate("refitted", 60, 120, 15, n_draws=19, l2=1.0) <= 0.05 + 2 * (0.05 * 0.95 / 15) ** 0.5


def test_groups_are_kept_together_and_taken_from_the_prediction():
    labels, members, x = in_the_family(4, 90)
    groups = np.repeat(np.arange(30), 3)
    found = instance_dependent_calibration_test(labels, members, x, null="fixed", groups=groups)
    assert not set(groups[found.training_rows]) & set(groups[found.test_rows])
    carried = uq.Members(members, groups=groups)
    assert np.array_equal(
        instance_dependent_calibration_test(labels, carried, x, null="fixed").test_rows, found.test_rows
    )


@pytest.mark.parametrize(("n", "fraction"), [(2, 0.5), (2, 0.01), (3, 0.99), (101, 0.3), (1000, 0.5)])
def test_parts_are_disjoint_and_have_the_wanted_size(n, fraction):
    strata = np.random.default_rng(n).integers(0, 4, n)
    first, second = two_parts(strata, fraction, None, np.random.default_rng(0))
    assert sorted([*first, *second]) == list(range(n))
    assert min(len(first), len(second)) >= 1
    if n > 10:
        assert abs(len(first) - fraction * n) <= 1
        shares = np.bincount(strata[first], minlength=4) - fraction * np.bincount(strata, minlength=4)
        assert np.abs(shares).max() <= 1
    chance = np.mean([0 in two_parts(strata, fraction, None, np.random.default_rng(s))[0] for s in range(400)])
    assert chance == pytest.approx(min(max(fraction, 1 / n), 1 - 1 / n), abs=0.1)


def test_ordinary_inputs():
    labels, members, x = in_the_family(5, 60)
    one = instance_dependent_calibration_test(labels, members[:, :1], x, n_draws=19)
    assert one.weights.tolist() == [[1.0]] * 30
    own = instance_dependent_calibration_test(labels, members.tolist(), model="mlp", null="fixed")
    assert own.weights.shape == (30, 4)
    given = instance_dependent_calibration_test(labels, members, x, model=InstanceWeights(l2=5.0), null="fixed")
    assert given.estimator.l2 == 5.0
    two = instance_dependent_calibration_test(labels[:2] % 2, members[:2, :, :2] / members[:2, :, :2].sum(2)[..., None])
    assert np.isfinite(two.pvalue)


LABELS, MEMBERS, X = in_the_family(6, 40)


@pytest.mark.parametrize(
    ("options", "refusal"),
    [
        ({"null": "best"}, ("null", "choice")),
        ({"model": "forest"}, ("model", "choice")),
        ({"fraction": 1.0}, ("fraction", "range", "got 1.0")),
        ({"features": X[:4]}, ("features", "mismatch")),
        ({"features": np.where(np.arange(40) == 37, np.nan, 1.0)}, ("features", "finite", "row 37 holds nan")),
        (
            {"features": np.ma.masked_array(X[:, 0], np.arange(40) == 5)},
            ("features", "masked"),
        ),
        ({"groups": np.zeros(40)}, ("groups", "range", "got 1")),
        ({"n_draws": 0}, ("n_draws", "range")),
    ],
)
def test_bad_input_is_refused(options, refusal):
    with refuses(*refusal):
        instance_dependent_calibration_test(LABELS, MEMBERS, **options)


def test_a_single_instance_is_refused():
    with refuses("y_true", "range", got="got 1"):
        instance_dependent_calibration_test(LABELS[:1], MEMBERS[:1])


@pytest.mark.parametrize("null", ["refitted", "fixed"])
def test_half_precision_and_impossible_labels(null):
    half = MEMBERS.astype(np.float16)
    for given in (half, uq.Members(half)):
        assert np.isfinite(instance_dependent_calibration_test(LABELS, given, X, null=null, n_draws=9).pvalue)
    never = np.concatenate([MEMBERS, np.zeros((40, MEMBERS.shape[1], 1))], axis=2)
    labels = np.where(np.arange(40) % 2 == 0, MEMBERS.shape[2], LABELS)
    found = instance_dependent_calibration_test(labels, never, X, null=null, n_draws=9, measure="log-loss")
    assert (found.statistic, found.pvalue) == (np.inf, 0.2)  # on both sides


def test_sentences():
    labels, members, x = by_side(0, 400, sharpness_of_truth=0.1)
    fixed = instance_dependent_calibration_test(labels, members, x, null="fixed")
    assert (
        fixed.sentence()
        == "The combination with the weights that were learnt does not have the right confidence (p = .01)."
    )
    assert fixed.sentence(0.005).startswith("99 draws are too few to tell at this level")
    found = instance_dependent_calibration_test(labels, members, x, n_draws=19, measure="ece-classwise")
    assert found.sentence() == (
        "No weights of the kind that was learnt give a combination with the right probabilities of single classes (p = .05)."
    )
    lucky = instance_dependent_calibration_test(*in_the_family(8, 200), null="fixed")
    assert lucky.sentence(0.01).startswith("The test could not tell the combination with learnt weights from one")
    alone = instance_dependent_calibration_test(labels[:2], members[:2], x[:2], null="fixed", measure="skce-ul")
    assert np.isnan(alone.pvalue)
    assert not alone.reject(0.05)
    assert alone.sentence().endswith("the measure is undefined for these labels with 1 case.")


def test_levels_out_of_reach_are_refused():
    found = instance_dependent_calibration_test(LABELS, MEMBERS, X, null="fixed", n_draws=9)
    with refuses("alpha", "needs-draws", got=r"the smallest p-value that n_draws=9 can reach is 0\.1"):
        found.reject(0.05)


def rate(null, n_training, n_test, n_samples, *, n_draws=99, l2=None, measure="kuiper-confidence"):
    """Share of data sets, with the truth in the family, in which the test rejects at level 5 %."""
    n, rejected = n_training + n_test, 0
    for seed in range(n_samples):
        labels, members, x = in_the_family(seed, n)
        rejected += instance_dependent_calibration_test(
            labels,
            members,
            x,
            measure=measure,
            null=null,
            fraction=n_training / n,
            n_draws=n_draws,
            model=InstanceWeights(l2=l2),
            rng=seed,
        ).reject(0.05)
    return rejected / n_samples


if __name__ == "__main__":
    N_SAMPLES = int(sys.argv[1]) if len(sys.argv) > 1 else 100
    MEASURE = sys.argv[2] if len(sys.argv) > 2 else "kuiper-confidence"
    SIZES = ((50, 50), (200, 200), (800, 800), (800, 200), (3200, 200))
    for sizes in SIZES:
        print("fixed", *sizes, f"{100 * rate('fixed', *sizes, 2 * N_SAMPLES, measure=MEASURE):.1f}", flush=True)
    for sizes in SIZES:
        print("refitted", *sizes, f"{100 * rate('refitted', *sizes, N_SAMPLES, measure=MEASURE):.1f}", flush=True)
