"""What users read and get stays as it is: `tests.golden` keeps it, and shows what changed.

A change that is wanted is taken by ``python -m tests.golden --write`` and reviewed as a diff of the kept texts.
"""

import matplotlib
import pytest

from tests.conftest import REQUIRE_ALL
from tests.golden.check import difference, surplus
from tests.golden.registry import all_scenarios, missing, taken

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("default")]


def test_texts_and_numbers_are_as_kept():
    matplotlib.use("agg")
    changed, left_out = [], []
    for name, one in all_scenarios().items():
        if package := missing(one):
            left_out.append(f"{name}: {package} is not installed")
        else:
            changed.append(difference(name, taken(one)))
    found = [text for text in changed if text]
    assert not found, f"{len(found)} of {len(changed)} scenarios changed\n\n" + "\n".join(found)
    assert not surplus()
    assert not left_out or not REQUIRE_ALL, "\n".join(left_out)
    if left_out:
        pytest.skip(f"as kept, but not looked at: {'; '.join(left_out)}")
