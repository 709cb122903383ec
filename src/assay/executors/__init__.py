"""Executors: they carry out launches and verify their results."""
