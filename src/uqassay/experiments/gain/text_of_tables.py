"""Tables 1 and 2 of paper 002 as text, with the printed rows, and the known truth of the toy data."""

from collections.abc import Sequence

import numpy as np

from uqassay.experiments.gain.tables import ESTIMATORS, GainRow, OurValues
from uqassay.metrics import TrueUncertainty
from uqassay.metrics.run_summaries import spearman
from uqassay.wording import ABSENT, count, counted, interval, number, percent, text_table

__all__ = ["size_line", "table_lines", "truth_lines"]

COLUMNS = {"correlation": "ρ_epi", "eece": "EECE", "calibrated": "calibrated"}
SIZES = ("D_train", "D_aug", "D_test", "D_train2", "D_aug2", "D_test2")
PARTS = ("total", "aleatoric", "epistemic")
WORDS = {"mutual-information": "mutual information", "entropy": "entropy"}


def table_lines(rows: Sequence[GainRow]) -> list[str]:
    """The table of the methods on one data set: mean ± standard deviation over the runs, intervals, printed numbers.

    Parameters
    ----------
    rows : sequence of GainRow
        Of one data set and one spread.
    """
    header = ["", *(text for name in COLUMNS.values() for text in (name, "95 %")), "debiased", "in bits"]
    body = []
    for row in rows:
        for estimator in row.estimators:
            shown = [f"{row.method.label}, {WORDS[estimator]}"]
            for column in COLUMNS:
                ours = row.values.get((estimator, column))
                shown += [ABSENT, ABSENT] if ours is None else [_mean_sd(float(ours.estimate), ours.sd), _ends(ours)]
            shown += [number(float(row.values[estimator, column].estimate)) for column in ("debiased", "eece-bits")]
            body.append(shown)
    for estimator in ESTIMATORS:
        printed = [rows[0].printed(estimator, column) for column in COLUMNS]
        if any(one is not None for one in printed):
            texts = [ABSENT if one is None else _mean_sd(one.mean, one.sd) for one in printed]
            body.append([f"printed, {WORDS[estimator]}", *(t for text in texts for t in (text, "")), "", ""])
    return text_table(header, body)


def truth_lines(rows: Sequence[GainRow]) -> list[str]:
    """What is known on toy data: true uncertainties of D_test, how estimates follow the true EU, and how the gain follows it.

    The gain of an instance is one draw, so that even the true EU in place of an estimate has a small correlation with it.
    """
    known = [row for row in rows if all(run.test.truth is not None for run in row.study.runs)]
    if not known:
        return []
    followers = (*(f"{WORDS[name]}, ρ with EU" for name in ESTIMATORS), "EU, ρ with the gain", "gain other than 0")
    header = ("", "U", "A", "EU", "gain", *followers)
    body = []
    for row in known:
        means = {part: np.mean([getattr(run.test.truth, part).mean() for run in row.study.runs]) for part in PARTS}
        gains = [run.test.gain["zero-one"] for run in row.study.runs]
        gain = np.mean([one.mean() for one in gains])
        changed = np.mean([(one != 0).mean() for one in gains])
        limit = np.array([float(spearman(t.epistemic, g)) for t, g in zip(_truths(row), gains, strict=True)])
        spread = float(limit.std(ddof=1)) if len(limit) > 1 else float("nan")
        followed = [row.values.get((name, "truth")) for name in ESTIMATORS]
        texts = [ABSENT if one is None else _mean_sd(float(one.estimate), one.sd) for one in followed]
        last = _mean_sd(float(limit.mean()), spread), percent(float(changed))
        body.append((row.method.label, *(number(float(v)) for v in (*means.values(), gain)), *texts, *last))
    return ["True uncertainty of the test instances, mean over the runs:", *text_table(header, body)]


def size_line(row: GainRow) -> str:
    """Sizes of the parts of the first run."""
    run = row.study.runs[0]
    sizes = ", ".join(f"{name} {count(run.sizes[name])}" for name in SIZES if name in run.sizes)
    return f"{row.label}: {counted(row.study.n_runs, 'run')}; {sizes} in the first"


def _truths(row: GainRow) -> list[TrueUncertainty]:
    return [run.test.truth for run in row.study.runs if run.test.truth is not None]


def _mean_sd(mean: float, sd: float) -> str:
    return number(mean) if np.isnan(sd) else f"{number(mean)} ± {number(sd)}"


def _ends(ours: OurValues) -> str:
    return interval(ours.estimate.low, ours.estimate.high)
