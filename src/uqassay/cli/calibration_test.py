"""The command `calibration-test`: is a classifier, or some mixture of an ensemble's members, calibrated?"""

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
import typer

from uqassay.cli.inputs import (
    AssayRequest,
    Reading,
    load_request,
    model_files,
    normalised_sentences,
    without_ignored,
)
from uqassay.cli.judging import CHECK_FAILED
from uqassay.cli.options import INPUT, OUTPUT, Groups, Json, Labels, Models, option, takes_reading
from uqassay.cli.remedies import about_files
from uqassay.cli.streams import complain, print_json, progress
from uqassay.errors import InputError
from uqassay.evidence import CALIBRATION
from uqassay.notes import Note
from uqassay.wording import count

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from uqassay.cli.calibration_held_out import HeldOut
    from uqassay.evidence import ModelCalibration
    from uqassay.evidence.alignment import Aligned
    from uqassay.evidence.calibration_plan import CalibrationPlan
    from uqassay.evidence.calibration_statements import JudgedTest
    from uqassay.metrics.calibration.measures import CalibrationMeasure

__all__ = ["calibration_test_command"]

HOW, MORE = "How it is tested", "What else is computed"


@takes_reading("votes_are")  # votes are refused
def calibration_test_command(
    models: Models,
    labels: Labels = None,
    groups: Groups = None,
    instances: Annotated[
        int | None, option("Test on N instances, chosen at random.", INPUT, metavar="N", min=1)
    ] = None,
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
            "Draw instances with replacement, as printed; needs --null random where members are mixed.",
            HOW,
            "--resample",
        ),
    ] = False,
    seed: Annotated[int, option("Seed of every random draw.", HOW, "--seed", "--rng", metavar="N", min=0)] = 0,
    members: Annotated[bool, option("Test every single member besides the mixture.", MORE, "--members")] = False,
    held_out: Annotated[
        float | None,
        option(
            "Find the weights on the other instances, and compare weighted and plain average on this share.",
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
    from uqassay.cli.calibration_errors import errors_of_means, print_errors
    from uqassay.cli.calibration_held_out import print_held_out
    from uqassay.cli.calibration_output import print_tests
    from uqassay.evidence.calibration_plan import CalibrationPlan, check_measures
    from uqassay.evidence.calibration_statements import judged_tests
    from uqassay.evidence.calibration_verdict import claim

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
        raise InputError(
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
    from uqassay.calibration.credal_nulls import BETA
    from uqassay.calibration.monte_carlo import check_alpha
    from uqassay.statistics.samples import check_choice

    check_choice(plan.null, "null", ("minimised", "random", "berger-boos"))
    check_choice(plan.convention, "convention", ("exact", "paper-code"))
    if plan.convention == "exact":
        check_alpha(alpha, plan.n_draws, offset=BETA if plan.null == "berger-boos" else 0.0)
        return
    check_alpha(alpha, 2**62)
    if plan.null != "random" or plan.resample:  # else points would be tested as if nothing had been asked for
        raise InputError(
            "--convention",
            "the authors' code has only the null of a random mixture, with permuted instances",
            f"got {('--resample' if plan.resample else f'--null {plan.null}')}",
            "leave that out, or --convention paper-code",
            code="conflict",
        )


def _check_held_out(plan: "CalibrationPlan", held_out: float | None, level: float | None) -> None:
    """Refuse options that held-out effects would not follow, and their level without them."""
    from uqassay.statistics.samples import check_level

    check_level(plan.level)
    if held_out is None:
        if level is not None:
            raise InputError(
                "--level",
                "is the level of the intervals with --held-out",
                f"got {level:g} without it",
                "pass --held-out 0.5, for example, or leave --level out",
                code="conflict",
            )
        return
    if not 0 < held_out < 1:
        raise InputError(
            "--held-out", "must lie strictly between 0 and 1", f"got {held_out:g}", "0.5 takes one half", code="range"
        )
    if plan.convention != "exact" or plan.resample:
        raise InputError(
            "--held-out",
            "weights are found by the exact convention, without resampling",
            f"got --held-out with {('--resample' if plan.resample else f'--convention {plan.convention}')}",
            "leave one of the two out",
            code="conflict",
        )


def _aligned(request: AssayRequest, say: Callable[[str], None]) -> "Aligned":
    """Predictions, labels and groups in the order of the first model that has ids."""
    from uqassay.evidence.alignment import align

    loaded = without_ignored(load_request(request, say))
    if loaded.labels.ndim == 2:
        source = loaded.files["y_true"]
        raise InputError(
            "" if source else "--labels",
            "a calibration test takes one label for each instance",
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
    from uqassay.evidence.calibration_cost import choose_instances

    n = len(aligned.labels)
    if instances is not None and instances > n:
        raise InputError(
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
    from uqassay.evidence.calibration_of_run import TestedSample, tested_part, tested_run

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
    from uqassay.calibration.shared_members import shared_members
    from uqassay.calibration.weighted_average import weighted_average_effect
    from uqassay.cli.calibration_held_out import HeldOut
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
    from uqassay.evidence.calibration_verdict import claim

    arrays, test = ("weights", "null", "member_values", "member_pvalues"), judged.test
    return {
        **test.row(),
        "pvalue_adjusted": judged.adjusted,
        "null_kind": test.null_kind,
        "rejected": None if judged.outcome == "undefined" else judged.outcome == "rejected",
        "sentence": claim(judged),
        **{name: getattr(test, name) for name in arrays},
    }
