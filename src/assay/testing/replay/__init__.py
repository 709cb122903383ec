"""Replay: evaluation of searches on recorded spaces with a known best configuration.

``python -m assay.testing.replay TABLE...`` runs the race behind ``assay tune``, and other methods,
on tables with the recorded time of each configuration of a program.
"""
