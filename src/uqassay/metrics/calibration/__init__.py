"""Calibration errors: binned, kernel and density estimates, reliability diagrams, parts of proper scores."""

__all__: list[str] = []


def __dir__() -> list[str]:
    return sorted(__all__)
