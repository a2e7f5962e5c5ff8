"""Results that several findings of an assay need, each computed once."""

from collections.abc import Callable, Hashable, Iterable, Sequence
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

    def each(
        self, kind: Hashable, keys: Sequence[Hashable], compute: Callable[[list[Any]], Iterable[Found]]
    ) -> list[Found]:
        """The results of several keys of one kind; those not yet known are computed together.

        Examples
        --------
        >>> shared = Shared()
        >>> shared.each("square", [2, 3], lambda keys: [k * k for k in keys])
        [4, 9]
        """
        known = {key: self._found[kind, key] for key in keys if (kind, key) in self._found}
        missing = [key for key in dict.fromkeys(keys) if key not in known]
        for key, found in zip(missing, compute(missing) if missing else (), strict=True):
            known[key] = self.once((kind, key), lambda found=found: found)  # type: ignore[misc]
        return [known[key] for key in keys]

    def __reduce__(self) -> tuple[Any, ...]:
        return Shared, ()  # a copy computes again
