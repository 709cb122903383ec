"""Stored answers, so that an interrupted run can resume."""

from __future__ import annotations

import functools
import hashlib
import json
import time
from collections.abc import Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from assay.records import RecommendationStatus
from benchmarks.search.cache import digest, table_name

from .studies import Answer, RecordedStudy, Study, answered

PATH = Path(__file__).parents[2] / "build" / "bench-recommendations.jsonl"


ANSWERING = ("spaces.py", "starts.py", "studies.py")
"""Modules of the benchmark on which an answer depends."""


@dataclass
class Kept:
    """Answers by study and version of the code.

    Attributes:
        path: file of JSON lines; the first answer creates it.
        known: answers of all versions.
    """

    path: Path
    known: dict[str, Answer]

    @classmethod
    def read(cls, path: Path) -> Kept:
        """Read a file if it exists; an incomplete line is ignored."""
        known: dict[str, Answer] = {}
        for line in path.read_text().splitlines() if path.exists() else ():
            try:
                record = json.loads(line)
                known[record["study"]] = _answer(record["answer"])
            except (ValueError, KeyError, TypeError):
                continue
        return cls(path, known)

    def make(self, studies: Sequence[Study], jobs: int, until: float) -> None:
        """Make the studies without a stored answer, until the time limit.

        Args:
            studies: all studies of a row.
            jobs: number of processes.
            until: time of the monotonic clock after which no study begins.
        """
        missing = [study for study in studies if key_of(study) not in self.known]
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with ProcessPoolExecutor(jobs) as pool, self.path.open("a") as file:
            # Small batches: an interrupted run loses at most one of them.
            for at in range(0, len(missing), 8 * jobs):
                if time.monotonic() > until:
                    return
                some = {pool.submit(answered, s): s for s in missing[at : at + 8 * jobs]}
                for done in as_completed(some):
                    key = key_of(some[done])
                    self.known[key] = done.result()
                    file.write(json.dumps({"study": key, "answer": asdict(done.result())}) + "\n")
                file.flush()

    def of(self, studies: Iterable[Study]) -> list[Answer]:
        """Return the stored answers of the studies."""
        return [self.known[key] for study in studies if (key := key_of(study)) in self.known]


@functools.cache
def _code() -> str:
    """Return a digest of the code on which an answer depends, including the benchmark's."""
    own = hashlib.sha256(digest().encode())
    for name in ANSWERING:
        own.update((Path(__file__).parent / name).read_bytes())
    return own.hexdigest()[:10]


@functools.cache
def _table(path: Path) -> str:
    """Return the name of a table and a digest of its content."""
    return f"{table_name(path)}:{hashlib.sha256(path.read_bytes()).hexdigest()[:10]}"


def key_of(study: Study) -> str:
    """Return the key of a study, which includes the version of the code."""
    fields = {key: str(value) for key, value in vars(study).items()}
    if isinstance(study, RecordedStudy):
        fields["table"] = _table(study.table)
    return json.dumps({"code": _code(), **fields})


def _answer(record: dict[str, Any]) -> Answer:
    return Answer(**{**record, "status": RecommendationStatus(record["status"])})
