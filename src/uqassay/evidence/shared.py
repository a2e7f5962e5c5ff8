"""Results that several findings of an assay need, each computed once."""

from collections.abc import Callable, Hashable
from typing import Any, TypeVar, final

__all__ = ["Shared"]

Found = TypeVar("Found")
MOST = 1024  # results that are kept; a page needs a few hundred


@final
class Shared:
    """Results by their keys; where there are too many, the oldest go.

    Examples
    --------
    >>> shared = Shared()
    >>> shared.once("sum", lambda: 1 + 2), shared.once("sum", lambda: 1 / 0)
    (3, 3)
    """

    def __init__(self) -> None:
        self._found: dict[Hashable, Any] = {}

    def once(self, key: Hashable, compute: Callable[[], Found]) -> Found:
        """The result of a key, computed at the first request."""
        if key not in self._found:
            found = compute()  # which may ask for other results
            while len(self._found) >= MOST:
                self._found.pop(next(iter(self._found)), None)
            self._found[key] = found
            return found
        kept: Found = self._found[key]
        return kept

    def __reduce__(self) -> tuple[Any, ...]:
        return Shared, ()  # a copy computes again
