"""Pictures of few points in all tests of experiments: no test looks at their resolution but that of `figure_files` itself."""

import pytest

from uqassay.lab.papers import figure_files


@pytest.fixture(autouse=True, scope="module")
def _small_pictures():
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(figure_files, "DPI", 50)
        yield
