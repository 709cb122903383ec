"""Add columns and tables for packed documents, labels and the number of launches.

The revision copies no data: documents in text remain readable, and ``assay study compact`` packs
them.
"""

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add columns, tables and indexes."""
    _add_columns()
    _create_shared_documents()
    _create_dictionaries()
    _create_labels()
    op.create_index("ix_study_created_at", "study", ["created_at", "number"])
    op.create_index("ix_stratum_conditions", "stratum", ["conditions"])
    op.create_index("ix_stratum_host", "stratum", ["host"])


def _add_columns() -> None:
    op.add_column("study", sa.Column("launches", sa.Integer))
    for name, kind in (("model", sa.Text), ("conditions", sa.Integer), ("host", sa.Integer)):
        op.add_column("stratum", sa.Column(name, kind))
    for table in ("sample", "output"):
        op.add_column(table, sa.Column("content", sa.LargeBinary))
        op.add_column(table, sa.Column("dictionary", sa.Integer))
    op.add_column("verdict", sa.Column("content", sa.LargeBinary))


def _create_shared_documents() -> None:
    op.create_table(
        "shared_document",
        sa.Column("number", sa.Integer, nullable=False),
        sa.Column("digest", sa.LargeBinary, nullable=False),
        sa.Column("content", sa.LargeBinary, nullable=False),
        sa.PrimaryKeyConstraint("number", name="pk_shared_document"),
        sa.UniqueConstraint("digest", name="uq_shared_document_digest"),
    )


def _create_dictionaries() -> None:
    op.create_table(
        "dictionary",
        sa.Column("study", sa.Text, nullable=False),
        sa.Column("stratum", sa.Integer, nullable=False),
        sa.Column("kind", sa.Text, nullable=False),
        sa.Column("number", sa.Integer, nullable=False),
        sa.Column("content", sa.LargeBinary, nullable=False),
        sa.PrimaryKeyConstraint("study", "stratum", "kind", "number", name="pk_dictionary"),
        sa.ForeignKeyConstraint(
            ["study", "stratum"],
            ["stratum.study", "stratum.number"],
            name="fk_dictionary_stratum",
            ondelete="CASCADE",
        ),
    )


def _create_labels() -> None:
    op.create_table(
        "label",
        sa.Column(
            "study",
            sa.Text,
            sa.ForeignKey("study.id", name="fk_label_study", ondelete="CASCADE"),
            nullable=False,
        ),
        sa.Column("label", sa.Text, nullable=False),
        sa.PrimaryKeyConstraint("study", "label", name="pk_label"),
    )
    op.create_index("ix_label_label", "label", ["label"])
