"""Compiled twins of a few array formulas: whether they are here, and the one place that picks one.

The distribution ``uqassay-native`` holds them (folder ``native`` of the repository). Where it is absent, or the environment
variable ``UQASSAY_PURE`` is 1, the formulas are used; they give the same results in more time.
"""

import os
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from types import ModuleType
from typing import Any, final

__all__ = ["INTERFACE", "Kernels", "kernel", "kernels"]

# Arguments and results of the kernels; raised by one when any of them changes. native/src/kernels.h holds its twin.
INTERFACE = 1
_MODULE = "_uqassay_native"


@final
@dataclass(frozen=True, slots=True)
class Kernels:
    """Which compiled kernels are in use, and why not if none is.

    Attributes
    ----------
    names : tuple of str
        Kernels in use; empty if the formulas do all work.
    version : str
        Of uqassay-native; empty if it is not in use.
    reason : str
        Why the formulas do all work; empty if the kernels are in use.
    """

    names: tuple[str, ...]
    version: str
    reason: str

    def __str__(self) -> str:
        if self.names:
            return f"compiled kernels: {', '.join(self.names)} (uqassay-native {self.version})"
        return f"compiled kernels: none, {self.reason}; results are the same, large inputs take longer"


def kernel(name: str) -> Callable[..., Any] | None:
    """The compiled twin of a formula, or None where the formula has to do the work.

    Examples
    --------
    >>> kernel("no_such_kernel") is None
    True
    """
    if _pure():
        return None
    return getattr(_native()[0], name, None)


def kernels() -> Kernels:
    """Compiled kernels in use; printed, it is one line that also tells why there are none.

    Examples
    --------
    >>> import uqassay as uq
    >>> print(uq.kernels())
    compiled kernels: ...
    """
    if _pure():
        return Kernels((), "", "UQASSAY_PURE=1 asks for the formulas")
    module, reason = _native()
    if module is None:
        return Kernels((), "", reason)
    names = tuple(name for name in sorted(vars(module)) if not name.startswith("_") and callable(getattr(module, name)))
    return Kernels(names, module.__version__, "")


def _pure() -> bool:
    return os.environ.get("UQASSAY_PURE") == "1"


@cache
def _native() -> tuple[ModuleType | None, str]:
    """The extension module; if it cannot be used, None and the reason."""
    try:
        module = import_module(_MODULE)
    except ModuleNotFoundError:
        return None, _absence()
    except ImportError as problem:  # built for another system or another Python
        return None, f"uqassay-native cannot be loaded ({problem})"
    found = getattr(module, "interface", None)
    if found != INTERFACE:
        remedy = "upgrade it" if isinstance(found, int) and found < INTERFACE else "upgrade uqassay"
        return None, f"uqassay-native {module.__version__} has kernels of version {found}, not {INTERFACE} ({remedy})"
    return module, ""


def _absence() -> str:
    """Why there is no extension module: no distribution, or one that was installed where no compiler was."""
    from importlib.metadata import PackageNotFoundError, version

    try:
        version("uqassay-native")
    except PackageNotFoundError:
        return "uqassay-native is not installed (pip install ./native in the clone)"
    remedy = "pip install --force-reinstall --no-deps --no-cache-dir ./native in the clone, with one"
    return f"uqassay-native was installed without a C++ compiler ({remedy})"
