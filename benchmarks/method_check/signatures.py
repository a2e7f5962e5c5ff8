"""The promises of the methods' papers: for each the rule, the measurement and the verdict.

A rule about an order is judged by a 95 % interval: held if the interval lies on the promised side, not held if it lies on the
other, open if it contains the boundary. A rule about every number is judged by the worst one.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Literal, final

import numpy as np
from numpy.typing import NDArray

from uqassay.lab.bench.store import StoredResult
from uqassay.losses import is_correct, log_loss
from uqassay.measures import entropy, entropy_decomposition
from uqassay.metrics import ood_auc_score
from uqassay.metrics.ood import ood_auc_estimate, two_samples
from uqassay.predictions import Point
from uqassay.statistics import Estimate, mean_estimate, paired_mean_test
from uqassay.text import count, estimate_text, interval, number, percent

__all__ = ["Results", "Signature", "signatures_of"]

Verdict = Literal["held", "not held", "open"]
Results = Mapping[str, Sequence[StoredResult]]
Floats = NDArray[np.float64]

ROUNDING = 1e-6  # error allowed to predictions in double precision of networks in single precision
MOST_VARIATION = 0.05  # total variation of the bridge's mean: five points of probability
MOST_ENTROPY = 0.1  # error of the bridge's entropies in nats: less than a twentieth of ln 10


@final
@dataclass(frozen=True)
class Signature:
    """A promise on a data set.

    Attributes
    ----------
    name : str
        Method and promise.
    rule : str
        The condition under which it holds.
    measured : str
        The figures in words.
    verdict : {"held", "not held", "open"}
    figures : dict of str to float
        The figures as numbers; an `Estimate` if there is an interval.
    """

    name: str
    rule: str
    measured: str
    verdict: Verdict
    figures: dict[str, float]


def signatures_of(found: Results, left_out: Mapping[str, Mapping[int, StoredResult]]) -> list[Signature]:
    """Every promise of the given methods, on one data set.

    Parameters
    ----------
    found : dict of str to list of StoredResult
        By method, one for each training.
    left_out : dict of str to dict of int to StoredResult
        By method and by the class left out of the training.

    Returns
    -------
    list of Signature
    """
    signatures = _ensemble("deep-ensemble", found["deep-ensemble"]) if "deep-ensemble" in found else []
    for start, where in (("mc-dropout-", "all layers"), ("dropout-last-", "the last layer")):
        rates = {float(name.removeprefix(start)): found[name] for name in found if _is_rate(name, start)}
        if len(rates) > 1:
            signatures.append(_spread(where, dict(sorted(rates.items()))))
    if "evidential" in left_out:
        signatures.append(_left_out("evidential", "vacuity", left_out["evidential"]))
    if "evidential" in found:
        signatures += [
            _vacuity(found["evidential"], "shuffled", "test instances with their pixels shuffled"),
            _vacuity(found["evidential"], "noise", "uniform noise"),
        ]
    if "ddu" in left_out:
        signatures.append(_left_out("ddu", "negative-log-density", left_out["ddu"]))
    for name, judge in (("creinn", _intervals), ("e-cnn", _masses), ("rs-nn", _masses), ("laplace-bridge", _bridge)):
        if name in found:
            signatures.append(judge(name, found[name]))
    return signatures


# ---- ensembles and dropout -------------------------------------------------------------------------------------------


def _ensemble(name: str, runs: Sequence[StoredResult]) -> list[Signature]:
    """The average against its members, instance by instance.

    The log loss is convex, so the average has a lower one than the members' mean whenever they differ.
    """
    accuracy, loss, beaten, total = [], [], 0, 0
    for run in runs:
        members: Any = run.prediction
        alone = [Point(members.probs[:, m]) for m in range(members.n_members)]
        own_loss, losses = log_loss(run.labels, members), np.array([log_loss(run.labels, one) for one in alone])
        correct = np.array([is_correct(run.labels, one) for one in alone])
        accuracy.append(is_correct(run.labels, members) - correct.mean(axis=0))
        loss.append(losses.mean(axis=0) - own_loss)
        beaten += int((losses.mean(axis=1) > own_loss.mean()).sum())
        total += len(alone)
    gain, saved = mean_estimate(np.array(accuracy)), mean_estimate(np.array(loss))
    return [
        Signature(
            f"{name}: the average is right more often than its members",
            "accuracy above the members' mean",
            f"accuracy {_points(gain)}",
            _side([gain]),
            {"accuracy-gain": gain},
        ),
        Signature(
            f"{name}: the average has a lower log loss than its members",
            "log loss below the members' mean",
            f"lower by {_shown(saved)}, and lower than that of {beaten} of {total} members",
            _side([saved]),
            {"log-loss-gain": saved, "members-beaten": beaten / total},
        ),
    ]


def _spread(where: str, rates: Mapping[float, Sequence[StoredResult]]) -> Signature:
    """Mutual information of the passes, and its step from each rate to the next."""
    spread = {
        rate: np.array([entropy_decomposition(run.prediction).epistemic for run in runs])
        for rate, runs in rates.items()
    }
    means = {rate: mean_estimate(values) for rate, values in spread.items()}
    order = list(spread)
    steps = [paired_mean_test(spread[b], spread[a]).difference for a, b in pairwise(order)]
    return Signature(
        f"mc-dropout in {where}: the spread grows with the rate",
        "mutual information greater at each rate than at the one before",
        ", ".join(number(float(mean), 4) for mean in means.values())
        + f" nats at {', '.join(f'{rate:g}' for rate in order)}; least step {_shown(min(steps, key=lambda s: s.low), 4)}",
        _side(steps),
        {f"spread-at-{rate:g}": mean for rate, mean in means.items()},
    )


def _is_rate(name: str, start: str) -> bool:
    return name.startswith(start) and name.removeprefix(start).replace(".", "", 1).isdigit()


# ---- off the distribution --------------------------------------------------------------------------------------------


def _left_out(name: str, score: str, by_class: Mapping[int, StoredResult]) -> Signature:
    """ROC-AUC of each left-out class against the test instances of the other classes."""
    areas, of_softmax, inside, outside = {}, [], [], []
    for k, run in by_class.items():
        out = run.labels == k
        values = run.scores[score]
        areas[k] = ood_auc_score(out, values)
        uncertain = entropy(run.prediction.mean_probs())
        of_softmax.append(float(ood_auc_score(out, uncertain)))
        inside.append(float(values[~out].mean()))
        outside.append(float(values[out].mean()))
    worst = min(areas, key=lambda k: float(areas[k]))
    mean = mean_estimate(list(areas.values())) if len(areas) > 1 else areas[worst]
    over = f" over {len(areas)} classes, least {_shown(areas[worst])}" if len(areas) > 1 else ""
    told = "vacuity" if score == "vacuity" else "density"
    levels = f"; mean {told} {np.mean(outside):.2f} there, {np.mean(inside):.2f} on the others" * (score == "vacuity")
    return Signature(
        f"{name}: {told} tells a class left out of the training",
        "ROC-AUC above 1/2 for each class",
        f"ROC-AUC {_shown(mean)}{over} (class {worst}){levels}; by the entropy of the mean prediction "
        f"{np.mean(of_softmax):.3f}",
        _side(list(areas.values()), boundary=0.5),
        {"auc": mean, "auc-of-the-least-class": areas[worst], "auc-of-the-entropy": float(np.mean(of_softmax))},
    )


def _vacuity(runs: Sequence[StoredResult], kind: str, what: str) -> Signature:
    """ROC-AUC of the vacuity on changed inputs against the test instances, and the size of those inputs."""
    sides = [(run.scores["vacuity"], run.scores[f"vacuity-{kind}"]) for run in runs]
    samples = [two_samples(np.repeat([0, 1], [len(i), len(o)]), np.concatenate([i, o])) for i, o in sides]
    area = ood_auc_estimate(samples)
    here, there, size, size_there = (
        float(np.mean([run.scores[name].mean() for run in runs]))
        for name in ("vacuity", f"vacuity-{kind}", "size", f"size-{kind}")
    )
    return Signature(
        f"evidential: vacuity is higher on {what}",
        "ROC-AUC above 1/2",
        f"ROC-AUC {_shown(area)}; mean vacuity {there:.2f} there, {here:.2f} on the test instances; inputs of size "
        f"{size_there:.1f}, of those {size:.1f}",
        _side([area], boundary=0.5),
        {"auc": area, "vacuity": there, "vacuity-on-test": here, "size": size_there, "size-on-test": size},
    )


# ---- intervals, masses, the bridge -----------------------------------------------------------------------------------


def _intervals(name: str, runs: Sequence[StoredResult]) -> Signature:
    outside = np.concatenate([run.scores["outside"] for run in runs])
    said: list[Any] = [run.prediction for run in runs]
    lower, upper = (np.concatenate([getattr(one, bound) for one in said]) for bound in ("lower", "upper"))
    faults = [
        outside.max(), (lower - upper).max(), -lower.min(), (upper - 1).max(),
        (lower.sum(axis=1) - 1).max(), (1 - upper.sum(axis=1)).max(),
    ]  # fmt: skip
    worst = max(0.0, float(max(faults)))
    width = float((upper - lower).mean())
    return Signature(
        f"{name}: intervals hold the middle prediction and are valid",
        f"no bound off by more than {ROUNDING:g}: 0 ≤ lower ≤ middle ≤ upper ≤ 1, Σ lower ≤ 1 ≤ Σ upper",
        f"{count(int((outside <= ROUNDING).sum()))} of {count(len(outside))} instances hold it, worst bound off by "
        f"{worst:.0e}, mean width {number(width)}",
        "held" if worst <= ROUNDING else "not held",
        {"worst-excess": worst, "mean-width": width},
    )


def _masses(name: str, runs: Sequence[StoredResult]) -> Signature:
    said: list[Any] = [run.prediction for run in runs]
    least = min(float(one.masses.min()) for one in said)
    off = max(float(np.abs(one.masses.sum(axis=1) - 1).max()) for one in said)
    rows = sum(len(one.masses) for one in said)
    figures: dict[str, float] = {"least-mass": least, "sum-off": off}
    before = ""
    if all("least-raw-mass" in run.scores for run in runs):
        negative = float(np.mean([(run.scores["least-raw-mass"] < -ROUNDING).mean() for run in runs]))
        before = f", before the projection {percent(negative, 0)} of the rows had a negative one"
        figures["negative-before"] = negative
    return Signature(
        f"{name}: masses are valid{' after projection' * bool(before)}",
        f"no mass below 0, sums within {ROUNDING:g} of 1",
        f"least of {count(rows)} rows {least:.0e}, sums off by at most {off:.0e}{before}",
        "held" if least >= 0 and off <= ROUNDING else "not held",
        figures,
    )


def _bridge(name: str, runs: Sequence[StoredResult]) -> Signature:
    error = {key: mean_estimate(np.array([run.scores[key] for run in runs])) for key in runs[0].scores}
    limits = [error["mean-variation"] / MOST_VARIATION, error["total-entropy"] / MOST_ENTROPY]
    highest = [error["mean-variation"].high / MOST_VARIATION, error["total-entropy"].high / MOST_ENTROPY]
    return Signature(
        f"{name}: the Dirichlet agrees with draws from the same Gaussian",
        f"mean total variation of the means at most {MOST_VARIATION:g}, of their entropies at most {MOST_ENTROPY:g} nats",
        f"total variation {_shown(error['mean-variation'])} (of it by the draws {float(error['draws-variation']):.3f}), "
        f"entropy of the mean off by {_shown(error['total-entropy'])} nats, mean entropy by "
        f"{_shown(error['aleatoric-entropy'])}",
        "not held" if max(limits) > 1 else "held" if max(highest) <= 1 else "open",
        dict(error),
    )


# ---- helpers ---------------------------------------------------------------------------------------------------------


def _side(estimates: Sequence[Estimate], boundary: float = 0.0) -> Verdict:
    """Held if all intervals lie above the boundary, not held if one lies below it."""
    if all(one.low > boundary for one in estimates):
        return "held"
    return "not held" if any(one.high < boundary for one in estimates) else "open"


def _shown(estimate: Estimate, digits: int = 3) -> str:
    return estimate_text(float(estimate), estimate.low, estimate.high, decimals=digits)


def _points(estimate: Estimate) -> str:
    """A difference of accuracies in percentage points, with its sign."""
    low, high = 100 * estimate.low, 100 * estimate.high
    return f"{'+' if estimate >= 0 else ''}{number(100 * float(estimate), 2)} points ({interval(low, high, 2)})"
