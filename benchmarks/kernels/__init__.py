"""Benchmark of the catalogue's kernels, compared with libraries and roofs.

Run it as ``python -m benchmarks.kernels``; it takes minutes.
"""
