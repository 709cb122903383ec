from __future__ import annotations

from pathlib import Path

import pytest

from assay.store import Store, open_store
from assay.testing.store_contracts import StoreContract


class TestSqlite(StoreContract):
    @pytest.fixture(autouse=True)
    def _database(self, database: Path) -> None:
        self._path = database

    def open(self) -> Store:
        return open_store(self._path)
