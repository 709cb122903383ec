"""Metrics: values extracted from the output and the files of a launch."""
