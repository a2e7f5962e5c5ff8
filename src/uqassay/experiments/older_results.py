"""What a resumed run says of results in its folder that other code made: one sentence, for every kind of stored result."""

import os

from uqassay.wording import counted

__all__ = ["older_sentence"]


def older_sentence(n: int, noun: str, folder: str | os.PathLike[str]) -> str:
    """That results of other code are not used, and what to do with them.

    Parameters
    ----------
    n : int
        Number of results.
    noun : str
        What one of them is.
    folder : path

    Examples
    --------
    >>> older_sentence(1, "training", "run")
    '1 training in run was made by other code and is not used; it is made again, and the older files may be deleted'
    """
    was, told, they = ("was", "is", "it is") if n == 1 else ("were", "are", "they are")
    return (
        f"{counted(n, noun)} in {os.fspath(folder)} {was} made by other code and {told} not used; "
        f"{they} made again, and the older files may be deleted"
    )
