"""The experiments of the credal calibration paper, the credal calibration test."""

__all__: list[str] = []


def __dir__() -> list[str]:
    return sorted(__all__)
