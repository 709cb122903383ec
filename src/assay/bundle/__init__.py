"""Bundles: a study in one verifiable file, and simpler exports.

docs/reference/bundle.md specifies the format. Identifying names of the host and its user are
replaced (``redact``), a hash chain protects every entry (``chain``), and any reader can recompute
the verdicts (``verify``).
"""
