"""What several test files of this room share."""

ESTIMATORS = ("quadratic", "linear", "block", "biased")
