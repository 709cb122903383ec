"""Schemas of the store, oldest first, and the table that states the one of a database."""

from __future__ import annotations

REVISIONS = ("0001", "0002", "0003", "0004", "0005")
"""Schemas that this version can read or upgrade, oldest first."""
HEAD = REVISIONS[-1]
RENAMING = ("0001", "0002", "0003")
"""Schemas whose upgrade renames columns, so that an older assay can store no further sample."""
VERSION_TABLE = "assay_schema"
"""Table of the revision; Alembic's default name could belong to a database of another program."""
