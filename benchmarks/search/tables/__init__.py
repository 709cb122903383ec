"""Recorded spaces of the benchmark, and how they were made; see README.md beside this file."""
