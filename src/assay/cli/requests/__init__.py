"""Requests: from the words of a command line to typed requests."""
