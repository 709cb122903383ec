"""Types of the documents that commands print with ``--json``, by area."""
