"""Storage of studies and their raw samples; other packages do not depend on the database.

``open_store`` returns a :class:`Store` and imports the database library on first use;
``list_heads`` lists studies without it.
"""

from assay.store.base import Store, StoredStratum, StudyHead, StudyRecord, StudySelection
from assay.store.errors import DamagedStudyError, StoreUnusableError
from assay.store.location import default_url
from assay.store.open import list_heads, open_store

__all__ = [
    "DamagedStudyError",
    "Store",
    "StoreUnusableError",
    "StoredStratum",
    "StudyHead",
    "StudyRecord",
    "StudySelection",
    "default_url",
    "list_heads",
    "open_store",
]
