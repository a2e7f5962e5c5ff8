"""The command `compare`: models over many data sets, from saved assays or from a benchmark."""

import os
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.text import Text

from uqassay.cli.arguments import named_file
from uqassay.cli.kept_assay import HOLDS
from uqassay.cli.options import SURE, Json, option
from uqassay.cli.streams import open_console, print_json, print_note, print_text, progress
from uqassay.cli.tables import fitted_table
from uqassay.cli.text import printable, unicode_text
from uqassay.errors import InputError
from uqassay.losses.unified import DEFAULT_TRADEOFF
from uqassay.wording import ABSENT, listed_names, named, number

if TYPE_CHECKING:
    from uqassay.evidence.data_sets_result import DataSetComparison

__all__ = ["compare_command", "data_set_folders"]

HOW = "What is compared"


def compare_command(
    folders: Annotated[
        list[str],
        typer.Argument(
            help="Saved assays (uqassay report --save), one for each data set, by its name; a bare FOLDER is named by its last "
            "part. Or one folder of uqassay bench.",
            metavar="[NAME=]FOLDER...",
            show_default=False,
        ),
    ],
    metric: Annotated[
        str,
        option(
            "unified (E), kl or another distance of the assays, accuracy, log-loss, brier, ece, ece-classwise, or a ranking "
            "metric such as uq-auc.",
            HOW,
            metavar="METRIC",
        ),
    ] = "unified",
    tradeoff: Annotated[float, option("λ of E.", HOW, metavar="λ")] = DEFAULT_TRADEOFF,
    score: Annotated[
        str | None, option("For ranking metrics, the uncertainty that ranks the mistakes.", HOW, metavar="SCORE")
    ] = None,
    model: Annotated[
        list[str] | None, option("A model to compare (repeatable); by default all.", HOW, metavar="NAME")
    ] = None,
    rope: Annotated[
        float | None,
        option(
            "Differences up to this count as none in a Bayesian signed-rank test, which is left out without it.",
            SURE,
            metavar="WIDTH",
            min=0.0,
        ),
    ] = None,
    level: Annotated[float, option("Probability that no false pair is named.", SURE)] = 0.95,
    as_json: Json = False,
) -> None:
    """Compare models over many data sets: average ranks, and which are better on data sets like these."""
    from uqassay.bench.files import holds_benchmark
    from uqassay.bench.many_data_sets import compare_benchmark
    from uqassay.evidence import compare_over_data_sets

    chosen = {"metric": metric, "tradeoff": tradeoff, "score": score, "models": model, "level": level, "rope": rope}
    alone = Path(folders[0]) if len(folders) == 1 else None
    with progress(len(folders) + 1) as say:
        say("comparing")
        if alone is not None and holds_benchmark(alone):
            found = compare_benchmark(alone, **chosen)  # type: ignore[arg-type]
        else:
            found = compare_over_data_sets(data_set_folders(folders), **chosen)  # type: ignore[arg-type]
    if as_json:
        print_json({"schema": "uqassay.data-sets/1", **found.to_dict()})
    else:
        _print(found)


def data_set_folders(texts: Sequence[str]) -> dict[str, Path]:
    """Folders of saved assays by the name of the data set, from ``NAME=FOLDER`` or ``FOLDER``.

    A bare folder is named by its last part; where several end alike, as digits/assay and wine/assay do, by the part before.

    Raises
    ------
    InputError
        A folder that holds no saved assay, or two data sets of one name.
    """
    bare = [Path(os.path.abspath(text)) for text in texts if "=" not in text or os.path.exists(text)]
    ends = Counter(path.name for path in bare)
    found: dict[str, Path] = {}
    for text in texts:
        if "=" in text and not os.path.exists(text):
            name, path = named_file(text, "folders")
        else:
            whole = Path(os.path.abspath(text))
            name, path = unicode_text(whole.name if ends[whole.name] == 1 else whole.parent.name), text
        if not (Path(path) / HOLDS).is_file():
            raise InputError(
                "folders",
                "must be saved assays, or one folder of a benchmark",
                f"{path} holds neither",
                "save an assay there: uqassay report … --save FOLDER",
                code="missing",
            )
        if name in found:
            raise InputError(
                "folders", f"two data sets are named {name!r}", "", f"name them: NAME={path}", code="duplicate"
            )
        found[name] = Path(path)
    return found


# -- output -------------------------------------------------------------------------------------------------------------


def _print(found: "DataSetComparison") -> None:
    console = open_console()
    arrow = "greater" if found.greater_is_better else "lower"
    title = f"{len(found.models)} models on {found.n_data_sets} data sets by {found.label}; {arrow} is better"
    console.print(Text(printable(title), "bold"))
    print_text(found.sentence())
    if said := found.practical_sentence():
        print_text(said)
    rows = found.rows("models")
    columns = {
        "model": [printable(row["model"]) for row in rows],
        "average rank": [f"{row['average_rank']:.2f}" for row in rows],
        "mean": [number(row["mean"]) for row in rows],
        "better than": [printable(listed_names(row["better_than"])) or ABSENT for row in rows],
    }
    words = ("better than",)
    console.print(fitted_table(columns, spare=["mean"], width=console.width, words=words))
    print_text("\n".join(found.pairs_table().as_text()))
    apart = [f"{{{', '.join(map(named, group))}}}" for group in found.groups() if len(group) > 1]
    if apart and found.better().any():
        print_text(f"Not told apart: {'; '.join(apart)}.")
    for note in found.notes:
        print_note(printable(note.text))
