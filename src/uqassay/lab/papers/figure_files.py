"""The folder of a protocol's figures: checked before anything is computed; every file appears whole or not at all."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from uqassay.checks import fail
from uqassay.files import draft_of
from uqassay.report.figures.frame import matplotlib_module

__all__ = ["check_figures", "check_folder", "write_figure"]

DPI = 150


def check_figures(figures: str | os.PathLike[str] | None) -> None:
    """Check the option `figures` of a protocol before anything is computed; None asks for none. Errors as `check_folder`."""
    if figures is not None:
        check_folder(figures)


def check_folder(folder: str | os.PathLike[str]) -> Path:
    """Check a folder for figures; the first figure creates it."""
    path = Path(folder)
    there = next(place for place in (path, *path.absolute().parents) if os.path.lexists(place))
    if not there.is_dir():
        fail("figures", "must be a folder", f"{there} is a file", "choose another one", code="unwritable")
    if not os.access(there, os.W_OK | os.X_OK):
        remedy = "check its permissions or choose another folder"
        fail("figures", "must be a folder that takes files", f"{there} does not", remedy, code="unwritable")
    return path


def write_figure(folder: Path, name: str, size: tuple[float, float], draw: Callable[[Any], None]) -> Path:
    """Draw on a new figure of `size` inches, without pyplot, and write it as NAME.png into the folder.

    Parameters
    ----------
    name : str
        Without an extension.
    draw : callable
        Takes the matplotlib Figure.
    """
    figure = matplotlib_module("figure").Figure(figsize=size, layout="constrained")
    draw(figure)
    folder.mkdir(parents=True, exist_ok=True)
    target = folder / f"{name}.png"
    with draft_of(target) as draft:
        figure.savefig(draft, dpi=DPI, metadata={"Software": None})
    return target
