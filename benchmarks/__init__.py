"""Benchmarks of assay, which write the pages in docs/benchmarks."""
