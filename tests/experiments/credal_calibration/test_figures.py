"""Figures 1 to 4 as files."""

from tests.experiments.credal_calibration.made import invented

from uqassay.experiments.credal_calibration.protocol import FIGURES
from uqassay.experiments.credal_calibration.runs import Plan


def test_figures_are_written(tmp_path, needs):
    needs("matplotlib")
    from uqassay.experiments.credal_calibration.figures import write_error_figure

    code = invented(50, Plan(FIGURES["1"], convention="paper-code", resample=False))
    path = write_error_figure(tmp_path, "1", [invented(50, Plan(FIGURES["1"])), code])
    assert path.name == "credal_calibration_figure1.png"
    assert path.read_bytes().startswith(b"\x89PNG")
