"""Doors of packages: names are found in their modules, which are imported when a name is first used."""

import subprocess
import sys

import pytest

import uqassay.statistics
from uqassay._lazy import lazy_names

DOORS = ("calibration", "evidence", "metrics", "statistics")


@pytest.mark.parametrize("door", DOORS)
def test_every_public_name_is_found_where_it_is_defined(door):
    package = __import__(f"uqassay.{door}", fromlist=["_"])
    assert sorted(package._WHERE) == sorted(package.__all__) == dir(package)
    for name, module in package._WHERE.items():
        found = getattr(package, name)
        assert found is vars(package)[name]
        if hasattr(found, "__qualname__"):
            assert found.__module__ == f"{package.__name__}.{module}"


def test_an_unknown_name_is_refused():
    find, _ = lazy_names("uqassay.statistics", {"holm": "multiple_tests"})
    with pytest.raises(AttributeError, match=r"module 'uqassay\.statistics' has no attribute 'shaffer'"):
        find("shaffer")
    assert not hasattr(uqassay.statistics, "no_such_name")


def test_other_modules_are_not_imported():
    code = "import sys; from uqassay.statistics import holm; print('uqassay.statistics.many_data_sets' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "False\n"
