"""The command `second-order`: is the epistemic variance that a model states the one that votes show?"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
from rich.text import Text

from uqassay.cli.arguments import model_files
from uqassay.cli.columns import Rows, in_order, values_of_instances
from uqassay.cli.inputs import load_models
from uqassay.cli.normalising import normalised_sentences
from uqassay.cli.options import INPUT, Groups, Json, MemberAxis, Models, Normalise, VarianceIs, option
from uqassay.cli.remedies import about_files, note_text
from uqassay.cli.streams import complain, open_console, print_json, print_note, progress
from uqassay.cli.tables import explained, fitted_table
from uqassay.cli.text import printable
from uqassay.errors import InputError
from uqassay.wording import count, decimals_for, interval, level_text, named, number, pvalue

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from uqassay.calibration import SecondOrderTest
    from uqassay.predictions import Prediction

__all__ = ["second_order_command"]

HOW = "How it is tested"
OF: dict[str, Any] = {"of": "the class names of the predictions"}


def second_order_command(
    models: Models,
    votes: Annotated[
        Path | None,
        option("Votes, at least two for each instance: numbers of votes for each class, an array (n, K).", INPUT),
    ] = None,
    votes_are: Annotated[
        str | None,
        option(
            "counts, or single: the class of one vote in each column, an array (n, m). Counts unless given; a table that may "
            "be either is refused.",
            INPUT,
            metavar="NAME",
        ),
    ] = None,
    leave_out_few: Annotated[
        bool, option("Leave out instances with fewer than two votes.", INPUT, "--leave-out-few")
    ] = False,
    groups: Groups = None,
    member_axis: MemberAxis = None,
    normalise: Normalise = False,
    variance_is: VarianceIs = None,
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
    from uqassay.statistics.samples import check_choice

    check_second_order_level(alpha, by)
    if votes_are is not None:
        check_choice(votes_are, "votes_are", ("counts", "single"))
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
        runs, _ = load_models(
            files, member_axis=member_axis or (), normalise=normalise, variance_is=variance_is, say=say
        )
        rows = Rows.of(files, runs)
        given = _Votes(votes, rows, votes_are == "single")
        labels = None if groups is None else values_of_instances(groups, ("groups", "group"), rows)
        found = []
        for name, of_model in runs.items():
            for r, run in enumerate(of_model):
                say(f"testing {name}")
                with about_files({"votes": votes}, {"votes": "votes"}), _of_model(name):
                    test = second_order_test(
                        given.for_run(run),
                        run,
                        votes_are=votes_are,  # type: ignore[arg-type]
                        by=by,  # type: ignore[arg-type]
                        buckets=buckets,
                        groups=None if labels is None else given.in_rows_of(run, labels),
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


@dataclass(frozen=True)
class _Votes:
    """The file of votes, whose rows are put in the order of each run."""

    path: Path
    rows: Rows
    single: bool

    def for_run(self, run: "Prediction") -> "NDArray[Any]":
        """Votes in the order of the rows of a run, by its classes if both name them."""
        from uqassay._frames import positions
        from uqassay.predictions.files import load_class_names, load_column
        from uqassay.predictions.metadata import checked_class_names

        values, own = load_column(self.path, ("votes", "counts", "labels"))
        values = self.in_rows_of(run, in_order(values, own, self.rows, self.path))
        names, own_names = load_class_names(self.path), run.class_names
        if names is None or own_names is None or names == own_names:
            return values
        try:
            if not self.single:
                of_columns = checked_class_names(names, values.shape[-1])
                return np.asarray(
                    values[:, positions(of_columns, np.asarray(own_names), "votes", part="columns", **OF)]
                )
            indices = values.dtype.kind in "iu" and values.size and values.min() >= 0 and values.max() < len(names)
            place = positions(own_names, np.asarray(names), "votes", part="class names", **OF)
            return place[values] if indices else values
        except InputError as problem:
            remedy = "give the votes the class names of the predictions"
            raise problem.replace(parameter="votes", remedy=remedy, code="mismatch") from problem

    def in_rows_of(self, run: "Prediction", values: "NDArray[Any]") -> "NDArray[Any]":
        """Values in the order of the first ids, put in the order of the ids of this run."""
        if self.rows.ids is None or run.ids is None:
            return values
        return in_order(values, self.rows.ids, Rows(run.ids, None), self.path)


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
