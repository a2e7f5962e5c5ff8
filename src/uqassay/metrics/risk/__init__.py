"""Selective prediction, which refuses the most uncertain instances: risk-coverage curves, their areas, accuracy at coverage."""

__all__: list[str] = []


def __dir__() -> list[str]:
    return sorted(__all__)
