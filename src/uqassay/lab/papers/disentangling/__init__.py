"""The experiments of the disentanglement paper: do aleatoric and epistemic estimates move only when they should?"""

__all__: list[str] = []


def __dir__() -> list[str]:
    return sorted(__all__)
