"""The command `second-order`: is the epistemic variance that a model states the one that votes show?"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from rich.text import Text

from uqassay.cli.inputs import (
    Reading,
    class_texts,
    file_and_column,
    load_models,
    model_files,
    normalised_sentences,
    read_groups,
    read_labels,
)
from uqassay.cli.options import INPUT, Groups, Json, Models, option, takes_reading
from uqassay.cli.remedies import about_files, note_text
from uqassay.cli.streams import complain, open_console, print_json, print_note, progress
from uqassay.cli.tables import explained, fitted_table
from uqassay.cli.text import printable
from uqassay.errors import InputError
from uqassay.predictions import FromFile
from uqassay.predictions.files import load_column
from uqassay.predictions.labels import single_votes_by_name
from uqassay.predictions.rows import in_rows_of
from uqassay.wording import count, decimals_for, interval, level_text, named, number, pvalue

if TYPE_CHECKING:
    from uqassay.calibration import SecondOrderTest

__all__ = ["second_order_command"]

HOW = "How it is tested"


@takes_reading("ignore_label")
def second_order_command(
    models: Models,
    votes: Annotated[
        Path | None,
        option("Votes, at least two for each instance: numbers of votes for each class, an array (n, K).", INPUT),
    ] = None,
    leave_out_few: Annotated[
        bool, option("Leave out instances with fewer than two votes.", INPUT, "--leave-out-few")
    ] = False,
    groups: Groups = None,
    reading: Reading = Reading(),  # noqa: B008
    by: Annotated[
        str,
        option(
            "overall: the mean gap; kernel: the gap for every kind of statement; moments: mean and second moments too.",
            HOW,
            metavar="NAME",
        ),
    ] = "overall",
    buckets: Annotated[int, option("Buckets of equal stated variance, in the JSON.", HOW, metavar="N", min=1)] = 10,
    alpha: Annotated[float, option("Level of the tests.", HOW)] = 0.05,
    level: Annotated[float, option("Confidence level of the intervals.", HOW)] = 0.95,
    seed: Annotated[int, option("Seed of every random draw.", HOW, "--seed", "--rng", metavar="N", min=0)] = 0,
    as_json: Json = False,
) -> None:
    """Compare stated with observed epistemic variance, from two or more votes per instance."""
    from uqassay.calibration import second_order_test
    from uqassay.calibration.second_order import check_second_order_level
    from uqassay.evidence.alignment import align_models
    from uqassay.statistics.samples import check_choice

    check_second_order_level(alpha, by)
    if reading.votes_are is not None:
        check_choice(reading.votes_are, "votes_are", ("counts", "single"))
    if votes is None:
        raise InputError(
            "--votes",
            "votes are needed, at least two for each instance",
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
                with about_files({"votes": votes, "groups": groups}), _of_model(name):
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
def _of_model(name: str) -> Iterator[None]:
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
    console.print(Text(f"Epistemic variance, stated and observed on {said} instances with votes", "bold"))
    decimals = decimals_for((test.observed.low, test.observed.high) for _, test in found)
    ratios = [test.ratio for _, test in found]
    columns = {
        "model": [printable(name) for name, _ in found],
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
        "slope": "slope: of observed on stated, instance by instance; 1 if calibrated",
    }
    more = f"; each test by itself, not adjusted for the {len(found)}" if len(found) > 1 else ""
    console.print(Text(explained(words, table) + more, "dim"))
    console.print()
    for name, test in found:
        console.print(Text(printable(test.sentence(alpha, name=name)), "bold" if test.reject(alpha) else ""))
    console.print()
    for note in _notes(found):
        print_note(note)


def _notes(found: "Sequence[tuple[str, SecondOrderTest]]") -> list[str]:
    """Each note once, with the models that it is about, unless it is about all."""
    about: dict[str, list[str]] = {}
    for name, test in found:
        for note in dict.fromkeys(note_text(note) for note in test.notes):
            about.setdefault(note, []).append(printable(name))
    return [
        note if len(names) == len(found) else f"{', '.join(map(named, names))}: {note}" for note, names in about.items()
    ]
