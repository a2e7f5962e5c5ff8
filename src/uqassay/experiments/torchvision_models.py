"""The networks of torchvision, an optional package."""

from importlib import import_module
from typing import Any

from uqassay.errors import MissingDependencyError

__all__ = ["models_of_torchvision"]


def models_of_torchvision(purpose: str) -> Any:
    """The module ``torchvision.models``.

    Parameters
    ----------
    purpose : str
        Subject of the sentence "… needs it".

    Raises
    ------
    MissingDependencyError
        Torchvision or PyTorch is not installed.
    """
    try:
        return import_module("torchvision.models")
    except ModuleNotFoundError as problem:
        raise MissingDependencyError(
            (problem.name or "torchvision").partition(".")[0],
            "is not installed",
            f"{purpose} needs it",
            "run pip install 'uqassay[vision]', which installs torchvision and PyTorch",
            code="package",
            facts={"extra": "vision"},
        ) from problem
