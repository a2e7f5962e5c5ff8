"""Scale check: does E reward knowledge or the width of the sets? E of every model with its spread scaled about the centre."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from uqassay.evidence.findings import one_run
from uqassay.evidence.order_errors import order_error, order_errors
from uqassay.evidence.rank_sets import greatest_excess
from uqassay.evidence.scale_result import ModelScale, ScaleCheck
from uqassay.evidence.scaled_sets import ScaledScores
from uqassay.evidence.scoring import ModelScores
from uqassay.losses.unified import check_tradeoff
from uqassay.notes import Note
from uqassay.statistics import (
    Estimate,
    MeanLines,
    RankSets,
    holm,
    mean_estimate,
    pairwise_mean_tests,
    percentile_interval,
    rank_sets,
    student_draws,
)
from uqassay.statistics.influence_pairs import row_products
from uqassay.wording import count, listed_names, significant

if TYPE_CHECKING:
    from uqassay.evidence.result import Assay

__all__ = ["scale_check_of"]

Array = NDArray[np.float64]

N_DRAWS = 1000
NEAR = 1.25  # no sentence about a best scale below
OWN = "1"  # name of the set as it is among the scales


def scale_check_of(assay: "Assay", tradeoff: float) -> ScaleCheck:
    """E of every model over s · (set − centre) + centre, clipped to the simplex; see `Assay.scale_check`."""
    check_tradeoff(tradeoff)
    at = float(tradeoff)
    return assay.shared.once(("scale-check", at), lambda: _checked(assay, at))


def _checked(assay: "Assay", tradeoff: float) -> ScaleCheck:
    models = [m for m in assay.candidates if m.name in assay.scaled]
    curves = [_curves(assay, m, tradeoff) for m in models]
    tests = [_tests(assay, m, c, tradeoff) for m, c in zip(models, curves, strict=True)]
    adjusted = holm(np.concatenate([t.pvalues for t in tests])) if tests else np.empty(0)
    parts = np.split(adjusted, np.cumsum([len(t.pvalues) for t in tests])[:-1]) if tests else []
    own = {m.name: _at_own_scale(assay, m, c, assay.scaled[m.name].rows) for m, c in zip(models, curves, strict=True)}
    found = [_of_model(assay, m, c, t, p, own[m.name]) for m, c, t, p in zip(models, curves, tests, parts, strict=True)]
    notes = []
    without = [m.name for m in assay.candidates if m.name not in assay.scaled]
    if without:
        text = f"left out, because they have no sets: {listed_names(without)}"
        notes.append(Note("left-out", text, {"models": without}))
    return ScaleCheck(
        tradeoff=float(tradeoff),
        level=assay.settings.level,
        models=tuple(found),
        ranking=_own_ranking(assay, tradeoff, own) if models else None,
        notes=tuple(notes),
    )


# -- curves and tests of one model ---------------------------------------------------------------------------------------


class _Tests(NamedTuple):
    places: NDArray[np.intp]  # of the scales other than 1
    pvalues: Array  # two-sided, of the differences from s = 1


def _curves(assay: "Assay", model: ModelScores, tradeoff: float) -> Array:
    """E of every run, scale and instance, ``(R, S, n')``."""
    scaled = assay.scaled[model.name]
    return scaled.distance + tradeoff * scaled.nonspecificity


def _groups(assay: "Assay", scaled: ScaledScores) -> NDArray[Any] | None:
    return None if assay.groups is None else assay.groups[scaled.rows]


def _tests(assay: "Assay", model: ModelScores, curves: Array, tradeoff: float) -> _Tests:
    """Paired tests of every other scale against s = 1."""
    places = np.flatnonzero(assay.scaled[model.name].scales != 1)
    if not np.isfinite(curves).all() or not len(places):
        return _Tests(places, np.full(len(places), np.nan))
    several = sorted({tradeoff, *assay.tradeoffs})  # those of the report together
    found = assay.shared.each(("scale-tests", model.name), several, lambda new: _pvalues(assay, model, places, new))
    return _Tests(places, found[several.index(tradeoff)])


def _pvalues(assay: "Assay", model: ModelScores, places: NDArray[np.intp], tradeoffs: Sequence[float]) -> Array:
    """Of the tests of these scales at each λ, ``(T, S')``."""
    scaled, t = assay.scaled[model.name], np.array(tradeoffs)
    at, scales = scaled.own, scaled.scales[places]
    names = [str(s) for s in scales]
    from_one = scaled.order_deviations - scaled.order_deviations[at]  # (S, 32) or (S, 0); of s = 1 itself 0
    errors = np.multiply.outer(t, [order_error(from_one[s], from_one[at]) for s in places])
    bounds = [greatest_excess(assay, model, "unified", t)]
    bounds += [_greatest_loss_by_scaling(assay, model, s, t) for s in scales.tolist()]
    combinations = np.stack([np.ones_like(t), t], axis=1)
    lines = _lines(assay, scaled, names, places)
    return lines.against(combinations, OWN, names, bound=np.stack(bounds, axis=1), extra_error=errors)[1]


def _lines(assay: "Assay", scaled: ScaledScores, names: Sequence[str], places: NDArray[np.intp]) -> MeanLines:
    """Mean E at the scales as lines in λ; of several runs its gains over s = 1, whose runs come in pairs."""
    terms, at = (scaled.distance, scaled.nonspecificity), scaled.own
    if len(scaled.distance) == 1:
        columns = {name: tuple(x[0, s] for x in terms) for name, s in ((OWN, at), *zip(names, places, strict=True))}
    else:
        columns = {OWN: (np.zeros(len(scaled.rows)),) * 2}
        columns |= {name: tuple(x[:, s] - x[:, at] for x in terms) for name, s in zip(names, places, strict=True)}
    return MeanLines(columns, groups=_groups(assay, scaled))


def _greatest_loss_by_scaling(assay: "Assay", model: ModelScores, scale: float, tradeoffs: Array) -> Array:
    """How much greater E at this scale than at 1 can be on one instance, at each λ.

    For s > 1 clipping divides a member by at most s, so that it leaves the label at least 1/s of its upper probability; for
    s < 1 the upper probability is c + s(u − c) ≥ s·u. So the KL distance of a label grows by |ln s| at most.
    """
    settings = assay.settings
    anything = greatest_excess(assay, model, "unified", tradeoffs)
    if settings.convention == "paper" or settings.distance != "kl" or assay.labels.ndim != 1 or scale == 0:
        return anything
    width = float(greatest_excess(assay, model, "nonspecificity")) if scale > 1 else 0.0
    return np.minimum(anything, abs(float(np.log(scale))) + tradeoffs * width)


def _of_model(
    assay: "Assay", model: ModelScores, curves: Array, tests: _Tests, pvalues: Array, own: "_AtOwnScale"
) -> ModelScale:
    scaled = assay.scaled[model.name]
    losses = curves.mean(axis=(0, 2))
    level, at = assay.settings.level, scaled.own
    better = [k for k, s in enumerate(tests.places) if losses[s] < losses[at] and pvalues[k] <= 1 - level]
    lowest = int(np.argmin(losses))
    among = better or [k for k, s in enumerate(tests.places) if s == lowest]  # none where 1 is lowest
    chosen = min(among, key=lambda k: losses[tests.places[k]], default=None)
    notes = []
    if not np.isfinite(losses).all():
        notes.append(Note("infinite", "infinite losses: no best scale and no test"))
        best, best_loss, low, high = (np.nan,) * 4
    else:
        ((best, best_loss),) = _lowest(scaled.scales, losses[None])
        low, high = _interval_of_best(assay, scaled, curves)
        if assay.n_units == 1:
            notes.append(Note("no-test", "a single unit: no interval and no test"))
        if lowest == len(losses) - 1:
            text = f"the best scale is the largest tried, {significant(best)}, so a larger one may be better"
            notes.append(Note("edge", text))
    if chosen is None:
        scale, difference, p = 1.0, _nothing(level, len(scaled.rows)), 1.0 if np.isfinite(best) else np.nan
    else:
        place = int(tests.places[chosen])
        scale, p = float(scaled.scales[place]), float(pvalues[chosen])
        difference = _difference(assay, scaled, curves, place)
    if len(scaled.rows) < assay.n_instances:
        sizes = {"used": len(scaled.rows), "n": assay.n_instances}
        text = f"{count(sizes['used'])} of {count(sizes['n'])} instances"
        notes.append(Note("sample", text, sizes))
    return ModelScale(
        model=model.name,
        n=len(scaled.rows),
        scales=scaled.scales,
        losses=losses,
        clipped=scaled.clipped,
        loss=float(losses[at]),
        best=float(best),
        best_low=low,
        best_high=high,
        best_loss=float(best_loss),
        scale=scale,
        difference=difference,
        pvalue=p,
        wider=bool(better) and scale > 1 and best >= NEAR and low > 1,
        own_loss=float(own.losses.mean()),
        notes=tuple(notes),
    )


def _nothing(level: float, n: int) -> Estimate:
    return Estimate(0.0, low=0.0, high=0.0, level=level, n=n, method="student-t", notes=())


def _difference(assay: "Assay", scaled: ScaledScores, curves: Array, place: int) -> Estimate:
    """Mean E at one of the scales minus that at s = 1; undefined if any loss is infinite."""
    level = assay.settings.level
    if not np.isfinite(curves).all():
        return Estimate(np.nan, low=np.nan, high=np.nan, level=level, n=curves.shape[2], method="student-t")
    gains = curves[:, place] - curves[:, scaled.own]
    return mean_estimate(gains, groups=_groups(assay, scaled), level=level)


def _lowest(scales: Array, curves: Array) -> Array:
    """Scale and value of the minimum of each curve (C, S): vertex of the parabola around the lowest point, ``(C, 2)``."""
    k = curves.argmin(axis=1)
    rows = np.arange(len(curves))
    found = np.stack([scales[k], curves[rows, k]], axis=1)
    inner = (k > 0) & (k < len(scales) - 1)
    if inner.any():
        r, m = rows[inner], k[inner]
        x0, x1, x2 = (scales[m + i] for i in (-1, 0, 1))
        y0, y1, y2 = (curves[r, m + i] for i in (-1, 0, 1))
        left, right = (y1 - y0) / (x1 - x0), (y2 - y1) / (x2 - x1)
        bend = (right - left) / (x2 - x0)  # of the Newton form y0 + left (x − x0) + bend (x − x0)(x − x1)
        vertex = np.where(bend > 0, (x0 + x1) / 2 - left / (2 * np.where(bend > 0, bend, 1.0)), x1)
        vertex = np.clip(vertex, x0, x2)
        found[inner] = np.stack([vertex, y0 + (left + bend * (vertex - x1)) * (vertex - x0)], axis=1)
    return found


def _interval_of_best(assay: "Assay", scaled: ScaledScores, curves: Array) -> tuple[float, float]:
    """Percentiles of the best scale over draws of the whole curve."""
    if assay.n_units == 1:
        return np.nan, np.nan
    by_instance = curves.swapaxes(1, 2)  # (R, n', S)
    draws = student_draws([by_instance], n_draws=N_DRAWS, groups=_groups(assay, scaled), rng=assay.settings.seed)[:, 0]
    low, high = percentile_interval(_lowest(scaled.scales, draws)[:, 0], level=assay.settings.level)
    return float(low), float(high)


# -- ranking when every model has its own best scale ---------------------------------------------------------------------


class _AtOwnScale(NamedTuple):
    """E of one model at the scale that is best on the other half of the instances."""

    losses: Array  # (R, n')
    order_deviations: Array


def _own_ranking(assay: "Assay", tradeoff: float, own: Mapping[str, _AtOwnScale]) -> RankSets:
    rows = min((s.rows for s in assay.scaled.values()), key=len)
    values, deviations = {}, {}
    for m in assay.models:
        found = own.get(m.name)
        if found is None:
            values[m.name], deviations[m.name] = assay.loss(m.name, tradeoff)[:, rows], np.empty(0)
            continue
        if found.losses.shape[1] > len(rows):  # models of fewer instances are compared on theirs
            found = _at_own_scale(assay, m, _curves(assay, m, tradeoff), rows)
        values[m.name], deviations[m.name] = found
    references = [m.name for m in assay.models if m.baseline]
    return rank_sets(
        pairwise_mean_tests(
            {name: one_run(v) for name, v in values.items()},
            groups=None if assay.groups is None else assay.groups[rows],
            level=assay.settings.level,
            bound=[greatest_excess(assay, m, "unified", tradeoff) for m in assay.models],
            extra_error=order_errors(deviations, tradeoff, references=references),
            references=references,
        )
    )


def _at_own_scale(assay: "Assay", model: ModelScores, curves: Array, rows: NDArray[np.int64]) -> _AtOwnScale:
    """E of every run and some of the instances at the scale that is best on the other half of them."""
    scaled = assay.scaled[model.name]
    if len(rows) < len(scaled.rows):
        curves = curves[:, :, np.isin(scaled.rows, rows)]
    second = assay.shared.once(("second-half", len(rows)), lambda: _second_half(assay, rows))
    found = np.empty((curves.shape[0], curves.shape[2]))
    deviations = np.zeros(scaled.order_deviations.shape[1])
    for half in (second, ~second):
        if not half.any():
            continue
        s = _lowest_on(curves, ~half if (~half).any() else half)
        found[:, half] = curves[:, s, half]
        deviations += half.mean() * scaled.order_deviations[s]
    return _AtOwnScale(found, deviations)


def _lowest_on(curves: Array, rows: NDArray[np.bool_]) -> int:
    """Place of the scale with the lowest mean E over these instances ``(n',)``."""
    inside = rows.astype(np.float64)[np.newaxis]
    with np.errstate(invalid="ignore"):
        sums = sum(row_products(np.ascontiguousarray(run), inside)[:, 0] for run in curves)
    if not np.isfinite(sums).all():  # infinite losses of other instances do not count
        sums = curves[:, :, rows].sum(axis=(0, 2))
    return int(np.argmin(sums))


def _second_half(assay: "Assay", rows: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Half of the units at random, ``(n',)``."""
    labels = np.arange(assay.n_instances) if assay.groups is None else assay.groups
    codes = np.unique(labels[rows], return_inverse=True)[1].reshape(-1)
    n = codes.max() + 1
    return np.asarray((np.random.default_rng([assay.settings.seed, 17]).permutation(n) >= n / 2)[codes])
