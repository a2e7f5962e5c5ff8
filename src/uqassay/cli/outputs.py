"""Where a command may write: never over its inputs; refused before anything is computed."""

import os
from collections.abc import Sequence
from pathlib import Path

from uqassay._files import plain_target
from uqassay.cli.inputs import file_and_column
from uqassay.errors import InputError

__all__ = ["check_apart", "check_page", "check_save", "check_text"]


PAGES = (".html", ".htm")
KEPT = {"assay.json": "an assay", "study.json": "a study"}


def check_page(path: Path, inputs: Sequence[Path], made: Path | None = None) -> None:
    """Refuse a page that could not be written, or would replace one of the inputs.

    Parameters
    ----------
    path : Path
        The page.
    inputs : sequence of Path
        The files that are read.
    made : Path, optional
        A folder that the command makes before the page is written.

    Raises
    ------
    InputError
        The path is an input, a folder, a pipe or a device, has another extension than .html or .htm, or lies in a folder
        that does not exist or cannot be written to.
    """
    try:
        target = plain_target(path)
    except InputError as problem:
        raise problem.replace(parameter="--output") from problem
    check_apart("--output", path, inputs)
    if path.suffix.lower() not in PAGES:
        raise InputError(
            "--output",
            "the page is HTML, and its name must end in .html or .htm",
            f"got {path.name}",
            f"write {path.stem}.html, or --json for data",
            code="format",
        )
    _check_folder("--output", target.parent, made=made is not None and target.parent == Path(os.path.realpath(made)))


def check_text(path: Path, inputs: Sequence[Path], *, option: str) -> None:
    """Refuse a text file that could not be written, or would replace one of the inputs.

    Raises
    ------
    InputError
        The path is an input, a folder, a pipe or a device, or lies in a folder that does not exist or cannot be written to.
    """
    try:
        target = plain_target(path)
    except InputError as problem:
        raise problem.replace(parameter=option) from problem
    check_apart(option, path, inputs)
    _check_folder(option, target.parent)


def check_save(folder: Path, inputs: Sequence[Path], page: Path | None, *, holds: str = "assay.json") -> None:
    """Refuse a folder without the file `holds`, one with an input in it, and the path of the page.

    `holds` is the file by which a folder of the same kind is known; such a folder is replaced.

    Raises
    ------
    InputError
        As above, or a folder that cannot be made, as the folder it lies in does not exist.
    """
    target = Path(os.path.realpath(folder))
    if target.exists() and not (target / holds).is_file():
        raise InputError(
            "--save",
            f"{folder} exists and does not hold {KEPT[holds]}",
            "",
            "choose another folder",
            code="unwritable",
        )
    for path in inputs:
        if target in Path(os.path.realpath(path)).parents:
            raise InputError(
                "--save",
                f"{folder} is replaced, and {path} in it is an input",
                "",
                "choose another folder",
                code="unwritable",
            )
    if page is not None:
        written = Path(os.path.realpath(page))
        if written == target or written in target.parents:
            raise InputError(
                "--save",
                f"{folder} cannot be a folder where {page} is the page",
                "",
                "choose another folder",
                code="unwritable",
            )
    check_apart("--save", folder, inputs)
    _check_folder("--save", target.parent)


def check_apart(option: str, output: Path, inputs: Sequence[Path]) -> None:
    """Refuse an output that is one of the inputs, also through links, or lies in an input that is a zarr folder."""
    target = Path(os.path.realpath(output))
    for path in inputs:
        there = Path(os.path.realpath(file_and_column(path)[0]))
        same = target == there or (target.exists() and there.exists() and target.samefile(there))
        if same or (there.suffix.lower() == ".zarr" and there in target.parents):
            raise InputError(
                option, f"{output} is an input and would be lost", "", "choose another name", code="unwritable"
            )


def _check_folder(option: str, folder: Path, *, made: bool = False) -> None:
    """Refuse a folder that does not exist, unless it will be made, and one that cannot be written to."""
    there = next(part for part in (folder, *folder.parents) if part.exists())
    if not there.is_dir():
        raise InputError(
            option, f"{there} is a file and cannot hold others", "", "choose another folder", code="unwritable"
        )
    if there != folder and not made:
        raise InputError(option, f"the folder {folder} does not exist", "", "create it first", code="missing")
    if not os.access(there, os.W_OK | os.X_OK):
        raise InputError(
            option,
            f"nothing may be written to {there}",
            "",
            "check its permissions or choose another folder",
            code="unwritable",
        )
