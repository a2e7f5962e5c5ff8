"""Power of the calibration tests of one classifier against under- and overconfidence, by measure.

The test measures a few cells. The command measures all and prints the table of docs/evidence-calibration.md, with tests of
MAPIE and calzone where these packages are installed:

    python -m tests.calibration.test_measures_power [data sets] [classes,...] [instances,...] [measure,... or none]
    python -m tests.calibration.test_measures_power sets [data sets]
"""

import importlib
import sys
from functools import partial

import numpy as np
import pytest

from tests.calibration.made_up_data import softmax
from tests.calibration.test_calibration_error_rates import Cell, data_set
from uqassay.calibration.credal import credal_calibration_test
from uqassay.calibration.nulls import labels_from, monte_carlo_pvalue
from uqassay.calibration.power import Miscalibration
from uqassay.metrics.measures import calibration_measure
from uqassay.metrics.reliability_diagrams import classes_apart

MEASURES = (
    "ece-confidence",
    "ks-confidence",
    "kuiper-confidence",
    "ece-classwise",
    "ks-classwise",
    "hosmer-lemeshow",
    "brier",
    "log-loss",
)
SCALE = {2: 2.0, 10: 3.5, 100: 5.0}  # of the logits: the accuracy is about .8
MAPIE = ("spiegelhalter_p_value", "kolmogorov_smirnov_p_value", "kuiper_p_value")
CALZONE = ("SpiegelhalterZ", "HL-H", "HL-C")


def reweighted(probs, weights):
    shares = probs * weights
    return shares / shares.sum(axis=1, keepdims=True)


def shifted(probs):
    """Every second class is more frequent, the others less."""
    return reweighted(probs, np.where(np.arange(probs.shape[1]) % 2, np.exp(0.2), np.exp(-0.2)))


def crossing(probs):
    """Overconfident above the median confidence, underconfident below."""
    sharp = probs.max(axis=1, keepdims=True) > np.median(probs.max(axis=1))
    return np.where(sharp, Miscalibration.temperature(1.4).truth(probs), Miscalibration.temperature(0.75).truth(probs))


TRUTHS = {
    "none": Miscalibration.none().truth,
    **{f"T = {t:g}": Miscalibration.temperature(t).truth for t in (0.6, 0.8, 0.9, 1.1, 1.25, 1.5)},
    "classes": shifted,
    "crossing": crossing,
}


def rejections(k, n, n_sets, measures=MEASURES, n_draws=199, truths=TRUTHS):
    """Share of data sets in which each measure rejects at 5 %, (measure, truth) -> share. All truths share the null draws."""
    counts = {}
    for run in range(n_sets):
        rng = np.random.default_rng([run, k, n])
        probs = softmax(SCALE[k] * rng.standard_normal((n, k)))
        drawn = labels_from(probs, n_draws, rng)
        observed = {name: labels_from(truth(probs), 1, rng)[0] for name, truth in truths.items()}
        tests = {name: partial(_pvalue, *_null(name, probs, drawn)) for name in measures}
        tests |= {name: partial(_peer, function, probs) for name, function in peers().items()}
        for name, test in tests.items():
            for truth, labels in observed.items():
                counts[name, truth] = counts.get((name, truth), 0) + (test(labels) <= 0.05)
    return {cell: count / n_sets for cell, count in counts.items()}


def _null(name, probs, drawn):
    measure = calibration_measure(name)
    prepared = measure.prepare(classes_apart(probs))
    null = np.concatenate([prepared.values(part) for part in np.array_split(drawn, max(1, len(drawn) // 20))])
    return measure, prepared, null


def _pvalue(measure, prepared, null, labels):
    return monte_carlo_pvalue(float(prepared.values(labels)), null, measure.sides)


def peers():
    """Tests of MAPIE and calzone: is the predicted class right as often as its confidence says?"""
    found = {}
    try:
        mapie = importlib.import_module("mapie.metrics.calibration")
    except ImportError:
        pass
    else:
        found |= {f"MAPIE {name.removesuffix('_p_value').replace('_', ' ')}": getattr(mapie, name) for name in MAPIE}
    try:
        calzone = importlib.import_module("calzone.metrics")
    except ImportError:
        pass
    else:
        found |= {f"calzone {name}": partial(_calzone, calzone.CalibrationMetrics(), name) for name in CALZONE}
    return found


def _calzone(metrics, name, right, confidence):
    """p-value of calzone with its defaults, for two classes: the predicted one is wrong or right."""
    probs = np.column_stack([1 - confidence, confidence])
    return metrics.calculate_metrics(right, probs, metrics=[name])[f"{name} p-value"]


def _peer(function, probs, labels):
    return float(function((probs.argmax(axis=1) == labels).astype(int), probs.max(axis=1)))


def members_of_one_mean(k, n, temperature, run):
    """Five members with similar logits, and labels from their mean at this temperature."""
    rng = np.random.default_rng([run, n, k, 5])
    logits = SCALE[k] * rng.standard_normal((n, 1, k))
    members = softmax(logits + 0.3 * rng.standard_normal((n, 5, k)))
    truth = Miscalibration.temperature(temperature).truth(members.mean(axis=1))
    return members, labels_from(truth, 1, rng)[0]


def set_rejections(data_sets, measure, n_draws=99):
    """Share of sets of members that are rejected at 5 %, and the median spread of independent searches."""
    tests = [
        credal_calibration_test(labels, members, measure=measure, n_draws=n_draws, rng=run)
        for run, (members, labels) in enumerate(data_sets)
    ]
    return np.mean([test.pvalue <= 0.05 for test in tests]), np.median([test.search_spread for test in tests])


@pytest.mark.slow
def test_both_directions_are_seen():
    truths = {name: TRUTHS[name] for name in ("none", "T = 0.8", "T = 1.25")}
    measures = ("kuiper-confidence", "hosmer-lemeshow", "brier", "log-loss")
    found = rejections(10, 800, 20, measures, n_draws=99, truths=truths)
    for measure in measures:
        assert found[measure, "none"] <= 0.05 + 3.3 * (0.05 * 0.95 / 20) ** 0.5
        assert min(found[measure, "T = 0.8"], found[measure, "T = 1.25"]) > (
            0.1 if measure == "hosmer-lemeshow" else 0.7
        )


def main(n_sets, classes, sizes, measures):
    print("| K | n | test |", " | ".join(TRUTHS), "|")
    print("|---" * (3 + len(TRUTHS)) + "|")
    for k in classes:
        for n in sizes:
            found = rejections(k, n, n_sets, measures)
            for name in dict.fromkeys(name for name, _ in found):
                print(
                    f"| {k} | {n} | {name} |",
                    " | ".join(f"{100 * found[name, t]:.0f}" for t in TRUTHS),
                    "|",
                    flush=True,
                )


def main_sets(n_sets):
    print("| labels come from | ece-confidence | kuiper-confidence |\n|---|---|---|")
    worlds = {f"the mean with T = {t:g}": partial(members_of_one_mean, 10, 300, t) for t in (0.8, 1.25)}
    for k in (3, 10):
        cell = Cell("outside", "", "minimised", m=k, k=k)
        worlds[f"outside, M = K = {k}"] = lambda run, cell=cell, k=k: data_set(
            cell, np.random.default_rng([run, cell.n, k, k, 100])
        )
    for name, world in worlds.items():
        data_sets = [world(run) for run in range(n_sets)]
        found = [set_rejections(data_sets, measure) for measure in ("ece-confidence", "kuiper-confidence")]
        print(
            f"| {name} |", " | ".join(f"{100 * share:.0f} ({spread:.2f})" for share, spread in found), "|", flush=True
        )


if __name__ == "__main__":
    if sys.argv[1:2] == ["sets"]:
        main_sets(int(sys.argv[2]) if len(sys.argv) > 2 else 40)
        sys.exit()
    numbers = [[int(x) for x in argument.split(",")] for argument in sys.argv[1:4]]
    usual = [[100], [2, 10, 100], [500, 2000, 10000]]
    (n_sets,), classes, sizes = [*numbers, *usual[len(numbers) :]]
    names = MEASURES if len(sys.argv) < 5 else tuple(name for name in sys.argv[4].split(",") if name != "none")
    main(n_sets, classes, sizes, names)
