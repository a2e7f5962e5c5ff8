"""The sentence on results of other code, for one and for several."""

from pathlib import Path

from uqassay.experiments.older_results import older_sentence


def test_one_and_several():
    assert older_sentence(2, "data set", Path("a/run")) == (
        "2 data sets in a/run were made by other code and are not used; they are made again, and the older files may be deleted"
    )
    assert older_sentence(1, "line", "a").startswith(
        "1 line in a was made by other code and is not used; it is made again"
    )
