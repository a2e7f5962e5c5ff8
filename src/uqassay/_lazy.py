"""Packages that import their modules when a name of theirs is first used."""

import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any

__all__ = ["lazy_names"]


def lazy_names(package: str, where: Mapping[str, str]) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """The functions ``__getattr__`` and ``__dir__`` of a package.

    Parameters
    ----------
    package : str
        Its name.
    where : mapping of str to str
        The module of each public name, relative to the package.

    Examples
    --------
    >>> find, names = lazy_names("uqassay.statistics", {"holm": "adjustments"})
    >>> find("holm").__module__, names()
    ('uqassay.statistics.adjustments', ['holm'])
    """

    def find(name: str) -> Any:
        if name not in where:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        value = getattr(import_module(f"{package}.{where[name]}"), name)
        setattr(sys.modules[package], name, value)  # found without this function from then on
        return value

    return find, lambda: sorted(where)
