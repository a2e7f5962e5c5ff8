"""Findings: intervals over runs and groups, parts of the instances."""

import numpy as np
import pytest
from tests.notes import said
from tests.refusals import refuses

import uqassay as uq

pytestmark = pytest.mark.usefixtures("without_calibration")


def test_training_runs_of_one_model_widen_its_interval(random_generator):
    y = random_generator.integers(3, size=400)

    def run(sharpness):
        logits = random_generator.normal(size=(400, 3)) + sharpness * np.eye(3)[y]
        return uq.Point.from_logits(logits)

    several = [run(s) for s in (1.0, 2.0, 3.0)]
    result = uq.assay({"runs": several, "one": run(2.0)}, y, n_draws=400)
    table = result.findings().query("model == 'runs' and metric == 'kl'").set_index("run")
    assert sorted(table.index) == ["1", "2", "3", "all"]
    assert table.estimate["all"] == pytest.approx(table.estimate[["1", "2", "3"]].mean())
    width = table.high - table.low
    assert width["all"] > 2 * width[["1", "2", "3"]].max()
    # and the winning probability is not certain, though each run alone beats or loses clearly
    assert 0.02 < result.win_shares([0.0])[0, 0] < 0.98
    assert result["runs"].n_runs == 3
    assert "3 runs" in said(table.loc["all"])


def test_groups_are_resampled_as_a_whole(random_generator):
    # twenty patients, each with fifty copies of one case: only twenty independent values
    cases = random_generator.dirichlet(np.ones(3), 20)
    y = np.zeros(1000, dtype=int)
    groups = np.repeat(np.arange(20), 50)
    model = uq.Point(np.repeat(cases, 50, axis=0))
    plain = uq.assay({"m": model}, y).findings().query("model == 'm' and metric == 'kl'").iloc[0]
    grouped = uq.assay({"m": model}, y, groups=groups).findings().query("model == 'm' and metric == 'kl'").iloc[0]
    distinct = uq.assay({"m": uq.Point(cases)}, y[:20]).findings().query("model == 'm' and metric == 'kl'").iloc[0]
    assert plain.estimate == pytest.approx(grouped.estimate)
    assert grouped.high - grouped.low == pytest.approx(distinct.high - distinct.low, rel=1e-6)
    assert "20 groups" in said(grouped)


def test_subgroups_and_classes(all_kinds):
    models, y = all_kinds
    site = np.array(["north", "south"])[np.arange(60) % 2]
    result = uq.assay(models, y, subgroups={"site": site}, tradeoffs=(1.0,), n_draws=20)
    table = result.table("subsets", by="site").query("model == 'Members' and metric == 'kl'").set_index("subset")
    north = uq.losses.unified_loss(y[::2], models["Members"][::2])
    assert table.estimate["north"] == pytest.approx(north.distance.mean())
    assert set(result.table("subsets", by="class").subset) == {"0", "1", "2", "3"}
    with refuses("by", "choice", got="got 'age'"):
        result.table("subsets", by="age")


def test_calibration_errors_have_intervals_over_runs_and_groups(random_generator):
    probs = random_generator.dirichlet(np.ones(3), (2, 120))
    y, groups = random_generator.integers(3, size=120), np.arange(120) // 6
    models = {"two": [uq.Point(p) for p in probs], "one": uq.Point(probs[0])}
    for units in (None, groups):
        result = uq.assay(models, y, groups=units)
        found = result.findings().set_index(["model", "metric", "run"])
        for metric, norm in (("ece", "l1"), ("rms-calibration-error", "l2")):
            row = found.loc["one", metric, "all"]
            alone = uq.metrics.calibration_error_estimate(y, probs[0], norm=norm, groups=units)
            assert (row.estimate, row.low, row.high) == (float(alone), alone.low, alone.high)
            every = np.tile(np.arange(120) if units is None else units, 2)
            pooled = uq.metrics.calibration_error_estimate(
                np.tile(y, 2), probs.reshape(240, 3), norm=norm, groups=every
            )
            row = found.loc["two", metric, "all"]
            assert (row.estimate, row.low, row.high) == (float(pooled), pooled.low, pooled.high)
            assert "2 runs" in said(row)
            assert ("20 groups" in said(row)) == (units is not None)
            assert "120 groups" not in said(row)
        diagram = result.reliability("one")
        expected = uq.metrics.reliability_diagram(y, probs[0], groups=units)
        np.testing.assert_array_equal(diagram.band_low, expected.band_low)


def test_intervals_of_losses_do_not_go_below_zero_nor_beyond_their_bound():
    """One huge loss among ten: Hall's and Student's intervals of the mean would be negative."""
    probs = np.full((10, 3), [0.998, 0.001, 0.001])
    sets = np.stack([probs, probs[:, ::-1]], axis=1)
    labels = [0] * 9 + [1]
    found = uq.assay({"point": uq.Point(probs), "set": uq.Members(sets)}, labels, n_draws=10, calibration=())
    for row in found.rows("findings"):
        if (
            row["metric"] in ("unified", "distance", "kl", "log-loss", "brier", "nonspecificity")
            and row["low"] == row["low"]
        ):
            assert 0 <= row["low"] <= row["high"] <= (2 if row["metric"] == "brier" else np.inf), row
    assert all(row["low"] >= 0 for row in found.rows("ranking") if row["low"] == row["low"])
    for metric in ("unified", "log-loss", "brier", "nonspecificity"):
        assert uq.metrics.prediction_metric([*labels[:2], 1], sets[:3], metric=metric).low >= 0
    wrong = uq.metrics.prediction_metric([1, 1, 0], uq.Point(probs[:3]), metric="brier")
    assert wrong.high == 2.0
    assert uq.metrics.mean_set_size(uq.ClassSets(np.array([[1, 1, 1], [1, 0, 0]]))).low == 0.0
