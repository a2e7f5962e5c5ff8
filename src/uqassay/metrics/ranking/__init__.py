"""Metrics of how well an uncertainty ranks the errors: UQ-AUC, UQ-C-index and relatives."""

__all__: list[str] = []


def __dir__() -> list[str]:
    return sorted(__all__)
