"""Schema of a database: detection, creation and upgrade.

Alembic is only imported for an upgrade (it takes 300 ms).
"""

from __future__ import annotations

from pathlib import Path

from sqlalchemy import Connection, insert, inspect, select

from assay import __version__
from assay.errors import NotPossibleError
from assay.store.schema import HEAD, METADATA, REVISIONS, VERSION, VERSION_TABLE

MIGRATIONS = Path(__file__).parent / "migrations"


def revision_of(connection: Connection, name: str) -> str | None:
    """Return the schema of a database; ``None`` for an empty one.

    Args:
        connection: connection to the database.
        name: name of the store, for messages.

    Raises:
        NotPossibleError: a database of another program, or an unknown schema.
    """
    inspector = inspect(connection)
    if not inspector.has_table(VERSION_TABLE):
        if inspector.get_table_names():
            raise NotPossibleError(
                f"{name} is a database of another program.",
                "Specify another file with --db PATH or ASSAY_DB.",
            )
        return None
    revision: str | None = connection.execute(select(VERSION.c.version_num)).scalar()
    if revision not in REVISIONS:
        raise NotPossibleError(
            f"The store {name} has schema {revision}; assay {__version__} supports schemas up to "
            f"{HEAD}.",
            "Use the newer assay that wrote it, or another store with --db PATH or ASSAY_DB.",
        )
    return revision


def create(connection: Connection) -> None:
    """Create all tables at the newest schema; the caller commits."""
    METADATA.create_all(connection)
    connection.execute(insert(VERSION), {"version_num": HEAD})


def upgrade(connection: Connection) -> None:
    """Run the missing revisions; the caller commits or rolls back."""
    from alembic import command
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS).replace("%", "%%"))
    config.attributes["connection"] = connection
    command.upgrade(config, "head")
