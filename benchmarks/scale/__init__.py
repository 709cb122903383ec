"""Benchmark of sizes that users reach: large studies, stores and machines."""
