"""Keeps studies and their raw samples. Nothing above this package knows the database.

``open_store`` gives a :class:`Store`; the database library is imported only then.
"""

from assay.store.base import Store, StudyHead, StudyRecord
from assay.store.location import default_url
from assay.store.open import open_store

__all__ = ["Store", "StudyHead", "StudyRecord", "default_url", "open_store"]
