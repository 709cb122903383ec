"""Tables of the store, at the newest schema.

The JSON document of a row is authoritative; the other columns duplicate searchable values. It is
either text in ``document``, as assay wrote it up to schema 0004, or packed in ``content``
(``assay.store.packing``); then ``document``, and columns that no query needs, are empty. A change
requires a migration and a new revision (``assay.store.revisions``). Within a major version changes
only add (``tests/unit/store/test_store_schema.py`` compares the tables with the migrations).
"""

from __future__ import annotations

from sqlalchemy import (
    Column,
    Float,
    ForeignKey,
    ForeignKeyConstraint,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    PrimaryKeyConstraint,
    String,
    Table,
    Text,
    UniqueConstraint,
)

from assay.store.revisions import VERSION_TABLE

METADATA = MetaData()

VERSION = Table(
    VERSION_TABLE,
    METADATA,
    # In the format of Alembic, which reads and writes it in an upgrade.
    Column("version_num", String(32), nullable=False),
    PrimaryKeyConstraint("version_num", name=f"{VERSION_TABLE}_pkc"),
)

STUDY = Table(
    "study",
    METADATA,
    Column("number", Integer, nullable=False),
    Column("id", Text, nullable=False),
    Column("kind", Text, nullable=False),
    Column("command", Text, nullable=False),
    Column("status", Text, nullable=False),
    Column("created_at", Float, nullable=False),
    Column("elapsed_s", Float, nullable=False),
    Column("owner_pid", Integer),  # process that claimed it last, for messages only
    Column("spec", Text, nullable=False),
    Column("conclusion", Text),  # of schema 0004 and older; now in VERDICT only
    Column("launches", Integer),  # number of samples; empty while samples are added
    PrimaryKeyConstraint("number", name="pk_study"),
    UniqueConstraint("id", name="uq_study_id"),
    Index("ix_study_created_at", "created_at", "number"),
    # Numbers of deleted studies must not be reused: the new study would share their lock.
    sqlite_autoincrement=True,
)

STRATUM = Table(
    "stratum",
    METADATA,
    Column(
        "study",
        Text,
        ForeignKey("study.id", name="fk_stratum_study", ondelete="CASCADE"),
        nullable=False,
    ),
    Column("number", Integer, nullable=False),
    Column("machine", Text, nullable=False),
    Column("assay_version", Text, nullable=False),
    Column("document", Text, nullable=False),
    Column("model", Text),  # of the processor
    Column("conditions", Integer),  # rows of SHARED_DOCUMENT: the stratum without its host, and
    Column("host", Integer),  # the machine document
    PrimaryKeyConstraint("study", "number", name="pk_stratum"),
    Index("ix_stratum_conditions", "conditions"),
    Index("ix_stratum_host", "host"),
)

SHARED_DOCUMENT = Table(
    "shared_document",
    METADATA,
    Column("number", Integer, nullable=False),
    Column("digest", LargeBinary, nullable=False),  # SHA-256 of the document
    Column("content", LargeBinary, nullable=False),
    PrimaryKeyConstraint("number", name="pk_shared_document"),
    UniqueConstraint("digest", name="uq_shared_document_digest"),
)
"""Documents of strata, one for equal content, for all studies."""

DICTIONARY = Table(
    "dictionary",
    METADATA,
    Column("study", Text, nullable=False),
    Column("stratum", Integer, nullable=False),
    Column("kind", Text, nullable=False),
    Column("number", Integer, nullable=False),
    Column("content", LargeBinary, nullable=False),
    PrimaryKeyConstraint("study", "stratum", "kind", "number", name="pk_dictionary"),
    ForeignKeyConstraint(
        ["study", "stratum"],
        ["stratum.study", "stratum.number"],
        name="fk_dictionary_stratum",
        ondelete="CASCADE",
    ),
)
"""Reference documents of packed documents, by the table that contains these."""

LABEL = Table(
    "label",
    METADATA,
    Column(
        "study",
        Text,
        ForeignKey("study.id", name="fk_label_study", ondelete="CASCADE"),
        nullable=False,
    ),
    Column("label", Text, nullable=False),
    PrimaryKeyConstraint("study", "label", name="pk_label"),
    Index("ix_label_label", "label"),
)
"""Labels of studies, assigned by the user."""

SAMPLE = Table(
    "sample",
    METADATA,
    Column("number", Integer, nullable=False),
    Column("study", Text, nullable=False),
    Column("stratum", Integer, nullable=False),
    Column("machine", Text, nullable=False),
    Column("node", Text, nullable=False),
    Column("stage", Text, nullable=False),
    Column("block", Integer, nullable=False),
    Column("position", Integer, nullable=False),
    Column("attempt", Integer, nullable=False),
    Column("launcher_version", Text, nullable=False),
    Column("outcome", Text, nullable=False),
    Column("objective", Float),
    Column("document", Text, nullable=False),
    Column("content", LargeBinary),
    Column("dictionary", Integer),
    PrimaryKeyConstraint("number", name="pk_sample"),
    ForeignKeyConstraint(
        ["study", "stratum"],
        ["stratum.study", "stratum.number"],
        name="fk_sample_stratum",
        ondelete="CASCADE",
    ),
    UniqueConstraint("study", "stratum", "block", "position", "attempt", name="uq_sample_place"),
)

PLAN = Table(
    "plan",
    METADATA,
    Column("study", Text, nullable=False),
    Column("stratum", Integer, nullable=False),
    Column("configuration", Text, nullable=False),  # its digest
    Column("document", Text, nullable=False),
    PrimaryKeyConstraint("study", "stratum", "configuration", name="pk_plan"),
    ForeignKeyConstraint(
        ["study", "stratum"],
        ["stratum.study", "stratum.number"],
        name="fk_plan_stratum",
        ondelete="CASCADE",
    ),
)

OUTPUT = Table(
    "output",
    METADATA,
    Column(
        "sample",
        Integer,
        ForeignKey("sample.number", name="fk_output_sample", ondelete="CASCADE"),
        nullable=False,
    ),
    Column("document", Text, nullable=False),
    Column("content", LargeBinary),
    Column("dictionary", Integer),
    PrimaryKeyConstraint("sample", name="pk_output"),
)

VERDICT = Table(
    "verdict",
    METADATA,
    Column("study", Text, nullable=False),
    Column("stratum", Integer, nullable=False),
    Column("document", Text, nullable=False),
    Column("content", LargeBinary),
    PrimaryKeyConstraint("study", "stratum", name="pk_verdict"),
    ForeignKeyConstraint(
        ["study", "stratum"],
        ["stratum.study", "stratum.number"],
        name="fk_verdict_stratum",
        ondelete="CASCADE",
    ),
)
"""Conclusion of each stratum; the one of the newest stratum is that of the study."""

OVERHEAD = Table(
    "overhead",
    METADATA,
    Column("number", Integer, nullable=False),
    Column("machine", Text, nullable=False),
    Column("started_at", Float, nullable=False),
    Column("document", Text, nullable=False),
    PrimaryKeyConstraint("number", name="pk_overhead"),
)
"""Costs of observations; the newest row of a machine counts."""
