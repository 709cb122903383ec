"""Kept: answers on disk, so that a run that was stopped goes on."""

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
"""The modules of the benchmark that an answer depends on."""


@dataclass
class Kept:
    """Answers by study and version of the code.

    Attributes:
        path: of a file of JSON lines; made by the first answer.
        known: answers, those of other versions as well.
    """

    path: Path
    known: dict[str, Answer]

    @classmethod
    def read(cls, path: Path) -> Kept:
        """Read a file, if there is one; a line that was cut off is left out."""
        known: dict[str, Answer] = {}
        for line in path.read_text().splitlines() if path.exists() else ():
            try:
                record = json.loads(line)
                known[record["study"]] = _answer(record["answer"])
            except (ValueError, KeyError, TypeError):
                continue
        return cls(path, known)

    def make(self, studies: Sequence[Study], jobs: int, until: float) -> None:
        """Make those that are not known yet, while there is time.

        Args:
            studies: all that are wanted.
            jobs: processes.
            until: no study begins after this moment of the monotonic clock.
        """
        missing = [study for study in studies if key_of(study) not in self.known]
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with ProcessPoolExecutor(jobs) as pool, self.path.open("a") as file:
            # As many at a time as are soon done: a run that is stopped loses no more.
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
        """The answers of those of the studies that are known."""
        return [self.known[key] for study in studies if (key := key_of(study)) in self.known]


@functools.cache
def _code() -> str:
    """Return a digest of the code that an answer depends on, that of the benchmark included."""
    own = hashlib.sha256(digest().encode())
    for name in ANSWERING:
        own.update((Path(__file__).parent / name).read_bytes())
    return own.hexdigest()[:10]


@functools.cache
def _table(path: Path) -> str:
    """Return the name of a table with a digest of its content."""
    return f"{table_name(path)}:{hashlib.sha256(path.read_bytes()).hexdigest()[:10]}"


def key_of(study: Study) -> str:
    """Return the key of a study, with the version of the code that answers it."""
    fields = {key: str(value) for key, value in vars(study).items()}
    if isinstance(study, RecordedStudy):
        fields["table"] = _table(study.table)
    return json.dumps({"code": _code(), **fields})


def _answer(record: dict[str, Any]) -> Answer:
    return Answer(**{**record, "status": RecommendationStatus(record["status"])})
