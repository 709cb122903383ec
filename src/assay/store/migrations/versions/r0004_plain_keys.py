"""Rename the keys of documents, and the columns that duplicate them, to plain technical terms.

The change log has the table of old and new keys. A document of schema 2 has the same values.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import sqlalchemy as sa
from alembic import context, op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None

Change = Callable[[Any], Any]

SCHEMA = 2
"""Schema of the documents after this revision."""

_EVIDENCE_KINDS = {
    "ending": "termination",
    "left_over": "remaining_processes",
    "kept_on": "own_affinity",
    "survivors": "surviving_processes",
}
_EVIDENCE_PREFIXES = {"word.": "unknown_unit."}


def _record(changes: dict[str, str | tuple[str, Change]], version: int | None = None) -> Change:
    """Return the change of a record.

    Args:
        changes: new key of each old key, and the change of its value if that has renamed keys.
        version: new schema of the document; ``None`` for a record without one.
    """

    def change(document: Any) -> Any:
        if not isinstance(document, dict):
            return document
        found = {}
        for key, value in document.items():
            match changes.get(key, key):
                case str(name):
                    found[name] = value
                case (name, change_value):
                    found[name] = change_value(value)
        return found if version is None else {**found, "schema": version}

    return change


def _each(change: Change) -> Change:
    """Return a change of every member of a list."""
    return lambda found: list(map(change, found)) if isinstance(found, list) else found


def _values(change: Change) -> Change:
    """Return a change of every value of a dictionary."""
    return lambda found: (
        {key: change(value) for key, value in found.items()} if isinstance(found, dict) else found
    )


def _by_kind(changes: dict[str, Change]) -> Change:
    """Return the change of a record that depends on its key ``kind``."""

    def change(found: Any) -> Any:
        of_kind = changes.get(str(found.get("kind"))) if isinstance(found, dict) else None
        return found if of_kind is None else of_kind(found)

    return change


def _kind(name: Any) -> Any:
    """Return the new name of a kind of evidence."""
    for prefix, new in _EVIDENCE_PREFIXES.items():
        if isinstance(name, str) and name.startswith(prefix):
            return new + name.removeprefix(prefix)
    return _EVIDENCE_KINDS.get(name, name) if isinstance(name, str) else name


def _unavailable(reasons: Any) -> Any:
    """Return the reasons of missing values with the present names of readings."""
    if not isinstance(reasons, dict):
        return reasons
    return {
        f"readback.{name.removeprefix('seen.')}" if name.startswith("seen.") else name: reason
        for name, reason in reasons.items()
    }


claim = _record(
    {
        "planned": "single_analysis",
        "withheld": "verdict_withheld",
        "followed": "correlated_load",
        "objection": "data_problem",
        "losses": "missing_values",
    }
)
_claims = _each(claim)
_modes = _record({"high_share": "upper_mode_share", "explained_by": ("explained_by", _kind)})
_arm_result = _record({"disturbed": "disturbed_launches", "modes": ("modes", _modes)})
_requirement_result = _record(
    {
        "kept": "satisfied_launches",
        "unknown": "unknown_launches",
        "bounded": "bounded_launches",
        "worst": "worst_value",
        "withheld": "verdict_withheld",
    }
)
_point = _record({"off": "exclusion", "claims": ("claims", _claims)})
_earlier_recommendation = _record({"values": "spread_launches", "claim": ("claim", claim)})

conclusion = _record(
    {
        "arms": ("arms", _each(_arm_result)),
        "claims": ("claims", _claims),
        "steps": ("steps", _claims),
        "requirements": ("requirements", _each(_requirement_result)),
        "recommendation": (
            "recommendation",
            _record({"output": "output_difference", "claim": ("claim", claim)}),
        ),
        "front": ("pareto_front", _each(_point)),
        "off_front": ("excluded_points", _each(_point)),
        "noise_floor": ("noise_floor", claim),
        "calibration": (
            "calibration",
            _record({"false_verdicts": ("false_verdicts", _record({"error": "standard_error"}))}),
        ),
        "stopped": "stop_reason",
        "reason": "stop_code",
        "switching": ("switching", _record({"applications": "changes", "boots": "boot_count"})),
        "interference": (
            "interference",
            _record(
                {
                    "slots": "concurrent_launches",
                    "noise_alone": "exclusive_sd_log",
                    "noise_beside": "concurrent_sd_log",
                    "refused": "sequential_reason",
                }
            ),
        ),
        "kernels": ("kernels", _record({"unread": "unreadable_releases"})),
        "elsewhere": (
            "cross_environment",
            _record(
                {
                    "found": ("earlier_recommendation", _earlier_recommendation),
                    "times": "launch_factor",
                    "saved": "saved_launches",
                }
            ),
        ),
    },
    SCHEMA,
)

_parameter = _record(
    {"when": "condition", "domain": ("domain", _by_kind({"any": _record({"form": "format"})}))}
)
_space = _record({"parameters": ("parameters", _each(_parameter)), "named": "named_configurations"})
_metric = _record({"as_is": "ignore_unit", "assumed": "goal_assumed", "take": "statistic"})
_workload = _record(
    {
        "metrics": ("metrics", _each(_metric)),
        "build": ("build", _record({"limit_s": "timeout_s"})),
        "beside": "requested_metrics",
    }
)

specification = _record(
    {
        "workload": ("workload", _workload),
        "space": ("space", _space),
        "arms": ("arms", _each(_record({"against": "parent"}))),
        "require": "requirements",
        "earlier": (
            "earlier_studies",
            _each(_record({"known": "known_configurations", "left_out": "unused_configurations"})),
        ),
        "reserve": ("reserve", _record({"wish": "specification"})),
        "found": ("earlier_recommendation", _earlier_recommendation),
        "pausing": "reboot_settings",
        "observe": "requested_observations",
        "unobserved": "disabled_observations",
        "gate": "exit_conditions",
    },
    SCHEMA,
)

_machine = _record(
    {
        "narrowed": ("cpu_restriction", _record({"by": "launcher", "granted": "granted_cpus"})),
        "allowed": "allowed_cpus",
        "system": "system_files",
        "rights": (
            "rights",
            _record(
                {
                    "nice_now": "nice",
                    "nice_floor": "min_nice",
                    "no_user_namespaces": "user_namespaces_unavailable",
                    "rt_priority_limit": "max_rt_priority",
                }
            ),
        ),
        "boot": (
            "boot",
            _record(
                {
                    "words": "arguments",
                    "found": "files",
                    "said": "firmware",
                    "witnesses": "firmware_sources",
                }
            ),
        ),
    },
    SCHEMA,
)

stratum = _record(
    {
        "engine": "assay_version",
        "surroundings": "launch_environment",
        "inherited": "inherited_variables",
        "host": ("host", _machine),
    }
)

sample = _record(
    {
        "launch": (
            "launch",
            _record(
                {
                    "cap_s": "timeout_s",
                    "roster": "block_arms",
                    "anew": "repeat_application",
                    "slot": "cpu_slot",
                }
            ),
        ),
        "settings": ("settings", _values(_record({"grant": "status"}))),
        "evidence": ("evidence", _each(_record({"kind": ("kind", _kind), "outside": "external"}))),
        "absent": ("unavailable", _unavailable),
        "engine": "launcher_version",
        "observed": "observations",
        "suspect": "contradictions",
        "at_most": "upper_bounds",
    },
    SCHEMA,
)

plan = _record(
    {
        "words": ("settings", _values(_record({"prospect": "status"}))),
        "actions": (
            "actions",
            _each(
                _by_kind(
                    {
                        "preload": _record(
                            {"not_into": "unsupported_runtimes", "first": "place_first"}
                        ),
                        "booted": _record({"needs": "requirement", "shown": "effect_observed"}),
                    }
                )
            ),
        ),
    },
    SCHEMA,
)

outputs = _each(_record({"hashed": "digest_scope"}))

overhead = _record(
    {
        "engine": "assay_version",
        "took_s": "duration_s",
        "others": "other_load",
        "at_s": "started_at",
        "absent": ("unavailable", _unavailable),
        "costs": ("costs", _each(_record({"bare_s": "baseline_s"}))),
    },
    SCHEMA,
)

_DOCUMENTS: tuple[tuple[str, str, Change], ...] = (
    ("study", "spec", specification),
    ("study", "conclusion", conclusion),
    ("stratum", "document", stratum),
    ("sample", "document", sample),
    ("plan", "document", plan),
    ("output", "document", outputs),
    ("verdict", "document", conclusion),
    ("overhead", "document", overhead),
)
_KEYS = {
    "study": ("number",),
    "stratum": ("study", "number"),
    "sample": ("number",),
    "plan": ("study", "stratum", "configuration"),
    "output": ("sample",),
    "verdict": ("study", "stratum"),
    "overhead": ("number",),
}
_COLUMNS = (
    ("stratum", "engine", "assay_version"),
    ("sample", "engine", "launcher_version"),
    ("overhead", "at_s", "started_at"),
)


def upgrade() -> None:
    """Rename columns and keys."""
    for table, old, new in _COLUMNS:
        op.execute(sa.text(f"ALTER TABLE {table} RENAME COLUMN {old} TO {new}"))
    connection = op.get_bind()
    for table, column, change in _DOCUMENTS:
        _rewrite(connection, table, column, change)


def _rewrite(connection: sa.Connection, table: str, column: str, change: Change) -> None:
    """Change one column of documents, row by row; unreadable documents stay as they are."""
    keys = _KEYS[table]
    found = sa.table(table, *map(sa.column, keys), sa.column(column))
    own = sa.and_(*(found.c[key] == sa.bindparam(f"own_{key}") for key in keys))
    read = sa.select(found.c[column]).where(own)
    write = sa.update(found).where(own).values({column: sa.bindparam("changed")})
    # The keys first: a table must not change while it is read.
    places = connection.execute(sa.select(*(found.c[key] for key in keys))).all()
    progress = context.config.attributes["progress"]
    for number, row in enumerate(places):
        progress(table, number, len(places))
        place = {f"own_{key}": value for key, value in zip(keys, row, strict=True)}
        document = connection.execute(read, place).scalar()
        changed = None if document is None else _changed(document, change)
        if changed is not None:
            connection.execute(write, {**place, "changed": changed})


def _changed(document: str, change: Change) -> str | None:
    """Return the changed document; ``None`` if it is not JSON."""
    try:
        found = json.loads(document)
    except ValueError:
        return None
    # Escapes of lone surrogates stand for bytes that are not UTF-8 (assay.records.codec).
    escaped = "\\ud" in document
    return json.dumps(change(found), separators=(",", ":"), ensure_ascii=escaped)
