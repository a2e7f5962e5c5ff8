"""The experiments of the unified evaluation, the unified evaluation."""

__all__: list[str] = []


def __dir__() -> list[str]:
    return sorted(__all__)
