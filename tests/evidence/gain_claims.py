"""How often each kind of sentence on the gain makes a false claim, under studies in which there is nothing to find."""

import re
from dataclasses import dataclass, replace

import numpy as np
from tests.evidence.gain_data import made_study

from uqassay.evidence.gain_words import gain_sentences, read_gain


@dataclass(frozen=True)
class Claims:
    """Shares of studies with a false claim."""

    order: float  # that shuffled estimates order the gain, in either direction
    delay: float  # that shuffled estimates choose better or worse than a random choice
    not_calibrated: float  # that calibrated estimates are not calibrated
    size: float  # that calibrated estimates are too large or too small on average
    no_help: float  # that more data do harm, where they help by nothing: gains of mean 0


def claim_rates(n_studies, *, n_runs, n, bins=10, seed=0):
    """Rates over studies of independent runs; shuffled and calibrated estimates, and gains of mean 0."""
    counts, fast = np.zeros(5), {"bins": bins, "shares": (0.1,), "cross_fit": 0}
    for s in range(n_studies):
        options = {"n_runs": n_runs, "n": n, "calibration": False, "seed": (seed, s)}
        shuffled = read_gain(made_study("shuffled", **options).result(**fast))
        calibrated = read_gain(made_study("calibrated", **options).result(**fast))
        useless = read_gain(made_study("calibrated", useless=True, **options).result(**fast))
        counts += [
            shuffled.order in ("above", "below"),
            shuffled.delay.side in ("above", "below"),
            calibrated.raw.shown,
            calibrated.raw.excess in ("above", "below"),
            useless.gain in ("above", "below"),
        ]
    return Claims(*(counts / n_studies).tolist())


FALSE = {  # kind of estimates, and a false sentence
    "order": ("shuffled", re.compile("The estimates of .* order the gain")),
    "delay": (
        "shuffled",
        re.compile(r".*would gain more than|.*, (more|less) than|.*worse than a random choice", re.I),
    ),
    "not calibrated": ("calibrated", re.compile("The estimates of .* are not calibrated")),
    "size": ("calibrated", re.compile("The estimates of .* are too ")),
}


def list_rates(n_studies, *, n_methods, n_runs, n, bins=10, seed=0):
    """Share of studies in which a sentence over the estimates of all methods holds a false name."""
    counts = dict.fromkeys(FALSE, 0)
    for s in range(n_studies):
        said = {}
        for kind in ("shuffled", "calibrated"):
            more = {"n_runs": n_runs, "n": n, "calibration": False}
            studies = [one_score(made_study(kind, f"m{i}", seed=(seed, s, i), **more)) for i in range(n_methods)]
            said[kind] = gain_sentences(studies, bins=bins, shares=(0.1,), cross_fit=0)
        for name, (kind, words) in FALSE.items():
            counts[name] += any(words.match(one) for one in said[kind])
    return {name: count / n_studies for name, count in counts.items()}


def map_rates(n_studies, *, n_runs, n, bins=20, seed=0):
    """Cross-fitted maps: shares of studies that deny a rising map where there is one, and of maps said to lower the error of
    calibrated estimates, which a map can only raise.
    """
    counts = np.zeros(2)
    for s in range(n_studies):
        studies = [
            made_study(kind, n_runs=n_runs, n=n, calibration=False, seed=(seed, s)) for kind in ("large", "calibrated")
        ]
        large, calibrated = (read_gain(study.result(bins=bins, shares=(0.1,))) for study in studies)
        counts += [large.mapped.shown, calibrated.reduction == "above"]
    return dict(zip(("no rising map", "map lowers"), (counts / n_studies).tolist(), strict=True))


def one_score(study):
    """The study without the entropy, which is not calibrated where the mutual information is."""

    def alone(sample):
        return replace(sample, epistemic={"mutual-information": sample.epistemic["mutual-information"]})

    return replace(study, runs=tuple(replace(run, test=alone(run.test)) for run in study.runs))


if (
    __name__ == "__main__"
):  # PYTHONPATH=. python tests/evidence/gain_claims.py; prints the figures of docs/evidence-gain.md
    for runs, n in ((1, 300), (1, 2000), (6, 500)):
        print(f"{runs} × {n}, 400 studies:", claim_rates(400, n_runs=runs, n=n), flush=True)
    print("lists over 8 methods, 1 × 300, 200 studies:", list_rates(200, n_methods=8, n_runs=1, n=300), flush=True)
    print("cross-fitted maps, 1 × 300, 200 studies:", map_rates(200, n_runs=1, n=300), flush=True)
