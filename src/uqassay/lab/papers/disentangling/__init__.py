"""The experiments of paper 004: do aleatoric and epistemic estimates move only when they should?"""

__all__: list[str] = []


def __dir__() -> list[str]:
    return sorted(__all__)
