"""Lens: sets judged as sets, also in each class and at each size, and against people's votes."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, final

import numpy as np
from numpy.typing import NDArray

from uqassay._workers import Workers
from uqassay.arrays import Floats
from uqassay.calibration.votes import compatible_share, vote_compatibility_test
from uqassay.checks import fail
from uqassay.credal.undominated import CLASS_RULES
from uqassay.evidence.claims import Claim
from uqassay.evidence.data import Judged, VoteTests, colour_order, one_run
from uqassay.evidence.findings import OF_ESTIMATE, estimate_fields
from uqassay.evidence.kept_rows import Kept, random_keys, rows_of, sample_within
from uqassay.evidence.scoring import ModelScores, covered_column, points_of_sets, rules_for, size_column
from uqassay.metrics.sets import (
    CLASS_SET_SCORES,
    ClassSetScores,
    CoverageInParts,
    coverage_of_parts,
    scores_of_columns,
    sizes_as_parts,
)
from uqassay.predictions import ClassSets, Point, Prediction
from uqassay.results import Shown, ShownCell, ShownRow, ShownTable, row_of
from uqassay.statistics import Estimate
from uqassay.statistics.units import check_choice
from uqassay.text import counted, drawable, level_text, named, percent, percent_interval

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = [
    "ALPHA",
    "COVERAGE_COLUMNS",
    "ROWS",
    "SET_ROW_COLUMNS",
    "VOTE_COLUMNS",
    "PartCoverage",
    "SetCoverage",
    "coverage_claims",
    "coverage_figures",
    "coverage_rows",
    "covered_less",
    "models_with_sets",
    "set_coverage_of",
    "set_rows",
    "set_scores_of",
    "shown_rule",
    "vote_rows",
    "vote_shares",
    "vote_tests",
]


# Sets judged as sets: coverage, size and utility of the classes that each model does not rule out, as rows.

SET_ROW_COLUMNS = ("model", "run", "rule", "metric", "estimate", "low", "high", "level", "n", "method", "notes")


def models_with_sets(judged: Judged) -> tuple[ModelScores, ...]:
    """The models that state sets, without the baselines."""
    return tuple(m for m in judged.candidates if covered_column(CLASS_RULES[0]) in m.columns)


def shown_rule(judged: Judged) -> str:
    """Maximality, or interval dominance where there are too many classes for it."""
    return rules_for(judged.n_classes)[:2][-1]


def set_scores_of(judged: Judged, model: str, rule: str, run: int | None = None) -> ClassSetScores:
    """The scores of one model by one rule, over all runs or of one."""
    chosen = slice(None) if run is None else slice(run, run + 1)
    columns = judged[model].columns

    def found() -> ClassSetScores:
        covered, size = (one_run(columns[name(rule)][chosen]) for name in (covered_column, size_column))
        return scores_of_columns(covered, size, level=judged.settings.level, **judged.sample())

    return judged.shared.once(("class-sets", model, rule, run), found)


def set_rows(judged: Judged, *, rule: str | None = None) -> list[dict[str, Any]]:
    """One row for each model with sets, run, rule and score; None is every rule."""
    if rule is not None:
        check_choice(rule, "rule", CLASS_RULES)
    known = rules_for(judged.n_classes)
    if rule is not None and rule not in known:
        fail(
            "rule",
            f"an assay of {judged.n_classes} classes uses {' and '.join(known)} alone",
            f"got {rule!r}",
            "use metrics.class_set_scores(y_true, prediction, rule=…), which can take long",
            code="choice",
        )
    rules: Sequence[str] = known if rule is None else (rule,)
    rows = []
    for model in models_with_sets(judged):
        for run in (None, *range(model.n_runs if model.n_runs > 1 else 0)):
            for each in rules:
                scores = set_scores_of(judged, model.name, each, run)
                rows += [_row(model.name, run, each, metric, getattr(scores, metric)) for metric in CLASS_SET_SCORES]
    return rows


def _row(model: str, run: int | None, rule: str, metric: str, estimate: Any) -> dict[str, Any]:
    return {
        "model": model,
        "run": "all" if run is None else str(run + 1),
        "rule": rule,
        "metric": metric.replace("_", "-"),
        **estimate_fields(estimate),
    }


# Coverage of the sets in every class and at every size: where they hold the label less often than in all cases.

COVERAGE_COLUMNS = ("model", "by", "part", "least_size", "most_size", "estimate", *OF_ESTIMATE, "below")
NAMED_PARTS = 3  # before a sentence counts the others
DRAWN = 12  # parts of a figure: those that are covered least
DRAWN_MODELS = 4


@final
@dataclass(frozen=True)
class PartCoverage:
    """Coverage of one model's sets in one class or at one size."""

    model: str
    by: str  #: "class" or "size".
    part: str  #: Name of the class, or the size in words.
    #: least_size, most_size: Number of classes in the sets; None of a class.
    least_size: int | None
    most_size: int | None
    estimate: (
        Estimate  #: Share of the labels in the sets. All intervals of all models hold together at the assay's level.
    )
    below: bool  #: Whether the part is shown to be covered less often than all cases.

    def row(self) -> dict[str, Any]:
        """Plain values, with the interval."""
        return row_of(self, *COVERAGE_COLUMNS[:5]) | estimate_fields(self.estimate) | {"below": self.below}


@final
@dataclass(frozen=True, eq=False, repr=False)
class SetCoverage(Shown):
    """Coverage of every model's sets in each class and at each size, by intervals that all hold together."""

    _shown_more: ClassVar[str] = 'Assay.table("set-coverage"), Assay.claims()'

    #: By model: coverage by class, then by size.
    models: Mapping[str, tuple[CoverageInParts, CoverageInParts]]
    class_names: tuple[str, ...]
    #: The models that gave class sets, whose sizes should not tell how often they hold the label.
    promised: frozenset[str]
    level: float
    colours: Mapping[str, str]  #: Of each model in figures, by its place in matplotlib's cycle, such as "C0".

    def name_of(self, found: CoverageInParts, k: int) -> str:
        """A class by its name, or a size such as "3 to 4 classes"."""
        return self.part_name(found.by, found.parts[k])

    def part_name(self, by: str, part: Any) -> str:
        """As `name_of`, of a class or of a range of sizes."""
        if by == "class":
            return self.class_names[part]
        least, most = part
        return counted(most, "class", "classes") if least == most else f"{least} to {most} classes"

    def claims(self) -> tuple[Claim, ...]:
        """The classes, and of class sets the sizes, that are shown to be covered less often than all cases."""
        return tuple(
            Claim(
                "covered-less",
                (model,),
                metric="coverage",
                estimate=found.coverage[k],
                facts={"by": found.by, "part": self.name_of(found, k), "all": float(found.overall)},
            )
            for model, both in self.models.items()
            for found in both
            if found.by == "class" or model in self.promised
            for k in found.below
        )

    def parts(self) -> tuple[PartCoverage, ...]:
        """Each class of each model, and each size."""
        return tuple(
            PartCoverage(
                model=model,
                by=found.by,
                part=self.name_of(found, k),
                least_size=None if found.by == "class" else found.parts[k][0],
                most_size=None if found.by == "class" else found.parts[k][1],
                estimate=estimate,
                below=k in found.below,
            )
            for model, both in self.models.items()
            for found in both
            for k, estimate in enumerate(found.coverage)
        )

    def _shown_title(self) -> str:
        return "Coverage of the sets by class and by size"

    def _shown_sentences(self) -> Sequence[str]:
        claims = self.claims()
        if not claims:
            classes = sum(not np.isnan(one) for one in next(iter(self.models.values()))[0].coverage)
            if classes == 1:
                return ["All cases are of one class."]
            return [f"None of the {classes:,} classes is shown to be covered less often than all cases."]
        return [covered_less(claims[k : k + 1]) for k in range(min(len(claims), NAMED_PARTS))] + (
            [_and_others(len(claims) - NAMED_PARTS)] if len(claims) > NAMED_PARTS else []
        )

    def _shown_table(self) -> ShownTable:
        rows = []
        for model, (classes, sizes) in self.models.items():
            cells = [ShownCell(named(model)), ShownCell(percent(classes.overall), after=_ends(classes.overall))]
            for found in (classes, sizes):
                worst = found.worst
                if worst is None:
                    cells += [ShownCell("–")] * 2
                    continue
                one = found.coverage[worst]
                if len({float(share) for share in found.coverage if not np.isnan(share)}) == 1:
                    cells += [ShownCell("all alike"), ShownCell(percent(one))]
                    continue
                cells += [ShownCell(self.name_of(found, worst)), ShownCell(percent(one), after=_ends(one))]
            gap = classes.gap
            cells.append(ShownCell(_points(gap), after=f"[{_points(gap.low)}, {_points(gap.high)}]"))
            rows.append(ShownRow(tuple(cells)))
        return ShownTable(
            header=("model", "all cases", "worst class", "covered", "worst size", "covered", "gap of classes"),
            rows=tuple(rows),
            below=True,
            caption=(
                f"Share of the cases whose label is in the set. The {level_text(self.level)} intervals hold together for all "
                "models, classes and sizes. Gap of classes: mean difference between a class and all cases, in points; what "
                "chance does is in it, and its interval says what the others allow."
            ),
        )


def _points(value: float) -> str:
    return f"{100 * value:.1f}"


def _ends(share: Estimate) -> str:
    return f"[{percent_interval(share.low, share.high)}]" if share.low < share.high else ""


def set_coverage_of(judged: Judged) -> SetCoverage | None:
    """Coverage in each class and at each size of the models that state sets; None where there is none, or no label.

    All intervals of all models hold together at the level of the assay (Bonferroni).
    """
    models = () if judged.of_answers else models_with_sets(judged)
    if not models:
        return None

    def found() -> SetCoverage:
        rule, parts = shown_rule(judged), {}
        there, classes = np.unique(judged.classes), judged.classes
        sizes_of = {model.name: one_run(model.columns[size_column(rule)]) for model in models}
        ranges = list(sizes_as_parts(np.concatenate([size.ravel() for size in sizes_of.values()])))  # the same for all
        for model in models:
            covered, size = one_run(model.columns[covered_column(rule)]), sizes_of[model.name]
            by_class = {k: classes == k for k in range(judged.n_classes)}
            by_size = {
                sizes: rows
                for sizes, rows in sizes_as_parts(size, ranges).items()
                if sizes[1] > 0 and rows.any()  # empty sets hold no label
            }
            parts[model.name] = (covered, by_class, by_size)
        m = sum(len(there) + len(sizes) + 1 for _, _, sizes in parts.values())
        options: dict[str, Any] = {**judged.sample(), "level": judged.settings.level, "n_intervals": m}
        return SetCoverage(
            models={
                name: (
                    coverage_of_parts(covered, by_class, by="class", **options),
                    coverage_of_parts(covered, by_size, by="size", **options),
                )
                for name, (covered, by_class, by_size) in parts.items()
            },
            class_names=judged.class_names,
            promised=frozenset(model.name for model in models if not model.predicts_classes),
            level=judged.settings.level,
            colours={name: f"C{place}" for place, name in enumerate(colour_order(judged))},
        )

    return judged.shared.once("set-coverage", found)


def coverage_rows(assay: Judged) -> list[dict[str, Any]]:
    """One row for each model with sets and class, and for each model with sets and size."""
    found = set_coverage_of(assay)
    return [] if found is None else [one.row() for one in found.parts()]


def coverage_claims(judged: Judged) -> tuple[Claim, ...]:
    """The claims of the coverage in each class and at each size; all hold at once."""
    found = set_coverage_of(judged)
    return () if found is None else found.claims()


def covered_less(claims: Sequence[Claim]) -> str:
    """The class that sets hold least of the claims, or else the size, and how many others there are; "" without a claim."""
    if not claims:
        return ""
    estimates = [(claim.estimate, claim) for claim in claims if claim.estimate is not None]
    one, worst = min(estimates, key=lambda pair: (pair[1].facts["by"] != "class", float(pair[0])))
    facts = worst.facts
    part = (
        f"the cases of class {named(facts['part'])}"
        if facts["by"] == "class"
        else f"the cases with {facts['part']} in the set"
    )
    text = (
        f"The sets of {named(worst.models[0])} contain the right class in {percent(one, in_sentence=True)} of {part} "
        f"({percent_interval(one.low, one.high, in_sentence=True)}), but in {percent(facts['all'], in_sentence=True)} of all "
        "cases."
    )
    return " ".join([text, *([_and_others(len(claims) - 1)] if len(claims) > 1 else [])])


def _and_others(n: int) -> str:
    return f"The same holds of {counted(n, 'other class or size', 'other classes and sizes')}."


def coverage_figures(found: SetCoverage) -> dict[str, Callable[["Axes"], None]]:
    """Coverage of the classes, and of the sizes, with their intervals; of very many the least covered."""
    titles = ("Coverage of each class", "Coverage at each size of the sets")
    return {title: _Drawing(found, i) for i, title in enumerate(titles)}


@dataclass(frozen=True)
class _Drawing:
    """A figure of the coverage by class (0) or by size (1)."""

    found: SetCoverage
    place: int

    def data(self) -> tuple[list[str], list[list[str]]]:
        """Heads of columns, and a row for each model and part."""
        rows = [
            [name, self.found.name_of(of, k), percent(one), _ends(one)]
            for name, both in self.found.models.items()
            for of in (both[self.place],)
            for k, one in enumerate(of.coverage)
            if not np.isnan(one)
        ]
        part = ("Class", "Size of the set")[self.place]
        return ["Model", part, "Covered", f"{level_text(self.found.level)} interval"], rows

    def __call__(self, ax: "Axes") -> None:
        shown = {name: both[self.place] for name, both in list(self.found.models.items())[:DRAWN_MODELS]}
        least: dict[Any, float] = {}
        for of in shown.values():
            for part, one in zip(of.parts, of.coverage, strict=True):
                if not np.isnan(one):
                    least[part] = min(least.get(part, 1.0), float(one))
        parts = sorted(sorted(least, key=lambda part: least[part])[:DRAWN])
        rows = {part: len(parts) - 1 - row for row, part in enumerate(parts)}
        for j, (name, of) in enumerate(shown.items()):
            kept = [
                (rows[part], one)
                for part, one in zip(of.parts, of.coverage, strict=True)
                if part in rows and not np.isnan(one)
            ]
            y = np.array([row for row, _ in kept]) + 0.15 * ((len(shown) - 1) / 2 - j)
            x = np.array([float(one) for _, one in kept])
            ends = np.array([(one.low, one.high) if one.low == one.low else (float(one),) * 2 for _, one in kept])
            ax.errorbar(
                x,
                y,
                xerr=np.abs(ends.T - x),
                fmt="o",
                color=self.found.colours[name],
                capsize=2,
                markersize=4,
                label=drawable(name),
                clip_on=False,
            )
            ax.axvline(float(of.overall), linestyle=":", color=self.found.colours[name], clip_on=False)
        by = next(iter(shown.values())).by
        names = [self.found.part_name(by, part) for part in parts]
        ax.set_yticks([rows[part] for part in parts], list(map(drawable, names)))
        ax.set_xlabel(f"coverage, {level_text(self.found.level)} intervals together (dotted: all cases)")
        if len(shown) > 1:
            ax.legend(fontsize="small")


# Whether people's votes could come from the sets that models state: a test of each instance, on part of the instances.


ROWS = 500  # instances that are tested, the same of all models
LEAST_VOTES = 2  # of an instance that is tested
ALPHA = 0.1  # level of the test of one instance
SECONDS = 2e-3  # for one instance and set
VOTE_COLUMNS = ("model", "of", "estimate", "low", "high", "level", "n", "votes", "method", "notes")


class _Part(NamedTuple):
    """The instances of one run that are tested."""

    run: Prediction
    rows: NDArray[np.int64]
    counts: Floats
    groups: NDArray[Any] | None
    seed: int


def vote_tests(
    models: Mapping[str, tuple[Prediction, ...]],
    shares: Floats,
    totals: Floats | None,
    *,
    groups: NDArray[Any] | None,
    seed: int,
    workers: Workers,
    kept: Mapping[str, Kept] | None = None,
    progress: Callable[[str], None] | None = None,
) -> dict[str, VoteTests]:
    """Test the first run of every model that states probabilities.

    Parameters
    ----------
    models : dict of str to tuple of Prediction
    shares : array (n, K)
        Votes as shares.
    totals : array (n,) or None
        Numbers of votes; without them there is no test.
    groups, seed, workers, progress
        As for `calibration_tests`.
    kept : dict of str to int array, optional
        For models of a stream, the rows that their runs hold.
    """
    if totals is None:
        return {}
    keys = random_keys(len(totals), groups, seed)
    rows = sample_within(keys, ROWS)
    rows = rows[totals[rows] >= LEAST_VOTES]
    if not len(rows):
        return {}
    counts = np.round(shares[rows] * totals[rows, None])
    names = [name for name, runs in models.items() if not isinstance(runs[0], ClassSets)]
    of_groups = None if groups is None else groups[rows]
    calls = []
    for name in names:
        run = rows_of(models[name][0], rows, None if kept is None else kept[name])
        calls.append((name, _Part(run, rows, counts, of_groups, seed)))
    sets = sum(points_of_sets(part.run) != 1 for _, part in calls)
    found = workers.share(_tested, calls, seconds=SECONDS * len(rows) * sets, progress=progress)
    return dict(zip(names, found, strict=True))


def _tested(name: str, part: _Part, *, progress: Callable[[str], None]) -> VoteTests:
    progress(f"votes against {name}")
    options: dict[str, Any] = {"votes_are": "counts", "alpha": ALPHA, "groups": part.groups, "rng": part.seed}
    mean = part.run.mean_probs()  # in half precision the sums can be off by more than a point allows
    of_mean = vote_compatibility_test(
        part.counts, Point(mean / mean.sum(axis=1, keepdims=True)), **options
    ).kept_instances
    is_point = points_of_sets(part.run) == 1
    of_set = of_mean[:0] if is_point else vote_compatibility_test(part.counts, part.run, **options).kept_instances
    return VoteTests(part.rows, of_set, of_mean, part.counts.sum(axis=1))


# -- shares with intervals -----------------------------------------------------------------------------------------------


def vote_shares(assay: Judged, model: str) -> dict[str, Estimate]:
    """Shares of the instances whose votes could come from the "set" of a model and from its "mean"; of a point the mean alone.

    Each share is that of the instances that the tests keep, divided by 1 − `ALPHA`; see `vote_compatibility_test`.
    """
    tests = assay.votes[model]
    options: dict[str, Any] = {**assay.sample(tests.rows), "level": assay.settings.level}

    def found() -> dict[str, Estimate]:
        kept = {"set": tests.of_set, "mean": tests.of_mean}
        return {of: compatible_share(passed, ALPHA, **options)[0] for of, passed in kept.items() if len(passed)}

    return assay.shared.once(("votes", model), found)


def vote_rows(assay: Judged) -> list[dict[str, Any]]:
    """One row for each model and for its set and its mean."""
    return [
        {"model": model, "of": of, **estimate_fields(share)} | {"votes": float(assay.votes[model].votes.mean())}
        for model in assay.votes
        for of, share in vote_shares(assay, model).items()
    ]
