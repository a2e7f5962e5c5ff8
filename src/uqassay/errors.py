"""What can go wrong, as one exception tree.

Every message is one sentence that names the parameter, the rule, the value and row found, and the remedy.
The command line prints it as it is and exits with code 2.
"""

__all__ = ["FileFormatError", "InputError", "MissingDependencyError", "TooManyClassesError", "UqassayError"]


class UqassayError(Exception):
    """Base class of every error that uqassay raises on purpose."""


class InputError(UqassayError, ValueError):
    """An argument, or the data in it, breaks a stated rule."""


class TooManyClassesError(InputError):
    """All 2^K events were asked for where K is too large to enumerate them."""


class FileFormatError(InputError):
    """A file is missing, truncated, of an unknown kind, or holds what is never loaded (pickled objects)."""


class MissingDependencyError(UqassayError, ImportError):
    """An optional package is needed for this call; the message names the extra that installs it."""
