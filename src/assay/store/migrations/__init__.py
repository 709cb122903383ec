"""Alembic's environment and the revisions of the store; run by ``assay.store.upgrade`` alone."""
