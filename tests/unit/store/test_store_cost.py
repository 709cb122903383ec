"""Cost of the store: at start, and for each sample."""

from __future__ import annotations

import statistics
import time
from pathlib import Path

from assay.store import open_store
from assay.testing.store_contracts import make_sample, make_stratum, tune_spec

IMPORTED = """
import sys
from assay.store import default_url, open_store
heavy = ("sqlalchemy", "alembic", "sqlite3")
print([name for name in heavy if name in sys.modules])
open_store(sys.argv[1]).close()
open_store(sys.argv[1]).close()
print([name for name in heavy if name in sys.modules])
"""


def test_database_library_is_imported_late_and_alembic_only_for_upgrades(
    database: Path, scripts
) -> None:
    before, after = scripts.run(IMPORTED, database).splitlines()
    assert before == "[]"
    assert after == "['sqlalchemy', 'sqlite3']"


def test_add_sample_takes_less_than_a_millisecond(database: Path) -> None:
    # The best of several batches, because other processes can only slow it down.
    medians_s = []
    with open_store(database) as store:
        study_id = store.create_study(tune_spec(), make_stratum(), 1.0)
        for batch in range(5):
            times_s = []
            for position in range(100):
                sample = make_sample(batch, position)
                start_s = time.perf_counter()
                store.add_sample(study_id, 0, sample)
                times_s.append(time.perf_counter() - start_s)
            medians_s.append(statistics.median(times_s))
    assert min(medians_s) < 1e-3


def test_database_uses_wal_mode(database: Path) -> None:
    open_store(database).close()
    # Bytes 18 and 19 are 2 for WAL (https://www.sqlite.org/fileformat.html).
    assert database.read_bytes()[18:20] == b"\2\2"
