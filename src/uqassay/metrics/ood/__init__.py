"""Detection of out-of-distribution inputs by an uncertainty: ROC-AUC, false-positive rate, average precision."""

__all__: list[str] = []


def __dir__() -> list[str]:
    return sorted(__all__)
