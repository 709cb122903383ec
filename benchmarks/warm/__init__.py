"""Benefit of a warm start, and its cost if the earlier study misleads."""
