"""Where a command may write: never over its inputs; refused before anything is computed."""

import os
from collections.abc import Sequence
from pathlib import Path

from uqassay._files import plain_target
from uqassay.errors import InputError

__all__ = ["check_apart", "check_page", "check_save"]


def check_page(path: Path, inputs: Sequence[Path]) -> None:
    """Refuse a page that could not be written, or would replace one of the inputs.

    Raises
    ------
    InputError
        The path is an input, a folder, a pipe or a device, or lies where nothing can be written.
    MissingDependencyError
        Plotly is not installed.
    """
    from uqassay.report.page import charts_library

    try:
        target = plain_target(path)
    except InputError as problem:
        raise problem.replace(parameter="--output") from problem
    check_apart("--output", path, inputs)
    _check_folder("--output", target.parent)
    charts_library()


def check_save(folder: Path, inputs: Sequence[Path], page: Path | None) -> None:
    """Refuse a folder that holds anything but an assay, or holds an input, or has the path of the page.

    Raises
    ------
    InputError
        As above, or a folder that cannot be made.
    """
    target = Path(os.path.realpath(folder))
    if target.exists() and not (target / "assay.json").is_file():
        raise InputError(
            "--save", f"{folder} exists and does not hold an assay", "", "choose another folder", code="unwritable"
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
    """Refuse an output that is one of the inputs, also through links, or lies in an input that is a folder."""
    target = Path(os.path.realpath(output))
    for path in inputs:
        there = Path(os.path.realpath(path))
        same = target == there or (target.exists() and there.exists() and target.samefile(there))
        if same or (there.is_dir() and there in target.parents):
            raise InputError(
                option, f"{output} is an input and would be lost", "", "choose another name", code="unwritable"
            )


def _check_folder(option: str, folder: Path) -> None:
    """Refuse a folder that can neither be written to nor made."""
    there = next(part for part in (folder, *folder.parents) if part.exists())
    if not there.is_dir():
        raise InputError(
            option, f"{there} is a file and cannot hold others", "", "choose another folder", code="unwritable"
        )
    if not os.access(there, os.W_OK | os.X_OK):
        raise InputError(
            option,
            f"nothing may be written to {there}",
            "",
            "check its permissions or choose another folder",
            code="unwritable",
        )
