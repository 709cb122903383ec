"""Benchmark of the catalogue's kernels: every variant beside libraries and roofs.

Run it as ``python -m benchmarks.kernels``; it takes minutes.
"""
