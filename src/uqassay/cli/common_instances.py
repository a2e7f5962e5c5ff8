"""The option --common-instances: judge the instances that every prediction file has, by their ids."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from uqassay.errors import InputError
from uqassay.notes import Note
from uqassay.predictions import Prediction
from uqassay.wording import count

__all__ = ["only_common_instances"]


def only_common_instances(
    files: Mapping[str, Sequence[Path]], runs: Mapping[str, Sequence[Prediction]]
) -> dict[str, list[Prediction]]:
    """The rows of the instances that every run has, in the order of the first run.

    A run that lacks instances of the others gets a note.

    Parameters
    ----------
    files : mapping of str to sequence of Path
        The file of each run.
    runs : mapping of str to sequence of Prediction

    Raises
    ------
    InputError
        A file without ids, or no instance that all files have.
    """
    ids = [_ids(path, run) for name in files for path, run in zip(files[name], runs[name], strict=True)]
    every, common = set().union(*ids), set(ids[0]).intersection(*ids[1:])
    if not common:
        raise InputError(
            "--common-instances",
            "the prediction files must have ids in common",
            "they have none",
            "check that all files are about the same test set",
            code="mismatch",
        )
    order = [key for key in ids[0] if key in common]
    return {name: [_rows(run, order, len(every)) for run in of_model] for name, of_model in runs.items()}


def _ids(path: Path, run: Prediction) -> list[object]:
    if run.ids is None:
        raise InputError(
            "--common-instances",
            "needs the ids of the instances in every prediction file",
            f"{path.name} has none",
            "put ids into it, or leave the option out",
            code="ids",
        )
    return list(run.ids.tolist())


def _rows(run: Prediction, order: Sequence[object], n_every: int) -> Prediction:
    assert run.ids is not None  # of `_ids`
    if run.n_instances == n_every == len(order):
        return run
    place = {key: row for row, key in enumerate(run.ids.tolist())}
    rows = run[[place[key] for key in order]]
    if run.n_instances == n_every:
        return rows
    text = (
        f"has {count(run.n_instances)} of {count(n_every)} instances; the {count(len(order))} that every model has are judged, "
        "so a model that leaves out hard ones looks better than it is"
    )
    facts = {"instances": run.n_instances, "every": n_every, "common": len(order)}
    return replace(rows, notes=(*rows.notes, Note("instances-missing", text, facts)))
