"""Benchmarks of assay: cost of measuring, and error rates of its verdicts."""
