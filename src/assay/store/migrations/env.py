"""Alembic entry point: runs the revisions on the connection of ``assay.store.upgrade``."""

from alembic import context

from assay.store.revisions import VERSION_TABLE
from assay.store.schema import METADATA

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=METADATA,
    version_table=VERSION_TABLE,
    render_as_batch=True,  # SQLite alters a table by copying it
)
with context.begin_transaction():
    context.run_migrations()
