"""Signals, streams, file descriptors and privileges of the process of the command line."""
