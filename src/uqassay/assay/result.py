"""What an assay found: findings, rankings, breakpoints, comparisons, all from the same numbers."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtri

from uqassay.assay.scoring import ModelScores, SetSample, Settings
from uqassay.errors import InputError, MissingDependencyError
from uqassay.metrics.calibration_error import Reliability, expected_calibration_error, reliability
from uqassay.metrics.selection import lower_envelope, ranking_changes, tradeoff_scale
from uqassay.statistics import (
    Estimate,
    PairedComparison,
    bootstrap_run_means,
    compare_to_best,
    mean_estimate,
    paired_mean_test,
    proportion_estimate,
    winning_probability,
)

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["FINDING_COLUMNS", "Assay", "Ranked"]

Array = NDArray[np.float64]
FINDING_COLUMNS = [
    *("model", "run", "metric", "score", "tradeoff", "convention"),
    *("estimate", "low", "high", "level", "n", "method", "note"),
]


MEAN_INTERVAL = "hall"  # losses are skewed: the method with the best measured coverage, see `mean_estimate`


def _skewed_mean(values: Array, **options: Any) -> Estimate:
    return mean_estimate(values, method=MEAN_INTERVAL, **options)


def _one_run(values: Array) -> Array:
    """A single run as ``(n,)``, for which no spread between runs is claimed."""
    return values if len(values) > 1 else values[0]


@dataclass(frozen=True)
class Ranked:
    """One model's place at one λ.

    Attributes
    ----------
    model : str
    rank : int or None
        1 for the lowest mean E; None for a baseline.
    estimate : Estimate
        Mean E with its interval.
    win_probability : float or None
        Share of paired bootstrap draws in which the model has the lowest mean E; None for a baseline.
    difference : Estimate
        Mean E minus that of the best model.
    pvalue, pvalue_holm : float
        Paired test of that difference; adjusted over the other models. nan for the best model.
    below : tuple of str
        Baselines with a lower mean E: the model is no better than saying that.
    """

    model: str
    rank: int | None
    estimate: Estimate
    win_probability: float | None
    difference: Estimate
    pvalue: float
    pvalue_holm: float
    below: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class Assay:
    """Evidence about one or more classifiers on one test set; made by `assay`, kept by `save`, shown by `to_html`.

    Attributes
    ----------
    models : tuple of ModelScores
        The models in the order given, then the baselines "vacuous" and "class-prior".
    labels : int array (n,) or array (n, K)
    class_names : tuple of str
    ids, groups : array (n,) or None
    subgroups : dict of str to array (n,)
    tradeoffs : tuple of float
        The λ of the findings.
    settings : Settings
    sets : dict of str to SetSample
        Credal sets of some instances of each model's first run.
    warnings : tuple of str
        What should change how much the numbers are believed.
    provenance : dict
        Versions, input hashes, time taken.
    """

    models: tuple[ModelScores, ...]
    labels: NDArray[Any] = field(repr=False)
    class_names: tuple[str, ...]
    ids: NDArray[Any] | None = field(repr=False)
    groups: NDArray[Any] | None = field(repr=False)
    subgroups: dict[str, NDArray[Any]] = field(repr=False)
    tradeoffs: tuple[float, ...]
    settings: Settings = field(repr=False)
    sets: dict[str, SetSample] = field(repr=False)
    warnings: tuple[str, ...] = field(repr=False)
    provenance: dict[str, Any] = field(repr=False)

    # -- sizes and names ----------------------------------------------------------------------------------------------

    @property
    def n_instances(self) -> int:
        """Number of instances n."""
        return len(self.labels)

    @property
    def n_classes(self) -> int:
        """Number of classes K."""
        return len(self.class_names)

    @property
    def model_names(self) -> tuple[str, ...]:
        """Names of the models, without the baselines."""
        return tuple(m.name for m in self.candidates)

    @property
    def candidates(self) -> tuple[ModelScores, ...]:
        """The models to choose from, without the baselines."""
        return tuple(m for m in self.models if not m.baseline)

    def __getitem__(self, name: str) -> ModelScores:
        """Scores of one model or baseline by name."""
        for m in self.models:
            if m.name == name:
                return m
        raise InputError(
            f"model: must be one of {', '.join(repr(m.name) for m in self.models)}; got {name!r}; choose one of them."
        )

    # -- ranking ------------------------------------------------------------------------------------------------------

    def loss(self, model: str, tradeoff: float) -> Array:
        """E of every run and instance, ``(R, n)``."""
        columns = self[model].columns
        return columns["distance"] + tradeoff * columns["nonspecificity"]

    def ranked(self, tradeoff: float) -> tuple[Ranked, ...]:
        """Models and baselines by their mean E at one λ, best first; `ranking` gives the same as a table."""
        tradeoff = _tradeoff(tradeoff)
        options: dict[str, Any] = {"groups": self.groups, "level": self.settings.level}
        losses = [self.loss(m.name, tradeoff) for m in self.models]
        estimates = [
            self._widened(mean_estimate(_one_run(x), method=MEAN_INTERVAL, **options), m, tradeoff)
            for x, m in zip(losses, self.models, strict=True)
        ]
        n = len(self.candidates)
        compared = compare_to_best(losses[:n], self.model_names, **options)
        wins = self.winning_probabilities([tradeoff])[0]
        best = int(np.argmin(estimates[:n]))
        order = sorted(range(len(self.models)), key=lambda j: (float(estimates[j]), j))
        ranks = {j: 1 + i for i, j in enumerate(j for j in order if j < n)}
        rows = []
        for j in order:
            model = self.models[j]
            if j < n:
                difference, p, p_holm = compared[j].difference, compared[j].pvalue, compared[j].pvalue_holm
            else:
                test = paired_mean_test(losses[j], losses[best], **options)
                difference, p, p_holm = test.difference, test.pvalue, float("nan")
            below = tuple(
                self.models[b].name
                for b in range(n, len(self.models))
                if j < n and float(estimates[b]) < float(estimates[j])
            )
            win = None if model.baseline else float(wins[j])
            rows.append(Ranked(model.name, ranks.get(j), estimates[j], win, difference, p, p_holm, below))
        return tuple(rows)

    def ranking(self, tradeoff: float) -> "pd.DataFrame":
        """Models and baselines by their mean E at one λ, best first.

        Columns: model, rank, estimate, low, high, win_probability, difference, difference_low, difference_high, pvalue,
        pvalue_holm, below (baselines that do better). Baselines have no rank and no winning probability.
        """
        pandas = _pandas()
        rows = [
            {
                "model": r.model,
                "rank": r.rank,
                "estimate": float(r.estimate),
                "low": r.estimate.low,
                "high": r.estimate.high,
                "win_probability": r.win_probability,
                "difference": float(r.difference),
                "difference_low": r.difference.low,
                "difference_high": r.difference.high,
                "pvalue": r.pvalue,
                "pvalue_holm": r.pvalue_holm,
                "below": ", ".join(r.below),
            }
            for r in self.ranked(tradeoff)
        ]
        return pandas.DataFrame(rows).astype({"rank": "Int64", "win_probability": float})

    def breakpoints(self) -> "pd.DataFrame":
        """Which model has the lowest mean E on which interval of λ ≥ 0; columns low, high, model (", " joins ties)."""
        return _pandas().DataFrame(
            [{"low": low, "high": high, "model": ", ".join(names)} for low, high, names in self.winners()]
        )

    def winners(self) -> tuple[tuple[float, float, tuple[str, ...]], ...]:
        """The same as plain tuples (low, high, names)."""
        d, ns = self._mean_lines()
        return tuple((w.low, w.high, tuple(self.model_names[j] for j in w.models)) for w in lower_envelope(d, ns))

    def ranking_changes(self) -> tuple[tuple[float, str, str], ...]:
        """Every λ at which two models swap places: (λ, the one ahead below it, the one ahead above it)."""
        d, ns = self._mean_lines()
        return tuple((at, self.model_names[a], self.model_names[b]) for at, a, b in ranking_changes(d, ns))

    def winning_probabilities(self, tradeoffs: ArrayLike) -> Array:
        """Share of paired bootstrap draws won by each model at each λ, ``(T, J)``."""
        return winning_probability(self._draws, np.asarray(tradeoffs, dtype=np.float64))

    def compare(self, a: str, b: str, *, tradeoff: float = 1.0, method: str = "student-t") -> PairedComparison:
        """Paired test of the mean E of two models at one λ."""
        return paired_mean_test(
            self.loss(a, tradeoff),
            self.loss(b, tradeoff),
            groups=self.groups,
            level=self.settings.level,
            method=method,
            rng=self.settings.seed,
        )

    def tradeoff_scale(self) -> float:
        """Factor by which λ shrinks from KL to this assay's distance, max(d) / max(KL) (paper 000, App. F.1).

        Raises
        ------
        InputError
            For label distributions, whose KL is not among the columns.
        """
        if self.labels.ndim == 2:
            raise InputError(
                "y_true: the scale of λ needs one label per instance; got label distributions; use KL itself."
            )
        if self.settings.distance == "kl":
            return 1.0
        kl = [-np.log(np.maximum(m.columns["upper-label"], m.floor)) for m in self.candidates]
        return tradeoff_scale([m.columns["distance"] for m in self.candidates], kl)

    @cached_property
    def _draws(self) -> Array:
        stacked = [np.stack([m.columns["distance"], m.columns["nonspecificity"]], axis=2) for m in self.candidates]
        return bootstrap_run_means(stacked, n_draws=self.settings.n_draws, groups=self.groups, rng=self.settings.seed)

    def _mean_lines(self) -> tuple[Array, Array]:
        d = np.array([m.columns["distance"].mean() for m in self.candidates])
        return d, np.array([m.columns["nonspecificity"].mean() for m in self.candidates])

    def _widened(self, estimate: Estimate, model: ModelScores, tradeoff: float) -> Estimate:
        """Add the error of an estimated non-specificity to the interval."""
        error = tradeoff * model.nonspecificity_error
        if error == 0 or not np.isfinite(estimate.low):
            return estimate
        value, z = float(estimate), float(ndtri(0.5 + estimate.level / 2))
        note = f"non-specificity estimated, standard error {error:.2g} in the mean"
        return Estimate(
            value,
            low=value - np.hypot(value - estimate.low, z * error),
            high=value + np.hypot(estimate.high - value, z * error),
            level=estimate.level,
            n=estimate.n,
            method=estimate.method,
            note="; ".join(filter(None, [estimate.note, note])),
        )

    # -- findings -----------------------------------------------------------------------------------------------------

    @cached_property
    def findings(self) -> "pd.DataFrame":
        """One row per model (and run) and metric, with the columns of `FINDING_COLUMNS`."""
        return _pandas().DataFrame(self.finding_rows(), columns=FINDING_COLUMNS)

    def finding_rows(self) -> list[dict[str, Any]]:
        """The findings as plain rows."""
        rows = []
        for model in self.models:
            rows += self._model_rows(model, None, None)
            if model.n_runs > 1:
                for r in range(model.n_runs):
                    rows += self._model_rows(model, r, None)
        return rows

    def subset_findings(self, by: str) -> "pd.DataFrame":
        """Findings on parts of the instances: columns subset_by, subset, then those of `findings`.

        Parameters
        ----------
        by : str
            "correct" (each model's own correct and wrong predictions), "class" (the true class), or the name of a subgroup.
        """
        return _pandas().DataFrame(self.subset_rows(by), columns=["subset_by", "subset", *FINDING_COLUMNS])

    def subset_rows(self, by: str) -> list[dict[str, Any]]:
        """The findings on parts of the instances as plain rows."""
        rows = []
        for model in self.models:
            if by == "correct" and model.baseline:
                continue
            for label, mask in self._parts(by, model):
                if mask.any():
                    found = self._model_rows(model, None, mask)
                    rows += [{"subset_by": by, "subset": label, **row} for row in found]
        return rows

    def _parts(self, by: str, model: ModelScores) -> list[tuple[str, NDArray[np.bool_]]]:
        if by == "correct":
            hit = model.columns["correct"] >= 0.5 if self.labels.ndim == 1 else self._majority_hit(model)
            return [("correct", hit), ("wrong", ~hit)]
        shape = model.columns["distance"].shape
        if by == "class":
            truth = self.labels if self.labels.ndim == 1 else self.labels.argmax(axis=1)
            return [(name, np.broadcast_to(truth == c, shape)) for c, name in enumerate(self.class_names)]
        if by not in self.subgroups:
            known = ", ".join(["correct", "class", *self.subgroups])
            raise InputError(
                f"by: must be one of {known}; got {by!r}; pass subgroups={{name: values}} to assay for more."
            )
        values = self.subgroups[by]
        return [(str(value), np.broadcast_to(values == value, shape)) for value in np.unique(values)]

    def _majority_hit(self, model: ModelScores) -> NDArray[np.bool_]:
        return model.columns["label"] == self.labels.argmax(axis=1)

    def _model_rows(self, model: ModelScores, run: int | None, mask: NDArray[np.bool_] | None) -> list[dict[str, Any]]:
        s = self.settings
        rows: list[dict[str, Any]] = []

        def add(metric: str, estimate: Estimate, score: str = "", tradeoff: float = float("nan")) -> None:
            rows.append(
                {
                    "model": model.name,
                    "run": "all" if run is None else str(run + 1),
                    "metric": metric,
                    "score": score,
                    "tradeoff": tradeoff,
                    "convention": s.convention,
                    "estimate": float(estimate),
                    "low": estimate.low,
                    "high": estimate.high,
                    "level": estimate.level,
                    "n": estimate.n,
                    "method": estimate.method,
                    "note": estimate.note,
                }
            )

        columns = model.columns if run is None else {k: v[run : run + 1] for k, v in model.columns.items()}
        if not model.baseline or model.name == "class-prior":
            add("accuracy", self._mean(columns["correct"], mask, proportion_estimate))
            add("log-loss", self._mean(columns["log-loss"], mask))
            add("brier", self._mean(columns["brier"], mask))
            add("ece", self._calibration_error(columns, mask))
        d, ns = columns["distance"], columns["nonspecificity"]
        add(s.distance.replace("_", "-"), self._mean(d, mask))
        add("nonspecificity", self._widened(self._mean(ns, mask), model, 1.0), score=s.nonspecificity)
        for tradeoff in self.tradeoffs:
            e = self._widened(self._mean(d + tradeoff * ns, mask), model, tradeoff)
            add("unified", e, score=s.nonspecificity, tradeoff=tradeoff)
        for measure in s.measures:
            values = columns[measure]
            if np.isnan(values).all():
                note = f"{measure} is not defined for {model.kind}"
                undefined = float("nan")
                add(
                    measure,
                    Estimate(undefined, low=undefined, high=undefined, level=s.level, n=0, method="", note=note),
                )
            else:
                add(measure, self._mean(values, mask))
        return rows

    def _mean(
        self, values: Array, mask: NDArray[np.bool_] | None, estimate: Callable[..., Estimate] = _skewed_mean
    ) -> Estimate:
        """Mean over the runs and the instances of a mask, with an interval."""
        options: dict[str, Any] = {"groups": self.groups, "level": self.settings.level}
        if mask is None:
            return estimate(_one_run(values), **options)
        mask = np.broadcast_to(mask, values.shape)
        if (mask == mask[0]).all():  # the same instances in every run
            options["groups"] = None if self.groups is None else self.groups[mask[0]]
            return estimate(_one_run(values[:, mask[0]]), **options)
        units = np.arange(values.shape[1]) if self.groups is None else self.groups
        options["groups"] = np.broadcast_to(units, values.shape)[mask]
        return estimate(values[mask], **options)

    def _calibration_error(self, columns: dict[str, Array], mask: NDArray[np.bool_] | None) -> Estimate:
        chosen = slice(None) if mask is None else mask
        hit, confidence = columns["correct"][chosen].ravel(), columns["confidence"][chosen].ravel()
        undefined = float("nan")
        return Estimate(
            expected_calibration_error(hit, confidence),
            low=undefined,
            high=undefined,
            level=self.settings.level,
            n=len(hit),
            method="10 equal-width bins",
            note="no interval: the binned error is biased upwards in small samples",
        )

    def reliability(self, model: str, *, n_bins: int = 10) -> Reliability:
        """Bins of one model's reliability diagram, all runs together."""
        columns = self[model].columns
        return reliability(
            columns["correct"].ravel(), columns["confidence"].ravel(), n_bins=n_bins, level=self.settings.level
        )

    # -- instances ----------------------------------------------------------------------------------------------------

    @cached_property
    def scores(self) -> "pd.DataFrame":
        """One row per model, run and instance."""
        pandas = _pandas()
        n = self.n_instances
        ids = np.arange(n) if self.ids is None else self.ids
        truth = self.labels if self.labels.ndim == 1 else self.labels.argmax(axis=1)
        frames = []
        for m in self.models:
            for r in range(m.n_runs):
                columns = {key: value[r] for key, value in m.columns.items()}
                columns["label"] = columns["label"].astype(np.int64)
                frames.append(
                    pandas.DataFrame({"model": m.name, "run": r + 1, "instance": ids, "y_true": truth, **columns})
                )
        return pandas.concat(frames, ignore_index=True)

    def extreme_instances(self, k: int = 10) -> dict[str, NDArray[np.int64]]:
        """Rows of the k most epistemic, most wrong and most disputed instances, over all models.

        Most epistemic: greatest non-specificity of any model. Most wrong: greatest mean distance. Most disputed: greatest
        spread of the distances between models.
        """
        d = np.stack([m.columns["distance"].mean(axis=0) for m in self.candidates])
        ns = np.stack([m.columns["nonspecificity"].mean(axis=0) for m in self.candidates])
        d = np.where(np.isinf(d), np.finfo(np.float64).max / (2 * len(d)), d)
        picks = {"most epistemic": ns.max(axis=0), "most wrong": d.mean(axis=0), "most disputed": np.ptp(d, axis=0)}
        if len(d) == 1:
            del picks["most disputed"]
        return {name: np.argsort(-value, kind="stable")[:k] for name, value in picks.items()}

    # -- keeping and showing ------------------------------------------------------------------------------------------

    def verdict(self) -> tuple[str, ...]:
        """The verdict in words: one sentence per line, from the numbers above."""
        from uqassay.report.verdict import verdict

        return verdict(self)

    def to_html(self, path: str | Path) -> Path:
        """Write the report: one self-contained page."""
        from uqassay.report.page import write_page

        return write_page(self, path)

    def to_json(self, tradeoffs: Sequence[float] | None = None) -> dict[str, Any]:
        """Findings, rankings, breakpoints and settings as plain values that a strict JSON writer takes."""
        from uqassay.assay.storage import to_json

        return to_json(self, tradeoffs)

    def save(self, folder: str | Path) -> Path:
        """Keep the assay in a folder; `Assay.load` brings it back."""
        from uqassay.assay.storage import save

        return save(self, folder)

    @classmethod
    def load(cls, folder: str | Path) -> "Assay":
        """An assay that `save` kept."""
        from uqassay.assay.storage import load

        return load(folder)


def _tradeoff(tradeoff: float) -> float:
    if not (np.isfinite(tradeoff) and tradeoff >= 0):
        raise InputError(
            f"tradeoff: must be finite and at least 0; got {tradeoff}; choose λ by how costly imprecision is."
        )
    return float(tradeoff)


def _pandas() -> Any:
    try:
        import pandas
    except ModuleNotFoundError as problem:
        raise MissingDependencyError("pandas: tables need it; install uqassay[tables], or use to_json().") from problem
    return pandas
