"""Partitions: CPUs and memory that are set apart, and shares of them for one run each."""
