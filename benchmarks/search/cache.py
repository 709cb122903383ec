"""Results on disk, so that an interrupted run can resume and parts can run separately."""

from __future__ import annotations

import functools
import hashlib
import importlib.metadata
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import assay
from assay.testing.replay.jobs import Job
from assay.testing.replay.score import Row

PACKAGES = {"tpe": "optuna", "gp": "optuna", "smac": "smac", "hebo": "HEBO"}
"""Package on which the result of a method depends."""
DECIDING = ("search", "stats", "records")
"""Packages of assay on which the result of assay depends."""

Key = tuple[str, str, str, int, int, str, bool]


@dataclass(frozen=True)
class Cache:
    """Results by table, method, version of its code, seed, launches and kind of noise.

    Attributes:
        path: file of JSON lines; the first result creates it.
        code: version of assay's code.
    """

    path: Path
    code: str

    def read(self) -> dict[Key, dict[str, Any]]:
        """Return all results; an incomplete line is ignored."""
        found: dict[Key, dict[str, Any]] = {}
        if self.path.exists():
            for line in self.path.read_text().splitlines():
                try:
                    record = json.loads(line)
                    found[_key(record)] = record
                except (ValueError, KeyError):
                    continue
        return found

    def keys(self, job: Job) -> list[Key]:
        """Return the keys of the results of a job."""
        return [self._key_of(job, count) for count in job.counts]

    def append(self, job: Job, rows: Iterable[Row], took_s: float) -> list[dict[str, Any]]:
        """Write the results of a job."""
        records = [
            {
                **row.document(),
                "table": table_name(job.path),
                "code": self._version(job.method),
                "world": str(job.kind),
                "null": job.null,
                "took_s": round(took_s, 2),
            }
            for row in rows
        ]
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with self.path.open("a") as file:
            file.write("".join(json.dumps(record) + "\n" for record in records))
        return records

    def _key_of(self, job: Job, launches: int) -> Key:
        return (
            table_name(job.path),
            job.method,
            self._version(job.method),
            job.seed,
            launches,
            str(job.kind),
            job.null,
        )

    def _version(self, method: str) -> str:
        name = method.removesuffix("-raw")
        return self.code if name.startswith("assay") else self.version_of(name)

    def version_of(self, peer: str) -> str:
        """Return package and version of a peer; if it is missing, that of its newest result."""
        if peer not in PACKAGES:
            return "built-in"
        try:
            return f"{PACKAGES[peer]} {importlib.metadata.version(PACKAGES[peer])}"
        except importlib.metadata.PackageNotFoundError:
            return self._newest_versions.get(peer, "not installed")

    @functools.cached_property
    def _newest_versions(self) -> dict[str, str]:
        return {key[1].removesuffix("-raw"): key[2] for key in self.read()}

    def has(self, peer: str) -> bool:
        """Return whether there are results of a peer."""
        return peer in self._newest_versions


def _key(record: dict[str, Any]) -> Key:
    return (
        record["table"],
        record["method"],
        record["code"],
        record["seed"],
        record["launches"],
        record["world"],
        record["null"],
    )


def table_name(path: Path) -> str:
    """Return the name of a table from that of its file."""
    return path.name.removesuffix(".gz").removesuffix(".csv")


def digest(packages: Sequence[str] = DECIDING) -> str:
    """Return a short digest of the code on which the result of assay depends."""
    root, found = Path(assay.__file__).parent, hashlib.sha256()
    for package in packages:
        for path in sorted((root / package).rglob("*.py")):
            found.update(path.relative_to(root).as_posix().encode() + path.read_bytes())
    return found.hexdigest()[:10]
