"""Pairs of models with a known difference of mean losses, on which tests with a margin are measured.

A world is a function of an rng. It gives the losses of a and b with equal true means, (n,) or (R, n), and options of
`paired_margin_test`; `margins` has a margin for each, which a difference of 0 is usually shown to keep.
"""

from dataclasses import dataclass, field

import numpy as np

from uqassay.statistics import (
    MeanLines,
    paired_margin_test,
    paired_mean_test,
    pairwise_mean_tests,
)

ICC = 0.3
FLOOR = 36.0
TYPICAL = 2 * 0.15  # mean of the ordinary losses


def light(n, skewed):
    """Losses of an ordinary size; skewed: the excess of a is exponential."""

    def world(rng):
        common = rng.exponential(size=n)
        excess = rng.exponential(size=n) - 1 if skewed else rng.normal(size=n)
        return common + excess, common, {}

    return world


def huge(n, share, *, floor=FLOOR):
    """a is better but for a share of losses near the floor; the means are equal."""

    def world(rng):
        a, b = rng.gamma(2, 0.15, size=(2, n))
        a = np.where(rng.random(n) < share, 0.9 * floor, a)
        return a, b + share * (0.9 * floor - TYPICAL), {"bound": floor}

    return world


def clusters(n_groups, *, equal):
    """Normal differences with correlation .3 inside groups of 20, or of 60 and ever fewer."""
    sizes = np.full(n_groups, 20) if equal else np.maximum(1, np.round(60 * 0.9 ** np.arange(n_groups))).astype(int)
    codes = np.repeat(np.arange(n_groups), sizes)

    def world(rng):
        excess = np.sqrt(ICC) * rng.normal(size=n_groups)[codes] + np.sqrt(1 - ICC) * rng.normal(size=codes.size)
        return excess, np.zeros(codes.size), {"groups": codes}

    return world


def runs(n_runs, *, sd=0.1, n=300):
    """Crossed effects of instances (sd 1, shared by both models), of the runs of each model and their interaction (sd .5)."""

    def world(rng):
        common = rng.normal(size=n)
        a, b = (
            common + sd * rng.normal(size=(n_runs, 1)) + 0.5 * rng.normal(size=(n_runs, n)) + 0.3 * rng.normal(size=n)
            for _ in range(2)
        )
        return a, b, {}

    return world


def worlds():
    """Name → world and margin."""
    found = {}
    for n in (100, 300, 2000):
        found[f"normal, n = {n:,}"] = light(n, False), 4 / n**0.5
        found[f"exponential excess, n = {n:,}"] = light(n, True), 4 / n**0.5
    for n in (100, 300, 2000):
        for share in (0.02, 0.005):
            found[f"{100 * share:g} % near the floor of {FLOOR:g} nats, n = {n:,}"] = huge(n, share), 1.0
    for n in (100, 300, 2000):
        found[f"2 % near a bound of 2, n = {n:,}"] = huge(n, 0.02, floor=2.0), 4 * 0.35 / n**0.5
    for n_groups in (10, 30):
        for equal in (True, False):
            found[f"{n_groups} groups {'of 20' if equal else 'of 60·.9^i'}"] = (
                clusters(n_groups, equal=equal),
                2 / n_groups**0.5,
            )
    for n_runs in (2, 3, 5):
        found[f"{n_runs} runs of sd .1, n = 300"] = runs(n_runs), 0.4
    return found


@dataclass
class Rates:
    """Shares of data sets: with a claim of each kind that is false, and with one that is true."""

    student: float = 0.0  # no worse, of a difference that is the margin, by Student's t alone
    no_worse: float = 0.0  # the same with all guards
    above: float = 0.0  # equivalent, of a difference that is the margin
    below: float = 0.0  # equivalent, of minus the margin
    false: dict[float, float] = field(
        default_factory=lambda: {-1.0: 0.0, 0.0: 0.0, 1.0: 0.0}
    )  # verdict, by difference/margin
    equal: float = 0.0  # equivalent or no worse, of equal means


TRUE = {  # verdicts that are true, by the true difference over the margin
    -1.0: ("better", "no worse", "cannot tell"),
    0.0: ("equivalent", "no worse", "cannot tell"),
    1.0: ("worse", "cannot tell"),
}


def rates(world, margin, *, n_samples, seed):
    """Of one world, at true differences of minus the margin, 0 and the margin."""
    rng, found = np.random.default_rng(seed), Rates()
    for _ in range(n_samples):
        a, b, options = world(rng)
        for times in found.false:
            test = paired_margin_test(a + times * margin, b, margin=margin, **options)
            found.false[times] += test.verdict not in TRUE[times]
            if times == 1.0:
                groups = options.get("groups")
                plain = paired_mean_test(a + margin, b, groups=groups, level=0.9).difference
                found.student += plain.high < margin
                found.no_worse += test.pvalue_no_worse <= test.alpha
                found.above += test.pvalue_equivalent <= test.alpha
            elif times == -1.0:
                found.below += test.pvalue_equivalent <= test.alpha
            else:
                found.equal += test.verdict in ("equivalent", "no worse")
    for name in ("student", "no_worse", "above", "below", "equal"):
        setattr(found, name, getattr(found, name) / n_samples)
    found.false = {times: count / n_samples for times, count in found.false.items()}
    return found


def shown(world, *, n_samples, seed):
    """How often a difference that one data set could have shown is shown by the next: of a greater and of a lower mean of a."""
    rng, counts = np.random.default_rng(seed), np.zeros(2)
    for _ in range(n_samples):
        a, b, options = world(rng)
        size = _smallest(a, b, **options)
        a, b, options = world(rng)
        for k, sign in enumerate((1, -1)):
            found = pairwise_mean_tests({"a": a + sign * size, "b": b}, **options)
            counts[k] += found.pvalue[0, 1] <= 0.05 and np.sign(found.difference[0, 1]) == sign
    return counts / n_samples


def _smallest(a, b, *, groups=None, bound=0.0):
    """`detectable_difference` without the numbers of instances and runs, which take longer."""
    lines = MeanLines({"a": (a,), "b": (b,)}, groups=groups)
    options = {"alphas": [0.05], "bounds": np.array([bound]), "extra": np.zeros(1), "plans": False}
    return lines.detectable((1.0,), ("a",), "b", **options)[0].difference


def print_rates(n_samples):
    """The table of error rates."""
    heads = ("differences", "margin", "Student alone", "no worse", "equivalent: a worse", "a better")
    print("|", " | ".join((*heads, "any false verdict", "told, of equal means")), "|")
    for name, (world, margin) in worlds().items():
        found = rates(world, margin, n_samples=n_samples, seed=20)
        cells = (found.student, found.no_worse, found.above, found.below, max(found.false.values()), found.equal)
        print(f"| {name} | {margin:.2g} |", " | ".join(f"{100 * share:.1f}" for share in cells), "|", flush=True)


def print_power(n_samples):
    """The table of the power of the detectable difference."""
    print("| differences | a is worse | a is better |")
    for name, (world, _) in worlds().items():
        cells = " | ".join(f"{100 * share:.1f}" for share in shown(world, n_samples=n_samples, seed=21))
        print(f"| {name} | {cells} |", flush=True)
