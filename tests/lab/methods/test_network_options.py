"""Options that all methods with networks share, out of range or in conflict."""

import pytest
from tests.refusals import refuses

from uqassay.lab.methods import StandardNetwork, build_method


@pytest.mark.parametrize(
    ("options", "parameter", "code", "got"),
    [
        ({"optimiser": "lbfgs"}, "optimiser", "choice", "got 'lbfgs'"),
        ({"optimiser": "sgd", "momentum": 1.0}, "momentum", "range", "got 1.0"),
        ({"optimiser": "sgd", "momentum": float("nan")}, "momentum", "range", "got nan"),
        ({"optimiser": "sgd", "momentum": "0.9"}, "momentum", "type", "got '0.9'"),
        ({"momentum": 0.9}, "momentum", "conflict", "got 0.9 with 'adam'"),
        ({"rate_drops": 80}, "rate_drops", "type", "got 80"),
        ({"rate_drops": (80, 120.5)}, "rate_drops", "type", "got 120.5"),
        ({"rate_drops": (True,)}, "rate_drops", "type", "got True"),
        ({"rate_drops": (0, 80)}, "rate_drops", "range", "got 0"),
        ({"rate_drops": [120, 80]}, "rate_drops", "range", r"got \[120, 80\]"),
        ({"learning_rate": 0.0}, "learning_rate", "range", "got 0.0"),
        ({"mixed_precision": "False"}, "mixed_precision", "type", "got 'False'"),
    ],
)
def test_refusals(options, parameter, code, got):
    with refuses(parameter, code, got=got):
        StandardNetwork(**options).check_options()


def test_lists_from_files_are_taken():
    build_method("snn", optimiser="sgd", momentum=0.9, rate_drops=[80, 120, 160, 180]).check_options()
