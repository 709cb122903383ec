"""Alembic environment and revisions of the store; only ``assay.store.upgrade`` runs them."""
