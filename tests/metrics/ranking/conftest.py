"""What the tests of rankings share."""

import pytest


@pytest.fixture
def without_plans(monkeypatch):
    """No search for the difference that a paired test could have shown, on which no p-value depends."""
    monkeypatch.setattr("uqassay.statistics.statistic_comparisons.detectable_statistic", lambda *_: None)
