"""The experiments of the epistemic gain paper: do epistemic estimates say where more data would help?"""

__all__: list[str] = []


def __dir__() -> list[str]:
    return sorted(__all__)
