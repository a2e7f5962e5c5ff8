"""Timings beside other implementations, and the check of the methods; run from the root of the repository."""
