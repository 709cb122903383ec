"""Wording: sentences of verdicts, notes and help, from plain values."""
