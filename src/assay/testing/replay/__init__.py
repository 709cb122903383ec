"""Replay: searches held against recorded spaces, where the best configuration is known.

``python -m assay.testing.replay TABLE...`` drives the very race behind ``assay tune``, and other
methods beside it, through tables of what each configuration of a program took.
"""
