"""The commands `ood`, `refuse` and `gain`."""

import itertools
import math
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
import typer
from rich.text import Text

from uqassay.checks import fail
from uqassay.cli.errors import about_files, note_text
from uqassay.cli.fail_if import CANNOT_TELL, Check, end, gain_outcome, parse_check, steps_of
from uqassay.cli.inputs import (
    COLUMN,
    HOLDS,
    INPUT,
    OF_ANSWERS,
    OUTPUT,
    SURE,
    AssayRequest,
    CommonInstances,
    Groups,
    Json,
    Labels,
    Loaded,
    Models,
    OnIntervals,
    Reading,
    Seed,
    check_page,
    check_save,
    class_texts,
    label_to_ignore,
    labels_of,
    load_models,
    load_request,
    make_assay,
    model_files,
    normalised_sentences,
    option,
    read_groups,
    read_labels,
    takes_reading,
    without_ignored,
)
from uqassay.cli.screen import (
    complain,
    explained,
    fitted_table,
    open_console,
    print_json,
    print_note,
    print_text,
    progress,
    shell_line,
    unicode_text,
)
from uqassay.errors import InputError
from uqassay.notes import Note, distinct
from uqassay.text import (
    count,
    counted,
    decimals_for,
    interval,
    level_text,
    listed,
    listed_names,
    number,
    percent,
    pvalue_text,
    text_table,
    visible,
)

if TYPE_CHECKING:
    from uqassay.evidence import GainSample, GainStudy
    from uqassay.evidence.mistakes import ModelRefusal
    from uqassay.evidence.ood import OodDetection
    from uqassay.predictions import Prediction
    from uqassay.statistics import Estimate

__all__ = [
    "check_calibration",
]


# The command `ood`: which score of which model separates out-of-distribution inputs, from predictions alone.

HOW_OOD = "What is computed"
HEADERS = ("ROC-AUC", "FPR95", "AUPR", "SCOD-AURC")
SHOWN_SCORES = 3  # that a note names before the others are counted


@takes_reading("positive", *OF_ANSWERS)
def ood_command(
    models: Models,
    out: Annotated[
        list[str] | None,
        option("The same models on inputs out of distribution (repeat it for each).", INPUT, metavar="NAME=FILE"),
    ] = None,
    labels: Annotated[
        Path | None,
        option(
            "Labels in distribution: then errors and inputs out of distribution are judged together too (SCOD).",
            INPUT,
            metavar="FILE[:COLUMN]",
        ),
    ] = None,
    groups: Groups = None,
    out_groups: Annotated[Path | None, option("The same out of distribution.", INPUT)] = None,
    reading: Reading = Reading(),  # noqa: B008
    score: Annotated[
        list[str] | None,
        option("A score to judge (repeatable); by default those of the default list.", HOW_OOD, metavar="SCORE"),
    ] = None,
    positive: Annotated[
        str, option("What FPR95 and AUPR take for positive, out or in; papers differ.", HOW_OOD, metavar="out|in")
    ] = "out",
    ties: Annotated[
        str,
        option(
            "Ties at the threshold of FPR95: shared evenly, or whole, as other libraries let them pass.",
            HOW_OOD,
            metavar="shared|whole",
        ),
    ] = "shared",
    error_cost: Annotated[
        float, option("SCOD: cost of a kept error; a kept input out of distribution costs 1 minus it.", HOW_OOD)
    ] = 0.5,
    share_out: Annotated[
        float | None, option("SCOD: share of inputs out of distribution in use, unless that of the files.", HOW_OOD)
    ] = None,
    level: Annotated[float, option("Confidence level of the intervals.", HOW_OOD)] = 0.95,
    as_json: Json = False,
) -> None:
    """Judge how well each score separates out-of-distribution inputs; labels add the errors."""
    from uqassay.evidence.ood import detect_ood_in_predictions

    if not out:
        fail(
            "--out",
            "the same models on inputs out of distribution are needed",
            "",
            "give them by --out NAME=FILE, once for each",
            code="missing",
        )
    inside_files, outside_files = model_files(models), model_files(out, option="--out")
    n_files = sum(len(paths) for files in (inside_files, outside_files) for paths in files.values())
    with progress(n_files + 2 * len(inside_files) + 1) as say:
        names, asked = reading.names(), None if labels is None else read_labels(labels, reading)
        like = class_texts(names, asked)
        inside, facts = load_models(inside_files, reading, like=like, say=say)
        outside, _ = load_models(outside_files, reading, like=like, say=say)
        said = [
            *_on_both_sides(inside_files, outside_files),
            *normalised_sentences(inside),
            *normalised_sentences(outside),
        ]
        groups_in, groups_out = read_groups(groups, reading), read_groups(out_groups, reading)
        y, source = labels_of(labels, asked, reading, facts, inside) or (None, None)
        of_files = {"groups_in": groups, "groups_out": out_groups, "labels": source}
        with about_files(of_files, {"groups_in": "groups", "groups_out": "groups", "labels": ""}):
            if y is not None:
                ignored = label_to_ignore(reading, y)
                loaded = without_ignored(Loaded(inside, y, groups_in, names, ignored, {"y_true": source}))
                inside, y, groups_in = loaded.runs, loaded.labels, loaded.groups
            found = detect_ood_in_predictions(
                inside,
                outside,
                class_names=names,
                scores=score or None,
                groups_in=groups_in,
                groups_out=groups_out,
                level=level,
                positive=positive,  # type: ignore[arg-type]
                ties=ties,  # type: ignore[arg-type]
                labels=y,
                error_cost=error_cost,
                share_out=share_out,
                votes_are=reading.votes_are,
                progress=say,
            )
        say("intervals")
        rows_found = found.rows() if as_json else []
        table = [] if as_json else _estimates(found)
    for sentence in said:
        complain(sentence)
    if as_json:
        print_json({"schema": "uqassay.ood/1", **_facts(found), "findings": rows_found})
    else:
        _print_ood(found, table, score or ())


def _on_both_sides(inside: dict[str, list[Path]], outside: dict[str, list[Path]]) -> list[str]:
    """The same file on both sides gives AUC ½; that is allowed, but usually a mistake."""
    places = {os.path.realpath(path) for paths in inside.values() for path in paths}
    return [
        f"Warning: --out: {path.name} is given in distribution too; no score can tell a file from itself."
        for path in dict.fromkeys(path for paths in outside.values() for path in paths)
        if os.path.realpath(path) in places
    ]


# -- output -------------------------------------------------------------------------------------------------------------


def _facts(found: "OodDetection") -> dict[str, Any]:
    return {
        "n_in": found.inside.n_instances,
        "n_out": found.outside.n_instances,
        "positive": found.positive,
        "ties": found.ties,
        "level": found.level,
        **({"error_cost": found.error_cost, "share_out": found.share_out} if found.has_errors else {}),
    }


def _estimates(found: "OodDetection") -> "list[tuple[str, str, list[Estimate]]]":
    """Model, score and all metrics, the greatest ROC-AUC first, what is undefined last."""
    rows = [
        (model, score, [found.estimate(model, score, metric) for metric in found.shown_metrics])
        for model in found.model_names
        for score in found.score_names(model)
    ]
    return sorted(rows, key=lambda row: math.inf if math.isnan(row[2][0]) else -row[2][0])


def _print_ood(
    found: "OodDetection", rows: "Sequence[tuple[str, str, list[Estimate]]]", asked: Sequence[str] = ()
) -> None:
    console = open_console()
    m, n = found.inside.n_instances, found.outside.n_instances
    title = f"{count(m)} cases in distribution, {count(n)} out of it; by ROC-AUC, greater is better"
    console.print(Text(title, "bold"))
    columns = {"model": [visible(row[0]) for row in rows], "score": [row[1] for row in rows]}
    headers = HEADERS[: len(found.shown_metrics)]
    between = [f"{level_text(found.level)} interval{' ' * k}" for k in range(len(headers))]  # blanks tell them apart
    for k, header in enumerate(headers):
        estimates = [row[2][k] for row in rows]
        decimals = decimals_for((e.low, e.high) for e in estimates)
        columns[header] = [number(float(e), decimals) for e in estimates]
        columns[between[k]] = [interval(e.low, e.high, decimals) for e in estimates]
    spare = [between[0], "FPR95", "AUPR", *headers[3:], *between[1:]]
    table = fitted_table(columns, spare=spare, width=console.width, words=("score",))
    console.print(table)
    what = ("in", "refused", n) if found.positive == "out" else ("out of", "kept", m)
    chance = f"{what[2] / (m + n):.3g} without knowledge (positive: {found.positive})"
    said = {
        "FPR95": f"FPR95: share {what[0]} distribution that is {what[1]} where 95 % of the others are",
        "AUPR": f"AUPR: average precision, {chance}",
        "SCOD-AURC": _costs(found),
    }
    if words := explained(said, table):
        console.print(Text(words, "dim"))
    for note in (*_absent(found, asked), *_notes(rows)):
        print_note(note)


def _costs(found: "OodDetection") -> str:
    share = found.outside.n_instances / (found.inside.n_instances + found.outside.n_instances)
    share = share if found.share_out is None else found.share_out
    cost = found.error_cost
    return (
        f"SCOD-AURC: mean cost of the inputs kept over all coverages, {cost:.3g} for an error, {1 - cost:.3g} for an input out "
        f"of distribution; {percent(share)} are"
    )


def _absent(found: "OodDetection", asked: Sequence[str]) -> Iterator[str]:
    """Which models lack a score that was asked for."""
    for score in dict.fromkeys(asked):
        for name, model in found.inside.models.items():
            if score not in found.score_names(name):
                yield f"{name} ({model.kind}) has no {score} and is left out"


def _notes(rows: "Sequence[tuple[str, str, list[Estimate]]]") -> Iterator[str]:
    """Each note once, with the scores that it is about, unless it is about all."""
    about: dict[str, list[str]] = {}
    for model, score, estimates in rows:
        for note in dict.fromkeys(map(note_text, distinct(*(e.notes for e in estimates)))):
            about.setdefault(note, []).append(f"{score} of {model}")
    for note, scores in about.items():
        yield note if len(scores) == len(rows) else f"{listed(scores, most=SHOWN_SCORES)}: {note}"


# The command `refuse`: one threshold to deploy, below which the share of wrong cases is bounded with a stated
# confidence.

HOW_REFUSE = "What is refused"
MANY_GROUPS = "The test of groups needs about as many groups as a test of independent cases needs cases"
ALWAYS_THERE = "nonspecificity"  # a score that every assay has, and that is no measure to ask for


@takes_reading("votes_are")  # votes are refused
def refuse_command(
    models: Models,
    labels: Labels = None,
    groups: Annotated[Path | None, option(f"Patients, sites or videos. {MANY_GROUPS}.", INPUT, metavar=COLUMN)] = None,
    reading: Reading = Reading(),  # noqa: B008
    common_instances: CommonInstances = False,
    risk: Annotated[
        float | None, option("Greatest acceptable share of wrong cases among those kept.", HOW_REFUSE, metavar="SHARE")
    ] = None,
    score: Annotated[
        list[str] | None,
        option(
            "An uncertainty score to refuse by (repeatable); the best of all unless given.", HOW_REFUSE, metavar="SCORE"
        ),
    ] = None,
    run: Annotated[
        int | None, option("The training run to deploy, where a model has several.", INPUT, metavar="N", min=1)
    ] = None,
    confidence: Annotated[float, option("Probability, over test sets, that the statement holds.", SURE)] = 0.95,
    share: Annotated[
        float, option("Share of the cases (or groups) that choose the threshold; the others certify it.", SURE)
    ] = 0.3,
    seed: Seed = 0,
    as_json: Json = False,
) -> None:
    """Find the threshold that keeps the error rate below a limit with a stated confidence."""
    from uqassay.statistics.units import check_inside

    if risk is None:
        fail(
            "--risk",
            "the greatest acceptable error rate is needed",
            "",
            "give it by --risk, for example --risk 0.05",
            code="missing",
        )
    for value, name, example in ((risk, "risk", 0.05), (confidence, "confidence", 0.95), (share, "share", 0.3)):
        check_inside(value, name, example)
    scores = list(dict.fromkeys(score or ()))
    kept = any((Path(text) / HOLDS).is_file() for text in models)
    request = AssayRequest(
        models,
        labels=labels,
        groups=groups,
        reading=reading,
        score=() if kept else [name for name in scores if name != ALWAYS_THERE],
        calibration=["none"],
        common_instances=common_instances,
    )
    with progress(steps_of(request)) as say:
        assay = make_assay(request, progress=say)
        say("certifying")
        found = assay.certified_refusal(
            score=scores or None,
            risk=risk,
            confidence=confidence,
            run=None if run is None else run - 1,
            share=share,
            rng=seed,
        )
    if as_json:
        print_json({"schema": "uqassay.refusal/1", **found.to_dict()})
    else:
        _print_refuse(found)
    if not found.certified:
        complain("No threshold is certified: exit code 3.")
        raise typer.Exit(CANNOT_TELL)


# -- output -------------------------------------------------------------------------------------------------------------


def _print_refuse(found: "ModelRefusal") -> None:
    console, refusal = open_console(), found.refusal
    console.print(Text(visible(found.sentence()), "bold"))
    console.print()
    rows = [
        ("certified", _threshold(refusal.threshold), percent(float(refusal.coverage))),
        ("not certified", _threshold(refusal.uncertified_threshold), percent(refusal.uncertified_coverage)),
    ]
    print_text("\n".join(text_table(("", "threshold", "kept"), rows)))
    console.print(Text("not certified: the highest threshold whose observed error rate meets the limit", "dim"))
    console.print()
    others = [note_text(note) for note in refusal.notes if note.code != "undefined"]  # that one is in the sentence
    of_groups = [MANY_GROUPS] if refusal.method == "bets" else []
    for note in (_how(found), *dict.fromkeys(others), *of_groups):
        print_note(note)


def _threshold(value: float) -> str:
    """In full, so that it can be copied."""
    return repr(value) if math.isfinite(value) else number(value)


def _how(found: "ModelRefusal") -> str:
    """Which instances chose what, and what the others show."""
    refusal, n = found.refusal, len(found.considered)
    what = "the threshold" if n == 1 else f"the threshold and the score, of {n}"
    seen = refusal.observed_risk
    shown = f"{percent(float(seen), 2)} of {counted(seen.n, 'case')} kept are wrong, {pvalue_text(refusal.pvalue)}"
    certified = f" ({shown})" if refusal.certified else ""
    chose, others = counted(refusal.n_choosing, "case"), counted(refusal.n_certifying, "other")
    return f"{chose} chose {what}; {others} certify it{certified}"


# Checks of the calibration predictions of `gain`: other instances than those of the test, of the same problem.

PARAMETER = "--calibration"
LEAST = 2  # instances; one alone may be equal by chance


def check_calibration_files(files: Sequence[Path], calibration: Sequence[Path]) -> None:
    """Refuse one file for both models, and the files of the test instances."""
    before, after = (os.path.realpath(path) for path in calibration)
    if before == after:
        fail(
            PARAMETER,
            "must be different files",
            f"{calibration[0]} is given twice",
            "give the predictions without and with more data",
            code="duplicate",
        )
    test = {os.path.realpath(path) for path in files}
    same = [path for path in calibration if os.path.realpath(path) in test]
    if same:
        raise _not_others(f"{same[0]} is also a file of the test cases")


def check_calibration(test: "GainSample", of_test: "Prediction", own: "GainSample", of_own: "Prediction") -> list[Note]:
    """Refuse the test instances themselves and another problem; tell how many instances have the id of a test instance.

    Parameters
    ----------
    test, own : GainSample
        Of the test and of the calibration instances.
    of_test, of_own : Prediction
        Of the model without more data.
    """
    if of_own.n_classes != of_test.n_classes:
        raise _other_classes(
            f"must have the {of_test.n_classes} classes of the test predictions", f"got {of_own.n_classes}"
        )
    names, given = (None if one.class_names is None else set(one.class_names) for one in (of_test, of_own))
    if names is not None and given is not None and names != given:
        raise _other_classes(
            "must have the class names of the test predictions", f"got also {listed_names(sorted(given - names))}"
        )
    equal = test.n_instances == own.n_instances >= LEAST and all(
        np.array_equal(values, getattr(own, part).get(name, ()))
        for part in ("gain", "epistemic")
        for name, values in getattr(test, part).items()
    )
    if equal:
        raise _not_others("all gains and estimates are those of the test cases")
    if of_test.ids is None or of_own.ids is None:
        return []
    shared = int(np.isin(of_own.ids, of_test.ids).sum())
    if not shared:
        return []
    said = (
        f"{shared:,} of {counted(own.n_instances, 'calibration case')} with the id of a test case, which makes the map "
        "look too good: leave them out"
    )
    return [Note("assumption", said, {"shared": shared, "instances": own.n_instances})]


def _not_others(got: str) -> InputError:
    return InputError(
        PARAMETER,
        "must be of other cases than the test, because a map looks better than it is on its own cases",
        got,
        "give predictions for other cases, or leave it out",
        code="duplicate",
    )


def _other_classes(rule: str, got: str) -> InputError:
    return InputError(
        PARAMETER, rule, got, "give the same models' predictions for cases of the same problem", code="mismatch"
    )


# The command `gain`: does more data help where the model is uncertain, from predictions without and with more data.

HOW = "What is computed"
STUDY = "study.json"  # in the folder of a study
PAIR = 2


@takes_reading("votes_are", *OF_ANSWERS)  # votes are refused
def gain_command(
    context: typer.Context,
    files: Annotated[
        list[Path],
        typer.Argument(
            help="Predictions of one model without and with more data, for the same cases (two files); or folders of "
            "studies that were saved.",
            metavar="BEFORE AFTER | FOLDER...",
            show_default=False,
        ),
    ],
    labels: Annotated[
        Path | None, option("Labels; needed unless a prediction file holds them.", INPUT, metavar="FILE")
    ] = None,
    calibration: Annotated[
        tuple[Path, Path] | None,
        option(
            "The same two predictions for other cases, on which the map of estimates to gains is fitted; without them it "
            "is cross-fitted on the test cases.",
            INPUT,
            metavar="BEFORE AFTER",
        ),
    ] = None,
    calibration_labels: Annotated[
        Path | None, option("Labels of the calibration cases.", INPUT, metavar="FILE")
    ] = None,
    groups: Groups = None,
    name: Annotated[
        str | None, option("Name of the model; that of the first file unless given.", INPUT, metavar="NAME")
    ] = None,
    reading: Reading = Reading(),  # noqa: B008
    score: Annotated[
        list[str] | None,
        option(
            "Estimates of epistemic uncertainty, repeatable or with commas between them; mutual-information and entropy "
            "unless given.",
            HOW,
            metavar="SCORE",
        ),
    ] = None,
    loss: Annotated[
        list[str] | None,
        option("zero-one, log or brier; several with commas.", HOW, metavar="LOSS", show_default="zero-one"),
    ] = None,
    bins: Annotated[int, option("Intervals of the estimates.", HOW, metavar="N", min=1)] = 20,
    binning: Annotated[str, option("equal-mass or equal-width.", HOW, metavar="NAME")] = "equal-mass",
    cross_fit: Annotated[
        int,
        option(
            "Folds of the test cases: the estimates of each are mapped by a map of the others. 0 for no map. Not used with "
            "--calibration.",
            HOW,
            metavar="FOLDS",
            min=0,
        ),
    ] = 5,
    level: Annotated[float, option("Confidence level of the intervals.", SURE)] = 0.95,
    output: Annotated[Path | None, option("Write the page to this file.", OUTPUT, "--output", "-o")] = None,
    save: Annotated[Path | None, option("Keep the study in this folder.", OUTPUT, metavar="FOLDER")] = None,
    fail_if: Annotated[
        list[str] | None,
        option(
            "Exit with code 1 where this holds: correlation<0.05, eece@entropy>0.1 or GP:delay-gain<0.01 (repeatable).",
            OUTPUT,
            metavar="[MODEL:]METRIC[@SCORE]<NUMBER",
        ),
    ] = None,
    on_intervals: OnIntervals = False,
    as_json: Json = False,
) -> None:
    """Compare the gain from more data with the epistemic uncertainty that a model states."""
    from uqassay.evidence.gain import check_folds
    from uqassay.evidence.gain_words import check_studies
    from uqassay.statistics.units import check_choice, check_level

    check_choice(binning, "binning", ("equal-mass", "equal-width"))
    check_level(level)
    check_folds(cross_fit)
    checks = [_parsed(text) for text in fail_if or ()]
    options: dict[str, Any] = {"bins": bins, "binning": binning, "level": level, "cross_fit": cross_fit}
    pair = {
        "labels": labels,
        "calibration": calibration,
        "calibration_labels": calibration_labels,
        "groups": groups,
        "name": name,
        **{field.name: getattr(reading, field.name) for field in fields(reading)},
        "score": score,
        "loss": loss,
        "save": save,
    }
    folders = _folders(files, pair)
    inputs = [
        *files,
        *(calibration or ()),
        *(path for path in (labels, calibration_labels, groups) if path is not None),
    ]
    if output is not None:
        check_page(output, inputs)
    if save is not None:
        check_save(save, inputs, output, holds=STUDY)
    request = AssayRequest([], reading=reading)
    with progress(8 + 2 * len(folders)) as say:
        studies = _loaded_studies(folders, say) if folders else [_study_of_pair(files, pair, request, say)]
        check_studies(studies)
        say("computing intervals")
        results = [one for study in studies for each in study.losses for one in study.results(each, **options)]
        outcomes = [gain_outcome(check, results, on_intervals=on_intervals) for check in checks]
        if save is not None:
            studies[0].save(os.path.realpath(save))
        if output is not None:
            from uqassay.report.study_pages import write_gain_page

            say("writing the page")
            write_gain_page(studies, output, command=shell_line(["uqassay", *context.find_root().obj]), **options)
    if as_json:
        print_json(_plain(studies, options))
    else:
        _print_gain(studies, options)
        for label, path in (("Study", save), ("Page", output)):
            if path is not None:
                print_text(f"{label}: {path}")
    end(outcomes)


# -- input --------------------------------------------------------------------------------------------------------------


def _folders(files: Sequence[Path], pair: dict[str, Any]) -> list[Path]:
    """The folders of studies; none where two prediction files are given."""
    folders = [path for path in files if (path / STUDY).is_file()]
    if not folders:
        for path in files:
            if path.is_dir():
                fail(
                    "files",
                    "must be two prediction files or folders of studies",
                    f"{path} is a folder without a study",
                    "give a prediction file, or the folder that uqassay gain --save wrote",
                    code="missing",
                )
        if len(files) != PAIR:
            fail(
                "files",
                "must be two files, the predictions without and with more data, or folders of studies",
                f"got {counted(len(files), 'path')}",
                "write uqassay gain before.npz after.npz --labels labels.npy",
                code="conflict",
            )
        if os.path.realpath(files[0]) == os.path.realpath(files[1]):
            fail(
                "files",
                "must be different files",
                f"{files[0]} is given twice",
                "give the predictions without and with more data",
                code="duplicate",
            )
        return []
    others = [path for path in files if path not in folders]
    if others:
        fail(
            "files",
            "must be two prediction files or folders of studies alone",
            f"{others[0]} is not the folder of a study",
            "leave it out, or check its path",
            code="conflict",
        )
    given = [f"--{option.replace('_', '-')}" for option, value in pair.items() if value]
    if given:
        fail(given[0], "is for prediction files", "got a folder of a study", "leave it out", code="conflict")
    return folders


def _loaded_studies(folders: Sequence[Path], say: Callable[[str], None]) -> "list[GainStudy]":
    from uqassay.evidence import GainStudy

    studies = []
    for path in folders:
        say(f"reading {path.name}")
        studies.append(GainStudy.load(path))
    return studies


def _study_of_pair(
    files: Sequence[Path], pair: dict[str, Any], request: AssayRequest, say: Callable[[str], None]
) -> "GainStudy":
    from uqassay.evidence import GainRun, GainStudy

    chosen: dict[str, Any] = {"scores": _split(pair["score"]), "losses": _split(pair["loss"]) or ("zero-one",)}
    test, first = _sample(files, pair["labels"], pair["groups"], request, chosen, say)
    own, notes = None, []
    if pair["calibration"] is not None:
        check_calibration_files(files, pair["calibration"])
        with _about_calibration():
            own, other = _sample(pair["calibration"], pair["calibration_labels"], None, request, chosen, say)
        notes = check_calibration(test, first, own, other)
    elif pair["calibration_labels"] is not None:
        fail(
            "--calibration-labels",
            "needs the predictions for these instances",
            "",
            "give them by --calibration BEFORE AFTER",
            code="conflict",
        )
    sizes = {"test": test.n_instances} | ({} if own is None else {"calibration": own.n_instances})
    name = unicode_text(files[0].stem if pair["name"] is None else pair["name"])
    if _shown_worse(test):
        complain(
            f"after has the lower accuracy ({percent(test.accuracy_after)}, before {percent(test.accuracy_before)}); the first "
            "file must be the model without more data."
        )
    return GainStudy(name, "", (GainRun(0, test, own, sizes, tuple(notes)),))


def _shown_worse(test: "GainSample") -> bool:
    """Whether more data turned clearly more right predictions into wrong ones than the reverse (two standard errors)."""
    won, lost = (int((a & ~b).sum()) for a, b in itertools.permutations((test.correct_after, test.correct_before)))
    return lost - won > 2 * math.sqrt(lost + won)


def _sample(
    files: Sequence[Path],
    labels: Path | None,
    groups: Path | None,
    request: AssayRequest,
    chosen: dict[str, Any],
    say: Callable[[str], None],
) -> "tuple[GainSample, Prediction]":
    """Gains and estimates, and the prediction without more data."""
    from dataclasses import replace

    from uqassay.evidence import sample_of_pair
    from uqassay.predictions.keys import classes_in_order

    models = [f"{side}={path}" for side, path in zip(("before", "after"), files, strict=True)]
    loaded: Loaded = without_ignored(load_request(replace(request, models=models, labels=labels, groups=groups), say))
    for sentence in normalised_sentences({side: tuple(runs) for side, runs in loaded.runs.items()}):
        complain(sentence)
    assert loaded.labels is not None  # answers, which have none, are refused
    (before,), (after,) = loaded.runs["before"], loaded.runs["after"]
    if loaded.class_names is not None:
        names = loaded.class_names  # state the order, in which labels are numbers
        before, after = (
            classes_in_order(one, names, side).with_metadata(class_names=names)
            for side, one in (("before", before), ("after", after))
        )
    with about_files(loaded.files, {"y_true": ""}):
        return sample_of_pair(loaded.labels, before, after, groups=loaded.groups, **chosen), before


@contextmanager
def _about_calibration() -> Iterator[None]:
    """Say in every error that it is about the calibration instances."""
    try:
        yield
    except InputError as problem:
        if problem.parameter == "--labels":
            raise problem.replace(
                parameter="--calibration-labels", remedy="give them by --calibration-labels FILE"
            ) from problem
        if problem.parameter in ("models['before']", "models['after']"):
            side = problem.parameter.removeprefix("models['").removesuffix("']")
            raise problem.replace(parameter=f"--calibration, {side}") from problem
        raise


def _parsed(text: str) -> Check:
    try:
        return parse_check(text)
    except InputError as problem:
        raise problem.replace(
            rule="must read [MODEL:]METRIC[@SCORE] <, <=, > or >= NUMBER, METRIC[@…] perhaps in low(…) or high(…)",
            remedy="write for example 'correlation<0.05', 'eece@entropy>0.1' or 'GP:low(delay-gain)<0.01'",
        ) from problem


def _split(names: Sequence[str] | None) -> list[str] | None:
    """Names with commas between them; each once."""
    found = [part.strip() for name in names or () for part in name.split(",")]
    return list(dict.fromkeys(found)) or None


# -- output -------------------------------------------------------------------------------------------------------------


def _print_gain(studies: "Sequence[GainStudy]", options: dict[str, Any]) -> None:
    from uqassay.evidence import gain_lines

    for loss in dict.fromkeys(loss for study in studies for loss in study.losses):
        having = [study for study in studies if loss in study.losses]
        print_text("\n".join(gain_lines(having, loss, **options)))
        for one in (result for study in having for result in study.results(loss, **options)):
            for note in one.notes:
                print_note(f"{one.label}: {note_text(note)}")


def _plain(studies: "Sequence[GainStudy]", options: dict[str, Any]) -> dict[str, Any]:
    from uqassay.evidence.gain import GAIN_TABLES
    from uqassay.evidence.gain_words import result_sentences

    results = [one for study in studies for loss in study.losses for one in study.results(loss, **options)]
    return {
        "schema": "uqassay.gain/1",
        "options": options,
        **{name: [row for study in studies for row in study.rows(name, **options)] for name in GAIN_TABLES},
        "sentences": [
            {"method": one.method, "score": one.score, "loss": one.loss, "sentences": result_sentences(one)}
            for one in results
        ],
    }
