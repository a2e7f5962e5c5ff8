"""The commands `calibration-test` and `second-order`."""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
import typer
from rich.table import Table
from rich.text import Text

from uqassay.checks import fail
from uqassay.cli.errors import about_files, note_text
from uqassay.cli.fail_if import CHECK_FAILED
from uqassay.cli.inputs import (
    INPUT,
    OF_ANSWERS,
    OUTPUT,
    AssayRequest,
    Groups,
    Json,
    Labels,
    Models,
    Reading,
    class_texts,
    file_and_column,
    load_models,
    load_request,
    model_files,
    normalised_sentences,
    option,
    read_groups,
    read_labels,
    takes_reading,
    without_ignored,
)
from uqassay.cli.screen import (
    add_names,
    complain,
    explained,
    fitted_table,
    open_console,
    plain_table,
    print_json,
    print_note,
    progress,
)
from uqassay.errors import InputError
from uqassay.evidence import CALIBRATION
from uqassay.evidence.sentences import claim
from uqassay.notes import Note
from uqassay.predictions import FromFile
from uqassay.predictions.files import load_column
from uqassay.predictions.labels import single_votes_by_name
from uqassay.predictions.rows import in_rows_of
from uqassay.text import (
    ABSENT,
    count,
    counted,
    decimals_for,
    interval,
    level_text,
    named,
    number,
    percent,
    pvalue,
    significant,
    visible,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from uqassay.calibration import SecondOrderTest
    from uqassay.calibration.weighted_average import WeightedAverageEffect
    from uqassay.evidence import ModelCalibration
    from uqassay.evidence.align import Aligned
    from uqassay.evidence.calibration import CalibrationPlan, JudgedTest
    from uqassay.metrics import Reliability
    from uqassay.metrics.measures import CalibrationMeasure
    from uqassay.predictions import Prediction
    from uqassay.statistics import Estimate

__all__ = [
    "errors_of_means",
    "measure_text",
    "shown_names",
    "table_of_tests",
    "verdict_word",
]


# The command `calibration-test`: is a classifier, or some mixture of an ensemble's members, calibrated?

HOW, MORE = "How it is tested", "What else is computed"


@takes_reading("votes_are", *OF_ANSWERS)  # votes are refused
def calibration_test_command(
    models: Models,
    labels: Labels = None,
    groups: Groups = None,
    instances: Annotated[int | None, option("Test on N cases, chosen at random.", INPUT, metavar="N", min=1)] = None,
    reading: Reading = Reading(),  # noqa: B008
    measure: Annotated[
        list[str] | None,
        option(
            "Calibration measure (repeatable); kuiper-confidence and ece-classwise unless given.", HOW, metavar="NAME"
        ),
    ] = None,
    null: Annotated[
        str | None,
        option(
            "minimised; random, as in the paper; or berger-boos, the greatest p-value of several likely mixtures.",
            HOW,
            metavar="NAME",
            show_default="minimised",
        ),
    ] = None,
    draws: Annotated[
        int | None,
        option(
            "Draws of labels under the null hypothesis, exactly so many; else as many as a small p-value needs.",
            HOW,
            metavar="N",
            min=1,
            show_default="99 and more",
        ),
    ] = None,
    alpha: Annotated[float, option("Level of all tests together.", HOW)] = 0.05,
    convention: Annotated[
        str, option("exact, or paper-code: as the authors' code, with their null.", HOW, metavar="NAME")
    ] = "exact",
    resample: Annotated[
        bool,
        option(
            "Draw cases with replacement, as printed; needs --null random where members are mixed.",
            HOW,
            "--resample",
        ),
    ] = False,
    seed: Annotated[int, option("Seed of every random draw.", HOW, "--seed", "--rng", metavar="N", min=0)] = 0,
    members: Annotated[bool, option("Test every single member besides the mixture.", MORE, "--members")] = False,
    held_out: Annotated[
        float | None,
        option(
            "Find the weights on the other cases, and compare weighted and plain average on this share.",
            MORE,
            metavar="SHARE",
        ),
    ] = None,
    level: Annotated[
        float | None, option("Confidence level of the intervals with --held-out.", MORE, show_default="0.95")
    ] = None,
    fail_if_rejected: Annotated[
        bool,
        option(
            "Exit with code 1 where a test rejects; those of --held-out do not count.", OUTPUT, "--fail-if-rejected"
        ),
    ] = False,
    as_json: Json = False,
) -> None:
    """Test whether a model, or a mixture of its members, is calibrated."""
    from uqassay.evidence.calibration import CalibrationPlan, check_measures, judged_tests
    from uqassay.evidence.sentences import claim

    chosen = check_measures(measure or CALIBRATION, "measure")
    grows = draws is None and null in (None, "minimised") and convention == "exact" and not resample
    defaults = CalibrationPlan()
    plan = CalibrationPlan(
        null=null or ("random" if convention == "paper-code" else "minimised"),  # type: ignore[arg-type]
        resample=resample,
        convention=convention,  # type: ignore[arg-type]
        n_draws=defaults.n_draws if draws is None else draws,
        n_more=defaults.n_more if grows else 0,
        level=0.95 if level is None else level,
        seed=seed,
        members=members,
    )
    _check(plan, alpha)
    _check_held_out(plan, held_out, level)
    request = AssayRequest(
        models,
        labels=labels,
        groups=groups,
        reading=reading,
    )
    n_files = sum(len(paths) for paths in model_files(models).values())
    with progress(n_files * (2 + (held_out is not None))) as say:
        aligned = _aligned(request, say)
        rows = _chosen(aligned, instances, seed)
        tests = _tests(aligned, rows, chosen, plan, say)
        effects = [] if held_out is None else _effects(aligned, rows, chosen, plan, held_out, say)
        errors = errors_of_means(aligned.models, aligned.labels, aligned.groups, rows, plan.level)
    for sentence in normalised_sentences(aligned.models):
        complain(sentence)
    judged = judged_tests(tests, alpha)
    undefined = [test for test in tests if math.isnan(test.pvalue)]
    if fail_if_rejected and undefined:
        first = undefined[0]
        fail(
            "--fail-if-rejected",
            f"{first.measure} of {first.model} cannot be tested",
            first.reason,
            "choose another measure",
            code="undefined",
        )
    if as_json:
        facts: dict[str, Any] = {
            "n_instances": len(aligned.labels),
            "n_classes": len(aligned.class_names),
            "alpha": alpha,
        }
        facts |= {
            "null": plan.null,
            "convention": convention,
            "n_draws": plan.n_draws,
            "resample": resample,
            "seed": seed,
        }
        value = {"schema": "uqassay.calibration/1", **facts, "tests": [_plain(j) for j in judged]}
        value["errors"] = [error.to_dict() for error in errors]
        print_json(value | ({} if held_out is None else {"held_out": [effect.to_dict() for effect in effects]}))
    else:
        print_tests(judged, alpha, plan, null=null)
        print_errors(errors, plan.level)
        if held_out is not None:
            print_held_out(effects, list(aligned.models), plan.level)
    rejected = [j for j in judged if j.outcome == "rejected"]
    if fail_if_rejected and rejected:
        for j in rejected:
            complain(f"Rejected: {claim(j)}")
        raise typer.Exit(CHECK_FAILED)


# -- input --------------------------------------------------------------------------------------------------------------


def _check(plan: "CalibrationPlan", alpha: float) -> None:
    """Refuse what can be refused before any file is read."""
    from uqassay.calibration.credal import BETA
    from uqassay.calibration.nulls import check_alpha
    from uqassay.statistics.units import check_choice

    check_choice(plan.null, "null", ("minimised", "random", "berger-boos"))
    check_choice(plan.convention, "convention", ("exact", "paper-code"))
    if plan.convention == "exact":
        check_alpha(alpha, plan.n_draws, offset=BETA if plan.null == "berger-boos" else 0.0)
        return
    check_alpha(alpha, 2**62)
    if plan.null != "random" or plan.resample:  # else points would be tested as if nothing had been asked for
        fail(
            "--convention",
            "the authors' code has only the null of a random mixture, with permuted cases",
            f"got {('--resample' if plan.resample else f'--null {plan.null}')}",
            "leave that out, or --convention paper-code",
            code="conflict",
        )


def _check_held_out(plan: "CalibrationPlan", held_out: float | None, level: float | None) -> None:
    """Refuse options that held-out effects would not follow, and their level without them."""
    from uqassay.statistics.units import check_level

    check_level(plan.level)
    if held_out is None:
        if level is not None:
            fail(
                "--level",
                "is the level of the intervals with --held-out",
                f"got {level:g} without it",
                "pass --held-out 0.5, for example, or leave --level out",
                code="conflict",
            )
        return
    if not 0 < held_out < 1:
        fail("--held-out", "must lie strictly between 0 and 1", f"got {held_out:g}", "0.5 takes one half", code="range")
    if plan.convention != "exact" or plan.resample:
        fail(
            "--held-out",
            "weights are found by the exact convention, without resampling",
            f"got --held-out with {('--resample' if plan.resample else f'--convention {plan.convention}')}",
            "leave one of the two out",
            code="conflict",
        )


def _aligned(request: AssayRequest, say: Callable[[str], None]) -> "Aligned":
    """Predictions, labels and groups in the order of the first model that has ids."""
    from uqassay.evidence.align import align

    loaded = without_ignored(load_request(request, say))
    assert loaded.labels is not None  # answers, which have none, are refused
    if loaded.labels.ndim == 2:
        source = loaded.files["y_true"]
        raise InputError(
            "" if source else "--labels",
            "a calibration test takes one label for each case",
            "got label distributions or votes",
            "draw one label from each, or take the most frequent",
            code="shape",
            source=source.name if source else "",
        )
    with about_files(loaded.files, {"y_true": ""}):
        return align(
            loaded.runs,
            loaded.labels,
            groups=loaded.groups,
            class_names=loaded.class_names,
        )


def _chosen(aligned: "Aligned", instances: int | None, seed: int) -> "NDArray[np.intp]":
    from uqassay.evidence.calibration import choose_instances

    n = len(aligned.labels)
    if instances is not None and instances > n:
        fail(
            "--instances",
            f"there are {count(n)}",
            f"got {count(instances)}",
            "ask for no more, or leave it out for all",
            code="range",
        )
    return choose_instances(n, n if instances is None else instances, aligned.groups, seed)


# -- computation --------------------------------------------------------------------------------------------------------


def _tests(
    aligned: "Aligned",
    rows: "NDArray[np.intp]",
    measures: "Sequence[CalibrationMeasure]",
    plan: "CalibrationPlan",
    say: Callable[[str], None],
) -> "list[ModelCalibration]":
    from uqassay.evidence.calibration import TestedSample, tested_part, tested_run

    n = len(aligned.labels)
    notes: list[Note] = [] if len(rows) == n else [tested_part(len(rows), n)]
    groups = None if aligned.groups is None else aligned.groups[rows]
    found = []
    for name, runs in aligned.models.items():
        for r, run in enumerate(runs):
            say(f"testing {name}")
            part = run if len(rows) == n else run[rows]
            with _of_model(name):
                sample = TestedSample(name, r, part, aligned.labels[rows], groups, n)
                found += tested_run(sample, measures, plan, notes=notes, mixed=True)
    return found


def _effects(
    aligned: "Aligned",
    rows: "NDArray[np.intp]",
    measures: "Sequence[CalibrationMeasure]",
    plan: "CalibrationPlan",
    held_out: float,
    say: Callable[[str], None],
) -> "list[HeldOut]":
    """What the weights found on one part of the instances do on the other, for every run of a set."""
    from uqassay.calibration.mixtures import shared_members
    from uqassay.calibration.weighted_average import weighted_average_effect
    from uqassay.predictions import Box, Masses, Members, Vertices

    found = []
    for name, runs in aligned.models.items():
        for r, run in enumerate(runs):
            say(f"weighing {name}")
            if not isinstance(run, (Members, Vertices, Box, Masses)):
                continue
            points = shared_members(run[rows]).probs
            for measure in measures if points.shape[1] > 1 else ():
                with _of_model(name):
                    effect = weighted_average_effect(
                        aligned.labels[rows],
                        points,
                        measure=measure,
                        null=plan.null,
                        null_draws=plan.n_draws,
                        fraction=1.0 - held_out,
                        groups=None if aligned.groups is None else aligned.groups[rows],
                        level=plan.level,
                        rng=np.random.default_rng([plan.seed, 24]),
                    )
                found.append(HeldOut(name, r, len(runs), effect))
    return found


@contextmanager
def _of_model(name: str) -> Iterator[None]:
    """Name the model in every error about its predictions."""
    try:
        yield
    except InputError as problem:
        if problem.parameter in ("members", "probs", "masses", "vertices", "groups"):
            raise problem.inside(f"models[{name!r}]") from problem
        raise


def _plain(judged: "JudgedTest") -> dict[str, Any]:
    from uqassay.evidence.sentences import claim

    arrays, test = ("weights", "null", "member_values", "member_pvalues"), judged.test
    return {
        **test.row(),
        "pvalue_adjusted": judged.adjusted,
        "null_kind": test.null_kind,
        "rejected": None if judged.outcome == "undefined" else judged.outcome == "rejected",
        "sentence": claim(judged),
        **{name: getattr(test, name) for name in arrays},
    }


# The size of the calibration error of each model's mean, and where it lies, in a terminal and as plain values.


@dataclass(frozen=True)
class ErrorOfMean:
    """Calibration error of the confidence of one run's mean."""

    model: str
    #: run, n_runs: 0 for the first.
    run: int
    n_runs: int
    #: ece, rms: Expected and root-mean-square calibration error.
    ece: "Estimate"
    rms: "Estimate"
    diagram: "Reliability"

    @property
    def name(self) -> str:
        """The model, with the run where there are several."""
        return self.model if self.n_runs == 1 else f"{self.model}, run {self.run + 1}"

    @property
    def of_calibrated(self) -> float:
        """ECE of a calibrated classifier on these cases, on average; nan if it is not known."""
        return next((n.facts["calibrated"] for n in self.ece.notes if n.code == "bias"), float("nan"))

    def to_dict(self) -> dict[str, Any]:
        """Plain values for a strict JSON writer."""
        return {
            "model": self.model,
            "run": self.run + 1,
            "ece": self.ece.to_dict(),
            "ece_of_calibrated": self.of_calibrated,
            "rms_calibration_error": self.rms.to_dict(),
            "sentence": self.diagram.sentence(),
        }


def errors_of_means(
    models: "Mapping[str, Sequence[Prediction]]",
    labels: "NDArray[Any]",
    groups: "NDArray[Any] | None",
    rows: "NDArray[Any]",
    level: float,
) -> list[ErrorOfMean]:
    """The errors of every run on the chosen rows."""
    from uqassay.metrics import calibration_error_estimate, reliability_diagram

    own = None if groups is None else groups[rows]
    found = []
    for name, runs in models.items():
        for r, run in enumerate(runs):
            y, p = labels[rows], run[rows].mean_probs()
            ece, rms = (calibration_error_estimate(y, p, norm=norm, groups=own, level=level) for norm in ("l1", "l2"))
            found.append(ErrorOfMean(name, r, len(runs), ece, rms, reliability_diagram(y, p, groups=own, level=level)))
    return found


def print_errors(errors: Sequence[ErrorOfMean], level: float) -> None:
    """A table of the errors with their intervals, and a sentence on each model."""
    console = open_console()
    console.print()
    console.print(Text("Calibration error of the confidence, of the mean", "bold"))
    places = decimals_for((e.low, e.high) for error in errors for e in (error.ece, error.rms))
    at = f"{level_text(level)} interval"
    columns = {
        "model": [visible(error.name) for error in errors],
        "ECE": [number(error.ece, places) for error in errors],
        at: [interval(error.ece.low, error.ece.high, places) for error in errors],
        "by chance": [number(error.of_calibrated, places) for error in errors],
        "RMS": [number(error.rms, places) for error in errors],
        f"{at} ": [interval(error.rms.low, error.rms.high, places) for error in errors],
    }
    table = fitted_table(columns, spare=("by chance", "RMS", f"{at} "), width=console.width)
    console.print(table)
    said = {
        "ECE": "ECE: mean gap of ten bins, which noise makes too large",
        "by chance": "by chance: ECE of a calibrated classifier on these cases, on average",
        "RMS": "RMS: root of the mean square gap without the part of noise",
    }
    console.print(Text(explained(said, table), "dim"))
    console.print()
    for error in errors:
        start = f"{visible(error.name)}: " if len(errors) > 1 else ""
        console.print(Text(f"{start}{error.diagram.sentence()}"))
    told = f"all claims on one model's bins hold together at {level_text(level)}; ranges are those of ten bins"
    console.print(Text(told, "dim"))


# Calibration tests as tables and sentences: the tests, the weights, the single members.

SHOWN_WEIGHTS = 8  # on one line; of more members the greatest
DECIMALS, GREATEST = 4, 1e6  # of values of measures; from GREATEST on they are written with a power of ten
ROOM = 52  # width of the table of single members with a verdict on each
ROUNDING = 1e-12  # p-values are ratios of whole numbers: one that equals the level in print equals it


def measure_text(value: float) -> str:
    """The value of a measure: all with the same number of decimals, but for huge ones.

    Examples
    --------
    >>> [measure_text(v) for v in (0.25, 0.00001, 2.4411e31, float("inf"), float("nan"))]
    ['0.2500', '<0.0001', '2.441e+31', '∞', '–']
    """
    if GREATEST <= abs(value) < math.inf:
        return significant(value, DECIMALS)
    return number(value, DECIMALS, bounded=True)


def verdict_word(p: float, alpha: float) -> str:
    """Whether a p-value rejects, in words.

    Examples
    --------
    >>> verdict_word(0.01, 0.05), verdict_word(0.5, 0.05), verdict_word(float("nan"), 0.05)
    ('rejected', 'not rejected', '–')
    """
    if math.isnan(p):
        return ABSENT
    return "rejected" if p <= alpha + ROUNDING else "not rejected"


def table_of_tests(judged: Sequence["JudgedTest"], alpha: float, width: int) -> tuple[Table, str]:
    """A row for each test, in as many columns as there is room for, and the explanation of the columns.

    Parameters
    ----------
    judged : sequence of JudgedTest
    alpha : float
        Level of the verdicts.
    width : int
        Columns of the terminal.
    """
    tests = [j.test for j in judged]
    verdicts = [verdict_word(j.adjusted, alpha) for j in judged]
    at = f"at {alpha:.3g}"
    mixed = [j.mixed for j in judged]
    columns = {
        "model": [visible(name) for name in shown_names(tests)],
        "measure": [test.measure for test in tests],
        "value": [measure_text(test.statistic) for test in tests],
        "p": [pvalue(j.adjusted) for j in judged],
        at: verdicts,
        "of the mean": [measure_text(test.mean_value) if m else ABSENT for test, m in zip(tests, mixed, strict=True)],
        "its p": [pvalue(test.mean_pvalue) if m else ABSENT for test, m in zip(tests, mixed, strict=True)],
        "tested": [_tested(test) for test in tests],
        "width": [number(test.width) for test in tests],
    }
    table = fitted_table(
        columns,
        spare=("of the mean", "its p", "tested", "width"),
        width=width,
        styles=["bold" if v == "rejected" else "" for v in verdicts],
        words=("measure", at, "tested"),
    )
    n_tests = sum(not math.isnan(j.adjusted) for j in judged)
    adjusted = f", adjusted by Holm for the {n_tests} tests" if n_tests > 1 else ""
    said = {
        "value": "value: the least over all mixtures, or that of the mean",
        "p": f"p: share of the draws from calibrated probabilities with as great a value{adjusted}",
        "of the mean": "of the mean: of the model's own mean, tested alone, not adjusted",
        "width": "width: mean of upper minus lower probability",
    }
    return table, explained(said, table)


def weights_table(tests: Sequence["ModelCalibration"], width: int) -> Table:
    """The mixture with the least value of each test, and what it does to the accuracy."""
    table = plain_table()
    names = [visible(name) for name in shown_names(tests)]
    add_names(table, names, max(12, width // 3))
    table.add_column("measure", overflow="fold")
    table.add_column("weights", overflow="fold")
    table.add_column("accuracy", justify="right", no_wrap=True)
    for name, test in zip(names, tests, strict=True):
        accuracy = f"{percent(test.accuracy_mean)} → {percent(test.accuracy_weighted)}"
        table.add_row(Text(name), test.measure, _weights(test), accuracy)
    return table


def members_table(judged: "JudgedTest", alpha: float, width: int) -> Table:
    """Values and p-values of every single member and of the mean, each alone, and of the mixture with the least value."""
    test = judged.test
    table = plain_table()
    for header in ("member", "weight", "value", "p"):
        table.add_column(header, justify="right", no_wrap=True)
    with_verdict = width >= ROOM
    if with_verdict:
        table.add_column(f"at {alpha:.3g}", no_wrap=True)

    def add(which: str, weight: str, value: float, p: float) -> None:
        cells = [which, weight, measure_text(value), pvalue(p)]
        table.add_row(*cells, *([verdict_word(p, alpha)] if with_verdict else []))

    weights = [ABSENT if math.isnan(w) else number(w, 2) for w in test.weights.tolist()]
    members = zip(weights, test.member_values.tolist(), test.member_pvalues.tolist(), strict=True)
    for m, (weight, value, p) in enumerate(members):
        add(str(m + 1), weight, value, p)
    add("own mean", "", test.mean_value, test.mean_pvalue)
    add("best mixture", "", test.statistic, judged.adjusted)
    return table


def shown_names(tests: Sequence["ModelCalibration"]) -> list[str]:
    """Names of the models, with the run where several were tested."""
    runs: dict[str, set[int]] = {}
    for test in tests:
        runs.setdefault(test.model, set()).add(test.run)
    return [test.model if len(runs[test.model]) == 1 else f"{test.model}, run {test.run + 1}" for test in tests]


def _weights(test: "ModelCalibration") -> str:
    """All weights, or the greatest of many with the numbers of their members."""
    weights = test.weights
    if len(weights) <= SHOWN_WEIGHTS:
        return " ".join(number(w, 2) for w in weights)
    order = np.argsort(-weights, kind="stable")[: SHOWN_WEIGHTS - 2]
    shown = [int(m) for m in order if weights[m] >= 0.005]
    rest = 1.0 - float(weights[shown].sum())
    others = f", {number(rest, 2)} on the other {len(weights) - len(shown)}" if rest >= 0.005 else ""
    return ", ".join(f"{number(weights[m], 2)} on {m + 1}" for m in shown) + others


def _tested(test: "ModelCalibration") -> str:
    return {"mixtures": f"{test.n_members} {test.noun}", "mean": "the mean"}.get(test.tested, "nothing")


# What the weights of a calibration test do on held-out instances, in a terminal and as plain values.


@dataclass(frozen=True)
class HeldOut:
    """What the weights of one run do on held-out instances."""

    model: str
    #: run, n_runs: 0 for the first.
    run: int
    n_runs: int
    effect: "WeightedAverageEffect"

    @property
    def undefined(self) -> bool:
        """Whether no weights were found, because the measure is undefined; then they have no effect."""
        return bool(np.isnan(self.effect.weights).any())

    def to_dict(self) -> dict[str, Any]:
        """Plain values for a strict JSON writer; None for the effect of undefined weights."""
        e = self.effect
        found = {
            "accuracy": e.accuracy,
            "accuracy_weighted": e.accuracy_weighted,
            "error": e.error,
            "error_weighted": e.error_weighted,
            "error_difference": e.error_difference,
            "accuracy_difference": e.accuracy_difference.difference,
        }
        alone = ("accuracy", "error")
        return {
            "model": self.model,
            "run": self.run + 1,
            "measure": e.measure,
            "n_weighed": len(e.calibration_rows),
            "n_held_out": len(e.held_out_rows),
            "weights": e.weights,
            "pvalue": e.test.pvalue,
            "null_kind": e.test.null_kind,
            "n_draws": e.test.n_draws,
            **{
                name: None if self.undefined and name not in alone else estimate.to_dict()
                for name, estimate in found.items()
            },
        }


def print_held_out(effects: Sequence[HeldOut], models: Sequence[str], level: float) -> None:
    """Accuracy and calibration error of the plain and the weighted average on held-out instances."""
    console = open_console()
    console.print()
    if not effects:
        console.print(Text("Nothing to weigh: no model has several members or vertices.", "dim"))
        return
    console.print(Text(_title(effects[0].effect), "bold"))
    lines = [line for e in effects for line in _lines(e)]
    between = f"{level_text(level)} interval"
    columns = {
        "model": [line.model for line in lines],
        "of": [line.of for line in lines],
        "plain": [_value(line.plain, line.is_share) for line in lines],
        between: [_ends(line.plain, line.is_share) for line in lines],
        "weighted": [_value(line.weighted, line.is_share) for line in lines],
        f"{between} ": [_ends(line.weighted, line.is_share) for line in lines],
        "difference": [_signed(line.difference, line.is_share) for line in lines],
        f"{between}  ": [_ends(line.difference, line.is_share) for line in lines],
        "p": [pvalue(line.pvalue) for line in lines],
    }
    spare = ("plain", "weighted", "p", f"{between} ", between)
    table = fitted_table(columns, spare=spare, width=console.width, words=("of",))
    console.print(table)
    said = {
        "plain": "plain: average in which every member counts the same",
        "difference": "difference: weighted minus plain, of accuracies in percentage points",
        "p": "p: of all mixtures, where the weights were found",
    }
    console.print(Text(explained(said, table), "dim"))
    without = [name for name in models if name not in {e.model for e in effects}]
    if without:
        print_note(f"{', '.join(map(named, without))}: nothing to weigh")


# -- helpers ------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Compared:
    """A line of the table; None where no weights were found. A share is shown in percent."""

    model: str
    of: str
    plain: "Estimate"
    weighted: "Estimate | None"
    difference: "Estimate | None"
    is_share: bool
    pvalue: float = math.nan


def _title(effect: "WeightedAverageEffect") -> str:
    n_weighed, n_held = len(effect.calibration_rows), len(effect.held_out_rows)
    return (
        f"Weights found on {count(n_weighed)} case{'s' if n_weighed != 1 else ''}, and what they do on "
        f"{count(n_held)} held-out one{'s' if n_held != 1 else ''}"
    )


def _lines(e: HeldOut) -> list[_Compared]:
    """The accuracy and the error of one run."""
    name = visible(e.model if e.n_runs == 1 else f"{e.model}, run {e.run + 1}")
    effect = e.effect
    return [
        _Compared(
            model=name,
            of=f"accuracy, by {effect.measure}",
            plain=effect.accuracy,
            weighted=None if e.undefined else effect.accuracy_weighted,
            difference=None if e.undefined else effect.accuracy_difference.difference,
            is_share=True,
        ),
        _Compared(
            model=name,
            of=effect.measure,
            plain=effect.error,
            weighted=None if e.undefined else effect.error_weighted,
            difference=None if e.undefined else effect.error_difference,
            is_share=False,
            pvalue=effect.test.pvalue,
        ),
    ]


def _value(estimate: "Estimate | None", is_share: bool) -> str:
    if estimate is None:
        return ABSENT
    return percent(float(estimate)) if is_share else measure_text(float(estimate))


def _signed(estimate: "Estimate | None", is_share: bool) -> str:
    if estimate is None or math.isnan(float(estimate)):
        return ABSENT
    value = 100 * float(estimate) if is_share else float(estimate)
    text = number(value, 1) if is_share else measure_text(value)
    return f"+{text}" if text[0].isdigit() and value > 0 else text


def _ends(estimate: "Estimate | None", is_share: bool) -> str:
    if estimate is None:
        return ABSENT
    if is_share:
        return interval(100 * estimate.low, 100 * estimate.high, 1)
    if math.isnan(estimate.low) or math.isnan(estimate.high) or estimate.low == estimate.high:
        return ABSENT
    return f"{measure_text(estimate.low)} to {measure_text(estimate.high)}"


# What `uqassay calibration-test` prints: the tests, what they say in words, weights, single members and notes.


def print_tests(
    judged: Sequence["JudgedTest"], alpha: float, plan: "CalibrationPlan", *, null: str | None = None
) -> None:
    """The tests as a table, in words, with the weights, single members where they were tested, and notes.

    `null` is the null distribution that was asked for.
    """
    console = open_console()
    tests = [j.test for j in judged]
    mixed = [j.test for j in judged if j.mixed]
    console.print(Text(_output_title(tests, plan), "bold"))
    table, words = table_of_tests(judged, alpha, console.width)
    console.print(table)
    console.print(Text(words, "dim"))
    console.print()
    for j in judged:
        console.print(Text(visible(claim(j)), "bold" if j.outcome == "rejected" else ""))
    weighed = [test for test in mixed if not np.isnan(test.weights).any()]
    if weighed:
        console.print()
        console.print(Text("Weights with the least value", "bold"))
        console.print(weights_table(weighed, console.width))
        said = "of member 1, 2 and so on; accuracy on the same cases, of the model's own mean and of the mixture"
        console.print(Text(said, "dim"))
    names = shown_names(tests)
    for name, j, test in zip(names, judged, tests, strict=True):
        if j.mixed and len(test.member_values):
            console.print()
            console.print(Text(visible(f"Single {test.noun} of {name} by {test.measure}"), "bold"))
            console.print(members_table(j, alpha, console.width))
    notes = [*_notes(tests), *_notes_on_options(tests, plan, null), *_notes_on_draws(tests, alpha, plan)]
    if notes:
        console.print()
    for note in notes:
        print_note(note)


def _output_title(tests: Sequence["ModelCalibration"], plan: "CalibrationPlan") -> str:
    first = tests[0]
    draws = (
        "as many draws of labels as small p-values need" if plan.n_more else f"{count(plan.n_draws)} draws of labels"
    )
    if plan.convention == "paper-code":
        draws += ", as in the authors' code"
    elif any(test.tested == "mixtures" for test in tests):
        draws += f", null {plan.null}"
    return f"Calibration tests on {count(first.n_tested)} of {count(first.n_instances)} cases; {draws}"


def _notes_on_draws(tests: Sequence["ModelCalibration"], alpha: float, plan: "CalibrationPlan") -> list[str]:
    """A fixed number of draws that cannot reject after the adjustment."""
    if plan.n_more or len(tests) / (plan.n_draws + 1) <= alpha + 1e-12:
        return []
    return [
        f"{count(plan.n_draws)} draws cannot reject any of {counted(len(tests), 'test')} at {alpha:.3g} if all look alike; "
        f"--draws {count(math.ceil(len(tests) / alpha - 1e-9) - 1)} can"
    ]


def _notes_on_options(tests: Sequence["ModelCalibration"], plan: "CalibrationPlan", null: str | None) -> list[str]:
    """Options that had no meaning for some of the models."""
    notes = []
    alone = dict.fromkeys(test.model for test in tests if test.tested != "mixtures")
    if null is not None and alone and plan.convention == "exact":
        notes.append(
            f"{', '.join(map(named, alone))}: no mixtures, so labels are drawn from the mean and --null has no effect"
        )
    memberless = dict.fromkeys(test.model for test in tests if not len(test.member_values))
    if plan.members and memberless:
        notes.append(f"{', '.join(map(named, memberless))}: no single members to test")
    return notes


def _notes(tests: Sequence["ModelCalibration"]) -> list[str]:
    """Each note once, with the models and measures that it is about, unless it is about all."""
    about: dict[str, list[ModelCalibration]] = {}
    for test in tests:
        for note in dict.fromkeys(note_text(note) for note in test.notes):
            about.setdefault(note, []).append(test)
    return [note if len(those) == len(tests) else f"{_subjects(those, tests)}: {note}" for note, those in about.items()]


def _subjects(those: Sequence["ModelCalibration"], tests: Sequence["ModelCalibration"]) -> str:
    """Models, with the measures of those that were tested by others too."""
    names = []
    for model in dict.fromkeys(test.model for test in those):
        measures = dict.fromkeys(test.measure for test in those if test.model == model)
        every = {test.measure for test in tests if test.model == model}
        names.append(named(model) if len(measures) == len(every) else f"{named(model)} by {', '.join(measures)}")
    return ", ".join(names)


# The command `second-order`: is the epistemic variance that a model states the one that votes show?

HOW_SECOND_ORDER = "How it is tested"


@takes_reading("ignore_label", *OF_ANSWERS)
def second_order_command(
    models: Models,
    votes: Annotated[
        Path | None,
        option("Votes, at least two for each case: numbers of votes for each class, an array (n, K).", INPUT),
    ] = None,
    leave_out_few: Annotated[
        bool, option("Leave out cases with fewer than two votes.", INPUT, "--leave-out-few")
    ] = False,
    groups: Groups = None,
    reading: Reading = Reading(),  # noqa: B008
    by: Annotated[
        str,
        option(
            "overall: the mean gap; kernel: the gap for every kind of statement; moments: mean and second moments too.",
            HOW_SECOND_ORDER,
            metavar="NAME",
        ),
    ] = "overall",
    buckets: Annotated[
        int, option("Buckets of equal stated variance, in the JSON.", HOW_SECOND_ORDER, metavar="N", min=1)
    ] = 10,
    alpha: Annotated[float, option("Level of the tests.", HOW_SECOND_ORDER)] = 0.05,
    level: Annotated[float, option("Confidence level of the intervals.", HOW_SECOND_ORDER)] = 0.95,
    seed: Annotated[
        int, option("Seed of every random draw.", HOW_SECOND_ORDER, "--seed", "--rng", metavar="N", min=0)
    ] = 0,
    as_json: Json = False,
) -> None:
    """Compare stated with observed epistemic variance, from two or more votes per case."""
    from uqassay.calibration import second_order_test
    from uqassay.calibration.votes import check_second_order_level
    from uqassay.evidence.align import align_models
    from uqassay.statistics.units import check_choice

    check_second_order_level(alpha, by)
    if reading.votes_are is not None:
        check_choice(reading.votes_are, "votes_are", ("counts", "single"))
    if votes is None:
        fail(
            "--votes",
            "votes are needed, at least two for each case",
            "",
            "give them by --votes FILE",
            code="missing",
        )
    files = model_files(models)
    with progress(2 * sum(len(paths) for paths in files.values())) as say:
        given = _read_votes(votes, reading)
        names = reading.names()
        runs, _ = load_models(files, reading, like=class_texts(names, given), say=say)
        units = read_groups(groups, reading)
        aligned = align_models(runs, class_names=names)
        with about_files({"votes": votes, "groups": groups}):
            given = in_rows_of(given, aligned.known, "votes")
            units = None if units is None else in_rows_of(units, aligned.known, "groups")
        found = []
        for name, of_model in aligned.models.items():
            for r, run in enumerate(of_model):
                say(f"testing {name}")
                with about_files({"votes": votes, "groups": groups}), _second_order_of_model(name):
                    test = second_order_test(
                        given,
                        replace(run, class_order=aligned.class_order),
                        votes_are=reading.votes_are,  # type: ignore[arg-type]
                        by=by,  # type: ignore[arg-type]
                        buckets=buckets,
                        groups=units,
                        few_votes="leave-out" if leave_out_few else "refuse",
                        level=level,
                        rng=seed,
                    )
                found.append((name if len(of_model) == 1 else f"{name}, run {r + 1}", test))
    for sentence in normalised_sentences(runs):
        complain(sentence)
    if as_json:
        tests = [
            {
                "model": name,
                **test.to_dict(),
                "rejected": test.reject(alpha),
                "sentence": test.sentence(alpha, name=name),
            }
            for name, test in found
        ]
        print_json({"schema": "uqassay.second-order/1", "alpha": alpha, "level": level, "tests": tests})
    else:
        _print(found, alpha, level)


# -- input --------------------------------------------------------------------------------------------------------------


def _read_votes(path: Path, reading: Reading) -> FromFile:
    """Numbers of votes for each class, or single votes, with the ids and class names that stand beside them."""
    file, column = file_and_column(path)
    try:
        votes = load_column(file, ("votes", "counts", "labels") if column is None else (column,), id=reading.id)
    except InputError as problem:
        if problem.code != "missing" or column is not None:
            raise
        return read_labels(file, reading)
    return single_votes_by_name(votes) if reading.votes_are == "single" else votes


@contextmanager
def _second_order_of_model(name: str) -> Iterator[None]:
    """Name the model in errors about its prediction."""
    try:
        yield
    except InputError as problem:
        if problem.parameter == "prediction":
            raise problem.replace(parameter=f"models[{name!r}]") from problem
        raise


# -- output -------------------------------------------------------------------------------------------------------------


def _print(found: "Sequence[tuple[str, SecondOrderTest]]", alpha: float, level: float) -> None:
    console = open_console()
    sizes = sorted({test.n for _, test in found})
    said = count(sizes[0]) if len(sizes) == 1 else f"{count(sizes[0])} to {count(sizes[-1])}"
    console.print(Text(f"Epistemic variance, stated and observed on {said} cases with votes", "bold"))
    decimals = decimals_for((test.observed.low, test.observed.high) for _, test in found)
    ratios = [test.ratio for _, test in found]
    columns = {
        "model": [visible(name) for name, _ in found],
        "stated": [number(float(test.stated), decimals) for _, test in found],
        "observed": [number(float(test.observed), decimals) for _, test in found],
        "ratio": [number(float(ratio), 2) for ratio in ratios],
        f"{level_text(level)} interval": [interval(ratio.low, ratio.high, 2) for ratio in ratios],
        "slope": [number(float(test.slope), 2) for _, test in found],
        "p": [pvalue(test.pvalue) for _, test in found],
    }
    table = fitted_table(columns, spare=["slope", f"{level_text(level)} interval"], width=console.width)
    console.print(table)
    words = {
        "stated": "stated: mean variance of the label probabilities, summed over the classes",
        "observed": "observed: mean squared distance of the true label probabilities from the mean of the model",
        "slope": "slope: of observed on stated, case by case; 1 if calibrated",
    }
    more = f"; each test by itself, not adjusted for the {len(found)}" if len(found) > 1 else ""
    console.print(Text(explained(words, table) + more, "dim"))
    console.print()
    for name, test in found:
        console.print(Text(visible(test.sentence(alpha, name=name)), "bold" if test.reject(alpha) else ""))
    console.print()
    for note in _second_order_notes(found):
        print_note(note)


def _second_order_notes(found: "Sequence[tuple[str, SecondOrderTest]]") -> list[str]:
    """Each note once, with the models that it is about, unless it is about all."""
    about: dict[str, list[str]] = {}
    for name, test in found:
        for note in dict.fromkeys(note_text(note) for note in test.notes):
            about.setdefault(note, []).append(visible(name))
    return [
        note if len(names) == len(found) else f"{', '.join(map(named, names))}: {note}" for note, names in about.items()
    ]
