"""Counts and sorted values of a history, which each sample updates."""
