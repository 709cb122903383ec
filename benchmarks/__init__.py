"""Benchmarks of assay: what measuring costs, and how often its verdicts are wrong."""
