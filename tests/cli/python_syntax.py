"""What a user of a shell should never be told to write."""

import re

__all__ = ["PYTHON"]

PYTHON = re.compile(
    r"\b[a-z_]+=(True|False|None|\(|'\w|\"\w)|\b[a-z]+_[a-z_]*=\d"  # keyword arguments
    r"|\b(Point|Members|Dirichlet|Intervals|Masses|Vertices|GaussianLogits)\.\w+"
    r"|\b(uq|np|numpy|pandas|torch|uqassay)\.\w+"
    r"|\b\w+\(\w*\)"  # calls
    r"|\b\w+\[['\"\d]"  # items
    r"|\.(astype|to_numpy|repaired|mean_probs)\b"
    r"|\bfrom_\w+\b|\bload_labels\b|\b[a-z]+_[a-z_]+\b(?<!focal_sets)(?<!class_names)(?<!js_distance)(?<!row_numbers)"
    r"(?<!y_prob)(?<!the labels y_true)"
)
