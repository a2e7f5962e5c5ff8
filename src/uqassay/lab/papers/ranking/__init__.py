"""The experiments of the ranking metrics paper, ground-truth-free ranking."""

__all__: list[str] = []


def __dir__() -> list[str]:
    return sorted(__all__)
