"""Does the uncertainty tell inputs out of distribution from those in it?"""

__all__: list[str] = []


def __dir__() -> list[str]:
    return sorted(__all__)
