"""Recorded hosts, simulated worlds and conformance suites for tests and benchmarks."""
