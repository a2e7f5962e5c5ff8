"""Make the pictures of the guide's five pages "Does it know …?" from a random forest on scikit-learn's digits.

Run: python docs/make_question_pictures.py   (ten seconds)
"""

import io
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "src"))  # so that it also runs uninstalled

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from PIL import Image
from sklearn.datasets import load_digits

import uqassay as uq
from uqassay.evidence import contenders_of
from uqassay.report import figures

PICTURES = Path(__file__).parent / "question-pictures"
DPI = 120
COLOURS = 128  # so that a picture stays small
TRAINED_ON = 900  # instances; the others are the test set, as on the pages


def white_axes() -> Axes:
    """Axes of a small picture, on white."""
    return Figure(figsize=(5.4, 3.2), layout="constrained", facecolor="white").subplots()


def draw() -> dict[str, Axes]:
    """Every picture by its name; the pages make the same predictions and studies."""
    X, y = load_digits(return_X_y=True)
    forest = uq.lab.methods.RandomForest(n_members=10, min_samples_leaf=5, random_state=0).fit(
        X[:TRAINED_ON], y[:TRAINED_ON]
    )
    trees, y_true = forest.predict_uncertainty(X[TRAINED_ON:]), y[TRAINED_ON:]
    two = uq.assay({"trees": trees, "average": trees.mean_probs()}, y_true, calibration=())
    one = uq.assay({"trees": trees}, y_true)
    learner = uq.lab.methods.RandomForest(n_members=10, min_samples_leaf=5)
    split = uq.lab.datasets.BallSplit(uq.lab.datasets.suggested_radius(X, 60), n_balls=10, min_neighbours=40)
    gained = uq.lab.papers.epistemic_gain(learner, X, y, split, runs=6, progress=False)
    few = uq.lab.papers.Conditions(shares=(0.05, 0.2, 0.5, 1.0), noise_levels=(0.0, 0.25, 0.5, 1.0), left_out=(0,))
    moved = uq.lab.papers.disentanglement(learner, X, y, runs=5, conditions=few, progress=False)
    return {
        "how-vague": figures.plot_tradeoff(two, ax=white_axes()),
        "right-probabilities": figures.plot_calibration_before_after(
            one, "trees", "kuiper-confidence", ax=white_axes()
        ),
        "more-data": figures.plot_delay_curve(gained.result("entropy"), ax=white_axes()),
        "when-wrong": figures.plot_risk_coverage(one, ax=white_axes()),
        "why-unsure": figures.plot_disentanglement_curves(contenders_of(moved)[0], "label-noise", ax=white_axes()),
    }


def main() -> None:
    """Write every picture."""
    PICTURES.mkdir(exist_ok=True)
    for name, ax in draw().items():
        path = PICTURES / f"{name}.png"
        drawn = io.BytesIO()
        ax.figure.savefig(drawn, dpi=DPI)
        Image.open(drawn).convert("RGB").quantize(COLOURS).save(path, optimize=True)
        print(f"{path}: {path.stat().st_size / 1000:.0f} kB")


if __name__ == "__main__":
    main()
