"""The engine of benchmarks: cells and their keys, where they run, what a folder knows of them, and reports on the results.

`uqassay.experiments.runner` and `uqassay.experiments.store` stand in front of it.
"""
