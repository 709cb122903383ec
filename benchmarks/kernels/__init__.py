"""The catalogue's kernels: every variant, beside the best library and what the machine can do.

Run it as ``python -m benchmarks.kernels``; it takes minutes.
"""
