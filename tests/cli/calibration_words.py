"""Command lines of `uqassay calibration-test`."""

__all__ = ["BOTH", "words"]

BOTH = ["kuiper-confidence", "ece-classwise"]


def words(folder, *names):
    files = {"DE": "de", "P": "point", "EDL": "edl", "box": "intervals", "RS": "masses"}
    return [*(f"{name}={folder / files[name]}.npz" for name in names), "--labels", folder / "labels.npy"]
