"""Made-up studies of the gain whose expected gain is known for every instance."""

import numpy as np

from uqassay.evidence import GainRun, GainSample, GainStudy

LOST = 0.03  # chance that more data turn a right prediction into a wrong one


def made_sample(kind, rng, n=600, *, groups=None, truth=False, useless=False):
    """Gains with expectation e(x), and estimates of e(x) that are calibrated or not, by their kind.

    "calibrated": e(x) itself. "large": e(x) + 0.2. "shuffled": e of other instances. "constant": 0.1. "reversed": 0.5 − e(x).
    With `useless` e(x) is 0 everywhere, and the estimates are noise.
    """
    expected = 0.4 * rng.beta(1.0, 3.0, n)
    noise = expected
    expected = np.zeros(n) if useless else expected
    u = rng.random(n)
    won, lost = u < expected + LOST, u > 1 - LOST
    before = ~won & (lost | (rng.random(n) < 0.85))
    after = won | (before & ~lost)
    epistemic = {
        "calibrated": noise,
        "large": expected + 0.2,
        "shuffled": rng.permutation(expected),
        "constant": np.full(n, 0.1),
        "reversed": 0.5 - expected,
    }[kind]
    given = np.repeat(np.arange(-(-n // groups)), groups)[:n] if groups else None
    return GainSample(
        {"zero-one": after.astype(float) - before},
        {"mutual-information": epistemic, "entropy": np.sqrt(np.clip(epistemic, 0, None))},
        before,
        after,
        None if not truth else true_parts(expected),
        given,
    )


def true_parts(expected):
    from uqassay.metrics.epistemic_gain import TrueUncertainty

    return TrueUncertainty(expected + 0.1, np.full(len(expected), 0.1), expected)


def made_study(
    kind="calibrated", method="made up", *, dataset="toy", n_runs=3, n=600, seed=0, calibration=True, **more
):
    """A study of some runs; the calibration samples are of the same kind as the test samples."""
    rng = np.random.default_rng(seed)
    runs = []
    for r in range(n_runs):
        test = made_sample(kind, rng, n, **more)
        own = made_sample(kind, rng, n, **more) if calibration else None
        runs.append(GainRun(r, test, own, {"train": 5 * n, "augmented": 7 * n, "test": n}))
    return GainStudy(method, dataset, tuple(runs), facts={"instances": n})
