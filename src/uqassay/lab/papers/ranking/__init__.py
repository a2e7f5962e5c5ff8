"""The experiments of paper 003, ground-truth-free ranking."""

__all__: list[str] = []


def __dir__() -> list[str]:
    return sorted(__all__)
