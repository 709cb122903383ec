"""Create the tables of plans, outputs and verdicts of strata."""

import json

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Create the tables and assign existing verdicts to their strata."""
    op.create_table(
        "plan",
        sa.Column("study", sa.Text, nullable=False),
        sa.Column("stratum", sa.Integer, nullable=False),
        sa.Column("configuration", sa.Text, nullable=False),
        sa.Column("document", sa.Text, nullable=False),
        sa.PrimaryKeyConstraint("study", "stratum", "configuration", name="pk_plan"),
        sa.ForeignKeyConstraint(
            ["study", "stratum"],
            ["stratum.study", "stratum.number"],
            name="fk_plan_stratum",
            ondelete="CASCADE",
        ),
    )
    op.create_table(
        "output",
        sa.Column(
            "sample",
            sa.Integer,
            sa.ForeignKey("sample.number", name="fk_output_sample", ondelete="CASCADE"),
            nullable=False,
        ),
        sa.Column("document", sa.Text, nullable=False),
        sa.PrimaryKeyConstraint("sample", name="pk_output"),
    )
    op.create_table(
        "verdict",
        sa.Column("study", sa.Text, nullable=False),
        sa.Column("stratum", sa.Integer, nullable=False),
        sa.Column("document", sa.Text, nullable=False),
        sa.PrimaryKeyConstraint("study", "stratum", name="pk_verdict"),
        sa.ForeignKeyConstraint(
            ["study", "stratum"],
            ["stratum.study", "stratum.number"],
            name="fk_verdict_stratum",
            ondelete="CASCADE",
        ),
    )
    _tell_strata(op.get_bind())


def _tell_strata(connection: sa.Connection) -> None:
    """Assign the verdict of each study to a stratum, because schema 1 did not record it.

    The stratum is the newest one with at least as many samples as the verdict; a later stratum may
    have been interrupted.
    """
    concluded = connection.execute(
        sa.text("SELECT id, conclusion FROM study WHERE conclusion IS NOT NULL")
    ).all()
    for study, document in concluded:
        strata = connection.execute(
            sa.text(
                "SELECT stratum.number, (SELECT count(*) FROM sample WHERE sample.study = :study "
                "AND sample.stratum = stratum.number) FROM stratum WHERE stratum.study = :study "
                "ORDER BY stratum.number DESC"
            ),
            {"study": study},
        ).all()
        launches = _launches(document)
        stratum = next((number for number, samples in strata if samples >= launches), None)
        if stratum is not None:
            connection.execute(
                sa.text("INSERT INTO verdict VALUES (:study, :stratum, :document)"),
                {"study": study, "stratum": stratum, "document": document},
            )


def _launches(document: str) -> int:
    """Return the number of samples of a verdict; 0 if the verdict is unreadable."""
    try:
        return int(json.loads(document).get("launches", 0))
    except (ValueError, TypeError, AttributeError):
        return 0
