"""Comparison of two conditions that were measured at different times, without I/O and clock."""
