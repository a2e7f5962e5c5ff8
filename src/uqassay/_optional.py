"""Import of optional packages; the error for a missing one names the extra that installs it."""

from importlib import import_module
from typing import Any

from uqassay.errors import MissingDependencyError

__all__ = ["installation", "optional_package"]

_NAMES = {
    "sklearn": "scikit-learn",
    "yaml": "pyyaml",
    "PIL": "pillow",
}  # names of packages that differ from their modules


def installation(extra: str) -> str:
    """The remedy for a package that an extra of uqassay installs, as it works while the index does not have uqassay.

    Examples
    --------
    >>> installation("files")
    "run pip install '.[files]' in the clone of uqassay"
    """
    return f"run pip install '.[{extra}]' in the clone of uqassay"


def optional_package(module: str, extra: str, purpose: str, *, otherwise: str = "") -> Any:
    """Import a module of an optional package.

    Parameters
    ----------
    module : str
        Name of the module, such as "matplotlib.pyplot".
    extra : str
        Extra of uqassay that installs the package.
    purpose : str
        Subject of the sentence "… needs it", such as "a zarr file".
    otherwise : str
        An alternative to the installation, such as "write the file as TOML".

    Raises
    ------
    MissingDependencyError
        The package or one of its dependencies is not installed.

    Examples
    --------
    >>> optional_package("numpy", "files", "an npy file").__name__
    'numpy'
    >>> optional_package("no_such_package", "files", "a parquet file")
    Traceback (most recent call last):
    uqassay.errors.MissingDependencyError: no_such_package: is not installed; a parquet file needs it; run pip install
    '.[files]' in the clone of uqassay.
    """
    try:
        return import_module(module)
    except ModuleNotFoundError as problem:
        top = (problem.name or module).partition(".")[0]
        remedy = installation(extra)
        raise MissingDependencyError(
            _NAMES.get(top, top),
            "is not installed",
            f"{purpose} needs it",
            f"{remedy}, or {otherwise}" if otherwise else remedy,
            code="package",
            facts={"extra": extra},
        ) from problem
