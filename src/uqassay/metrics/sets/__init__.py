"""Sets judged as sets: coverage and size of the classes that are not ruled out, and the worth of set-valued decisions."""

__all__: list[str] = []


def __dir__() -> list[str]:
    return sorted(__all__)
