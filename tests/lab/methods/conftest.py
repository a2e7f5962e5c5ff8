"""The methods need PyTorch, scikit-learn and GPyTorch; without them only the registry can be tested."""

import importlib.util
import os

import pytest

PRESENT = all(importlib.util.find_spec(name) for name in ("torch", "sklearn", "gpytorch"))
# where the run promised to have everything, importing fails the tests instead
collect_ignore_glob = [] if PRESENT or os.environ.get("UQASSAY_REQUIRE_ALL") == "1" else ["test_[!r]*.py"]


@pytest.fixture(scope="session")
def digits():
    """Halves of scikit-learn's handwritten digits: training and test instances, their classes."""
    from sklearn.datasets import load_digits
    from sklearn.model_selection import train_test_split

    x, y = load_digits(return_X_y=True)
    halves = train_test_split(x, y, test_size=0.5, stratify=y, random_state=0)
    for part in halves:
        part.flags.writeable = False
    return halves
