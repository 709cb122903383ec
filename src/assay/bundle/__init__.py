"""Bundles: a study in one file that others can check, and plainer exports.

The format is that of docs/reference/bundle.md.

What names the host and its user is taken out on the way (``redact``), every entry is tied to the
one before it (``chain``), and whoever has the file can work out its verdicts anew (``verify``).
"""
