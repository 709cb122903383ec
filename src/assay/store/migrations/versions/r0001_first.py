"""Create the tables of studies, strata and samples."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Create the tables."""
    op.create_table(
        "study",
        sa.Column("number", sa.Integer, nullable=False),
        sa.Column("id", sa.Text, nullable=False),
        sa.Column("kind", sa.Text, nullable=False),
        sa.Column("command", sa.Text, nullable=False),
        sa.Column("status", sa.Text, nullable=False),
        sa.Column("created_at", sa.Float, nullable=False),
        sa.Column("elapsed_s", sa.Float, nullable=False),
        sa.Column("owner_pid", sa.Integer),
        sa.Column("spec", sa.Text, nullable=False),
        sa.Column("conclusion", sa.Text),
        sa.PrimaryKeyConstraint("number", name="pk_study"),
        sa.UniqueConstraint("id", name="uq_study_id"),
        sqlite_autoincrement=True,
    )
    op.create_table(
        "stratum",
        sa.Column(
            "study",
            sa.Text,
            sa.ForeignKey("study.id", name="fk_stratum_study", ondelete="CASCADE"),
            nullable=False,
        ),
        sa.Column("number", sa.Integer, nullable=False),
        sa.Column("machine", sa.Text, nullable=False),
        sa.Column("engine", sa.Text, nullable=False),
        sa.Column("document", sa.Text, nullable=False),
        sa.PrimaryKeyConstraint("study", "number", name="pk_stratum"),
    )
    op.create_table(
        "sample",
        sa.Column("number", sa.Integer, nullable=False),
        sa.Column("study", sa.Text, nullable=False),
        sa.Column("stratum", sa.Integer, nullable=False),
        sa.Column("machine", sa.Text, nullable=False),
        sa.Column("node", sa.Text, nullable=False),
        sa.Column("stage", sa.Text, nullable=False),
        sa.Column("block", sa.Integer, nullable=False),
        sa.Column("position", sa.Integer, nullable=False),
        sa.Column("attempt", sa.Integer, nullable=False),
        sa.Column("engine", sa.Text, nullable=False),
        sa.Column("outcome", sa.Text, nullable=False),
        sa.Column("objective", sa.Float),
        sa.Column("document", sa.Text, nullable=False),
        sa.PrimaryKeyConstraint("number", name="pk_sample"),
        sa.ForeignKeyConstraint(
            ["study", "stratum"],
            ["stratum.study", "stratum.number"],
            name="fk_sample_stratum",
            ondelete="CASCADE",
        ),
        sa.UniqueConstraint(
            "study", "stratum", "block", "position", "attempt", name="uq_sample_place"
        ),
    )
