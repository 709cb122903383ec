"""The schema, its migrations, and a database that an earlier assay left."""

from __future__ import annotations

import json
import lzma
import shutil
import sqlite3
from pathlib import Path
from typing import Any

import msgspec
import pytest

from assay.errors import NotPossibleError
from assay.records import (
    Conclusion,
    Outcome,
    Output,
    Plan,
    Sample,
    Stage,
    Status,
    Stratum,
    StudySpec,
    decode,
    encode,
)
from assay.records.codec import SCHEMA, Record
from assay.records.overhead import Overhead
from assay.records.sample_decoder import decode_once
from assay.store import StudyRecord, open_store, revisions, sqlite, upgrade
from assay.store.sqlite import sqlite_engine, writing_engine
from assay.testing.store_contracts import make_sample

ASSETS = Path(__file__).parent / "assets"

NEXT_REVISION = """
import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"


def upgrade():
    # A copy of the table that samples hang on: with foreign keys in force they would be deleted.
    with op.batch_alter_table("study", recreate="always") as batch:
        batch.add_column(sa.Column("title", sa.Text, nullable=False, server_default="untitled"))
    FAILS
"""


class Frozen(Record, frozen=True, kw_only=True):
    """Contents of ``v1.db`` at its creation."""

    study: StudyRecord
    samples: tuple[Sample, ...]


def definitions(path: Path) -> dict[str, str]:
    connection = sqlite3.connect(path)
    rows = connection.execute("SELECT name, sql FROM sqlite_master WHERE sql IS NOT NULL")
    found = {name: " ".join(sql.split()) for name, sql in rows}
    connection.close()
    return found


@pytest.fixture
def v1(tmp_path: Path) -> Path:
    return Path(shutil.copy(ASSETS / "v1.db", tmp_path / "v1.db"))


@pytest.fixture
def next_schema(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An assay that knows a schema 0006; gives the file of its revision."""
    migrations = tmp_path / "migr%ations"
    shutil.copytree(upgrade.MIGRATIONS, migrations, ignore=shutil.ignore_patterns("__pycache__"))
    revision = migrations / "versions" / "r0006_next.py"
    revision.write_text(NEXT_REVISION.replace("FAILS", ""))
    monkeypatch.setattr(upgrade, "MIGRATIONS", migrations)
    monkeypatch.setattr(upgrade, "REVISIONS", (*revisions.REVISIONS, "0006"))
    monkeypatch.setattr(upgrade, "HEAD", "0006")
    monkeypatch.setattr(sqlite, "HEAD", "0006")
    return revision


def test_migrations_create_the_tables_of_the_schema(tmp_path: Path) -> None:
    open_store(tmp_path / "made.db").close()
    engine = sqlite_engine(tmp_path / "migrated.db", 1.0, migrating=True)
    with writing_engine(engine).begin() as connection:
        upgrade.upgrade(connection)
    migrated = definitions(tmp_path / "migrated.db")
    assert migrated == definitions(tmp_path / "made.db")
    tables = {"study", "stratum", "sample", "plan", "output", "verdict", "overhead"}
    tables |= {"dictionary", "shared_document", "label"}
    assert tables <= migrated.keys()
    open_store(tmp_path / "migrated.db").close()


def test_long_upgrade_logs_its_progress(
    v1: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    copy = Path(shutil.copy(v1, v1.with_name("copy.db")))
    open_store(v1).close()
    assert not caplog.messages
    monkeypatch.setattr(upgrade, "PROGRESS_PERIOD_S", 0.0)
    open_store(copy).close()
    assert any("rows of the table sample" in message for message in caplog.messages)


def test_known_revisions_equal_migrations() -> None:
    from alembic.config import Config
    from alembic.script import ScriptDirectory

    config = Config()
    config.set_main_option("script_location", str(upgrade.MIGRATIONS))
    script = ScriptDirectory.from_config(config)
    oldest_first = [revision.revision for revision in script.walk_revisions()][::-1]
    assert tuple(oldest_first) == revisions.REVISIONS
    assert script.get_current_head() == revisions.HEAD


def test_store_of_schema_1_opens_with_all_data(v1: Path) -> None:
    frozen = decode((ASSETS / "v1.json").read_bytes(), Frozen)
    with open_store(v1, create=False) as store:
        head = store.studies()[0]
        assert (head.id, head.command, head.launches) == ("kq3v8ma", "./solve -n '{n}'", 3)
        study = store.study(store.find("kq3"))
        assert study == frozen.study
        assert [stratum.number for stratum in study.strata] == [0, 1]
        assert study.status is Status.INTERRUPTED
        assert study.conclusion is not None
        samples = store.samples(study.id)
        assert samples == list(frozen.samples)
        assert [sample.launch.stage for sample in samples] == [
            Stage.SEARCH,
            Stage.SEARCH,
            Stage.CONFIRM,
        ]
        store.acquire(study.id)
        store.add_sample(study.id, 1, make_sample(9))
        assert len(store.samples(study.id)) == 4


@pytest.fixture
def v3(tmp_path: Path) -> Path:
    """Return a copy of a store with ten studies of real launches, made by the last schema 3.

    It holds tune with one and with two objectives, with a requirement and with instances; compare,
    measure, sweep and calibrate; an interrupted and a failed study; and one record of overhead.
    """
    path = tmp_path / "v3.db"
    path.write_bytes(lzma.decompress((ASSETS / "v3.db.xz").read_bytes()))
    return path


def test_every_study_of_schema_3_is_read_with_samples_plans_outputs_and_conclusion(
    v3: Path,
) -> None:
    with open_store(v3, create=False) as store:
        heads = store.studies()
        kinds = sorted((head.kind.value, head.status.value) for head in heads)
        assert kinds == [
            ("calibrate", "done"),
            ("compare", "done"),
            ("compare", "failed"),
            ("measure", "done"),
            ("sweep", "done"),
            ("tune", "done"),
            ("tune", "done"),
            ("tune", "done"),
            ("tune", "done"),
            ("tune", "interrupted"),
        ]
        for head in heads:
            study = store.study(head.id)
            samples = store.samples(head.id)
            assert len(samples) == head.launches > 0
            pages = list(store.sample_pages(head.id, 0, 256))
            in_pages = [sample for page in pages for sample in page.samples(decode_once)]
            assert in_pages == store.samples(head.id, 0)
            assert (study.conclusion is None) == (head.status is not Status.DONE)
            assert store.plans(head.id, 0)
            assert any(store.outputs(head.id, 0))
            assert all(sample.wall_s for sample in samples if sample.outcome is Outcome.OK)


DOCUMENTS: dict[str, tuple[str, Any]] = {
    "spec of study": ("SELECT spec FROM study", StudySpec),
    "conclusion of study": ("SELECT conclusion FROM study", Conclusion),
    "stratum": ("SELECT document FROM stratum", Stratum),
    "sample": ("SELECT document FROM sample", Sample),
    "plan": ("SELECT document FROM plan", Plan),
    "output": ("SELECT document FROM output", tuple[Output, ...]),
    "verdict": ("SELECT document FROM verdict", Conclusion),
    "overhead": ("SELECT document FROM overhead", Overhead),
}


def unknown_keys(document: Any, record: Any, place: str = "") -> list[str]:
    """Return the keys of a document that its record lacks; the record omits default values."""
    if isinstance(document, dict) and isinstance(record, dict):
        found = [f"{place}/{key}" for key, value in document.items() if key not in record and value]
        for key in document.keys() & record.keys():
            found += unknown_keys(document[key], record[key], f"{place}/{key}")
        return found
    if isinstance(document, list) and isinstance(record, list):
        pairs = enumerate(zip(document, record, strict=True))
        return [key for i, pair in pairs for key in unknown_keys(*pair, f"{place}/{i}")]
    return []


@pytest.mark.parametrize("name", DOCUMENTS)
def test_documents_of_schema_3_have_present_keys(v3: Path, name: str) -> None:
    open_store(v3, create=False).close()
    query, kind = DOCUMENTS[name]
    connection = sqlite3.connect(v3)
    texts = [text for (text,) in connection.execute(query) if text is not None]
    connection.close()
    assert texts
    for text in texts:
        document = json.loads(text)
        assert unknown_keys(document, json.loads(encode(decode(text, kind)))) == []
        if not isinstance(document, list) and name != "stratum":
            assert document["schema"] == SCHEMA


def test_columns_of_schema_3_match_documents(v3: Path) -> None:
    open_store(v3, create=False).close()
    connection = sqlite3.connect(v3)
    for table, column in (
        ("stratum", "assay_version"),
        ("sample", "launcher_version"),
        ("overhead", "started_at"),
    ):
        rows = connection.execute(f"SELECT {column}, document FROM {table}").fetchall()
        assert rows
        assert all(value == json.loads(document)[column] for value, document in rows)
    connection.close()


@pytest.mark.parametrize(("launches", "stratum"), [(1, 1), (2, 0), (9, None)])
def test_verdict_of_schema_1_is_assigned_to_stratum_with_enough_samples(
    v1: Path, launches: int, stratum: int | None
) -> None:
    """The first stratum of the asset has two samples, the second has one."""
    connection = sqlite3.connect(v1)
    with connection:
        connection.execute(
            "UPDATE study SET conclusion = json_set(conclusion, '$.launches', ?)", (launches,)
        )
    connection.close()
    with open_store(v1) as store:
        verdicts = store.conclusions("kq3v8ma")
        assert list(verdicts) == ([] if stratum is None else [stratum])
        assert all(found.launches == launches for found in verdicts.values())
        assert store.plans("kq3v8ma", 0) == []
        assert list(store.outputs("kq3v8ma", 0)) == [(), ()]


def test_columns_of_schema_1_match_documents(v1: Path) -> None:
    connection = sqlite3.connect(v1)
    connection.row_factory = sqlite3.Row
    rows = connection.execute("SELECT * FROM sample ORDER BY number").fetchall()
    connection.close()
    assert len(rows) == 3
    for row in rows:
        document: dict[str, Any] = msgspec.json.decode(row["document"])
        launch = document["launch"]
        for key in ("stage", "block", "position"):
            assert row[key] == launch[key]
        assert row["attempt"] == launch.get("attempt", 0)
        assert row["outcome"] == document["outcome"]
        assert row["objective"] == document.get("metrics", {}).get("rate")
        assert row["engine"] == document["engine"]
        assert row["machine"] == f"machine-{row['stratum']}"
        assert row["node"] == "local"


def test_upgrade_keeps_all_data(v1: Path, next_schema: Path) -> None:
    frozen = decode((ASSETS / "v1.json").read_bytes(), Frozen)
    open_store(v1).close()
    columns = definitions(v1)["study"]
    assert "title" in columns
    with open_store(v1) as store:
        assert store.study("kq3v8ma") == frozen.study
        assert store.samples("kq3v8ma") == list(frozen.samples)
        store.delete("kq3v8ma")
    connection = sqlite3.connect(v1)
    assert connection.execute("SELECT count(*) FROM sample").fetchone() == (0,)
    assert connection.execute("SELECT version_num FROM assay_schema").fetchall() == [("0006",)]
    connection.close()


@pytest.mark.parametrize(
    "failure",
    [
        "op.execute('INSERT INTO nowhere VALUES (1)')",
        'op.execute("DELETE FROM stratum WHERE number = 0")',
    ],
)
def test_failed_upgrade_changes_nothing(
    v1: Path, next_schema: Path, failure: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    frozen = decode((ASSETS / "v1.json").read_bytes(), Frozen)
    before = definitions(v1)
    next_schema.write_text(NEXT_REVISION.replace("FAILS", failure))
    with pytest.raises(NotPossibleError):
        open_store(v1)
    assert definitions(v1) == before
    monkeypatch.undo()
    with open_store(v1) as store:
        assert store.study("kq3v8ma") == frozen.study
        assert store.samples("kq3v8ma") == list(frozen.samples)


def test_older_assay_rejects_newer_schema(
    v1: Path, next_schema: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    open_store(v1).close()
    monkeypatch.undo()
    with pytest.raises(NotPossibleError, match=r"schema 0006; .* up to 0005"):
        open_store(v1)
