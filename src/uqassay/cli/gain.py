"""The command `gain`: does more data help where the model is uncertain, from predictions without and with more data."""

import itertools
import math
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from uqassay.cli.checks import Check, parse_check
from uqassay.cli.gain_calibration import check_calibration, check_calibration_files
from uqassay.cli.gain_checks import gain_outcome
from uqassay.cli.inputs import AssayRequest, Loaded, Reading, load_request, normalised_sentences, without_ignored
from uqassay.cli.judging import end
from uqassay.cli.options import (
    INPUT,
    OUTPUT,
    SURE,
    Groups,
    Json,
    OnIntervals,
    option,
    takes_reading,
)
from uqassay.cli.outputs import check_page, check_save
from uqassay.cli.remedies import about_files, note_text
from uqassay.cli.streams import complain, print_json, print_note, print_text, progress
from uqassay.cli.text import shell_line, unicode_text
from uqassay.errors import InputError
from uqassay.wording import counted, percent

if TYPE_CHECKING:
    from uqassay.evidence import GainSample, GainStudy
    from uqassay.predictions import Prediction

__all__ = ["gain_command"]

HOW = "What is computed"
STUDY = "study.json"  # in the folder of a study
PAIR = 2


@takes_reading("votes_are")  # votes are refused
def gain_command(
    context: typer.Context,
    files: Annotated[
        list[Path],
        typer.Argument(
            help="Predictions of one model without and with more data, for the same instances (two files); or folders of "
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
            "The same two predictions for other instances, on which the map of estimates to gains is fitted; without them it "
            "is cross-fitted on the test instances.",
            INPUT,
            metavar="BEFORE AFTER",
        ),
    ] = None,
    calibration_labels: Annotated[
        Path | None, option("Labels of the calibration instances.", INPUT, metavar="FILE")
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
            "Folds of the test instances: the estimates of each are mapped by a map of the others. 0 for no map. Not used with "
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
    from uqassay.evidence.gain_study import check_folds
    from uqassay.evidence.gain_verdict import check_studies
    from uqassay.statistics.samples import check_choice, check_level

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
        _check_page(output, inputs)
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
            from uqassay.report.gain_page import write_gain_page

            say("writing the page")
            write_gain_page(studies, output, command=shell_line(["uqassay", *context.find_root().obj]), **options)
    if as_json:
        print_json(_plain(studies, options))
    else:
        _print(studies, options)
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
                raise InputError(
                    "files",
                    "must be two prediction files or folders of studies",
                    f"{path} is a folder without a study",
                    "give a prediction file, or the folder that uqassay gain --save wrote",
                    code="missing",
                )
        if len(files) != PAIR:
            raise InputError(
                "files",
                "must be two files, the predictions without and with more data, or folders of studies",
                f"got {counted(len(files), 'path')}",
                "write uqassay gain before.npz after.npz --labels labels.npy",
                code="conflict",
            )
        if os.path.realpath(files[0]) == os.path.realpath(files[1]):
            raise InputError(
                "files",
                "must be different files",
                f"{files[0]} is given twice",
                "give the predictions without and with more data",
                code="duplicate",
            )
        return []
    others = [path for path in files if path not in folders]
    if others:
        raise InputError(
            "files",
            "must be two prediction files or folders of studies alone",
            f"{others[0]} is not the folder of a study",
            "leave it out, or check its path",
            code="conflict",
        )
    given = [f"--{option.replace('_', '-')}" for option, value in pair.items() if value]
    if given:
        raise InputError(
            given[0], "is for prediction files", "got a folder of a study", "leave it out", code="conflict"
        )
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
        raise InputError(
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
    from uqassay.predictions.class_order import classes_in_order

    models = [f"{side}={path}" for side, path in zip(("before", "after"), files, strict=True)]
    loaded: Loaded = without_ignored(load_request(replace(request, models=models, labels=labels, groups=groups), say))
    for sentence in normalised_sentences({side: tuple(runs) for side, runs in loaded.runs.items()}):
        complain(sentence)
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


def _check_page(output: Path, inputs: Sequence[Path]) -> None:
    from uqassay.report.figures.style import matplotlib_module

    check_page(output, inputs)
    matplotlib_module()


# -- output -------------------------------------------------------------------------------------------------------------


def _print(studies: "Sequence[GainStudy]", options: dict[str, Any]) -> None:
    from uqassay.evidence import gain_lines

    for loss in dict.fromkeys(loss for study in studies for loss in study.losses):
        having = [study for study in studies if loss in study.losses]
        print_text("\n".join(gain_lines(having, loss, **options)))
        for one in (result for study in having for result in study.results(loss, **options)):
            for note in one.notes:
                print_note(f"{one.label}: {note_text(note)}")


def _plain(studies: "Sequence[GainStudy]", options: dict[str, Any]) -> dict[str, Any]:
    from uqassay.evidence.gain_rows import GAIN_TABLES
    from uqassay.evidence.gain_verdict import result_sentences

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
