"""Studies of simulated programs, and unpacked bundles."""

from __future__ import annotations

import hashlib
import io
import json
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec

from assay import __version__
from assay.bundle.identity import Identity
from assay.bundle.source import Source, StratumSource
from assay.bundle.write import WrittenBundle, write_bundle
from assay.records import (
    Arm,
    Budget,
    Choices,
    Configuration,
    EnvSet,
    Kind,
    Output,
    Parameter,
    Plan,
    Sample,
    Space,
    Status,
    Stratum,
    StudySpec,
    Workload,
)
from assay.search.conclusion.conclude import conclude
from assay.search.races.compare import CompareRace
from assay.search.races.measure import MeasureRace
from assay.search.races.race import Race
from assay.search.races.tune import TuneRace
from assay.search.space.search_space import SearchSpace
from assay.store import StudyRecord
from assay.testing.replay.tpe import TpeSearcher
from assay.testing.search_contracts import SimulatedProgram, run_race

NOBODY = Identity()
PROGRAM = SimulatedProgram(
    takes_s=lambda c: 0.6 if c.get("threads") == 2 or "fast" in str(c) else 1.0
)


def spec_of(kind: Kind, launches: int = 80, **workload: Any) -> StudySpec:
    """Return a study with a clear answer."""
    fast, slow = Configuration({"env.MODE": "fast"}), Configuration({"env.MODE": "slow"})
    space = Space(
        parameters=(
            Parameter(name="threads", domain=Choices(options=(1, 2))),
            Parameter(name="nice", domain=Choices(options=(0, 5))),
        ),
        constraints=("threads + nice < 100",),
    )
    return StudySpec(
        kind=kind,
        workload=Workload(**{"argv": ("./solve", "{n}"), "placeholders": {"n": "9"}} | workload),
        budget=Budget(launches=launches),
        space=space if kind is Kind.TUNE else Space(),
        arms={
            Kind.COMPARE: (
                Arm(name="slow", configuration=slow),
                Arm(name="fast", configuration=fast),
            ),
            Kind.MEASURE: (Arm(name="fast", configuration=fast),),
        }.get(kind, ()),
        seed=3,
    )


def stratum_of(number: int = 0, **more: Any) -> Stratum:
    fields: dict[str, Any] = {
        "program_digest": "00ff",
        "kernel": "6.1.0",
        "cpus": (0, 1),
        "default_state": {"thp": "madvise"},
        "launch_environment": {"variable LANG": "c0de", "niceness": "0"},
        "assay_version": __version__,
        "machine": "feedfeedfeedfeed",
    }
    return Stratum(number=number, **(fields | more))


def plan_of(configuration: Configuration) -> Plan:
    return Plan(
        configuration=configuration,
        actions=tuple(
            EnvSet(name=name.upper().replace(".", "_"), value=str(value))
            for name, value in configuration.items()
        ),
    )


def race_of(spec: StudySpec) -> Race:
    if spec.kind is Kind.TUNE:
        return TuneRace(spec, SearchSpace(spec.space), TpeSearcher())
    return CompareRace(spec) if spec.kind is Kind.COMPARE else MeasureRace(spec)


def source_of(
    spec: StudySpec,
    *,
    strata: tuple[Stratum, ...] | None = None,
    concluded: bool = True,
    output: Callable[[int], tuple[Output, ...]] = lambda number: (),
    change: Callable[[Sample], Sample] = lambda sample: sample,
) -> Source:
    """Return a stored study with the same launches in each stratum."""
    completed_race = run_race(race_of(spec), PROGRAM, spec.budget)
    samples = tuple(map(change, completed_race.samples))
    space = SearchSpace(spec.space)
    conclusion = conclude(spec, samples, space, TpeSearcher(), completed_race.done)
    configurations = dict.fromkeys(sample.launch.configuration for sample in samples)
    kept = [output(number) for number in range(1, len(samples) + 1)]
    found = strata or (stratum_of(),)
    record = StudyRecord(
        id="kq3v8ma",
        spec=spec,
        status=Status.DONE if concluded else Status.RUNNING,
        strata=found,
        elapsed_s=12.5,
        launches=len(samples) * len(found),
        created_at=1.7e9,
    )
    return Source(
        record,
        tuple(
            StratumSource(
                stratum=stratum,
                plans=tuple(map(plan_of, configurations)),
                samples=samples,
                outputs=lambda: iter(kept),
                conclusion=conclusion if concluded else None,
            )
            for stratum in found
        ),
    )


def an_output(text: bytes, stream: str = "stdout") -> Output:
    """Return a small stream that is stored completely."""
    digest = hashlib.sha256(text).hexdigest()
    return Output(stream=stream, size_bytes=len(text), sha256=digest, head=text)


def bundle_of(source: Source, identity: Identity = NOBODY, *, outputs: bool = True) -> bytes:
    return written(source, identity, outputs=outputs)[0]


def written(
    source: Source, identity: Identity = NOBODY, *, outputs: bool = True
) -> tuple[bytes, WrittenBundle]:
    target = io.BytesIO()
    done = write_bundle(source, identity, target, outputs=outputs)
    return target.getvalue(), done


# --- taken apart and put together again -------------------------------------------------------

Files = dict[str, bytes]


def unpacked(bundle: bytes) -> Files:
    with zipfile.ZipFile(io.BytesIO(bundle)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def packed(files: Files, path: Path) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return path


def lines_of(content: bytes) -> list[bytes]:
    """Return the entries of a file of lines."""
    marked = b',"entry":'
    return [line[line.index(marked) + len(marked) : -1] for line in content.splitlines()]


def forged(files: Files) -> Files:
    """Return the files with a recomputed chain, as by a careful forger."""
    manifest = json.loads(lines_of(files["manifest.json"])[0])
    found: Files = {}
    head = "0" * 64

    def linked(entry: bytes) -> str:
        nonlocal head
        head = hashlib.sha256(head.encode() + entry).hexdigest()
        return head

    def line(entry: bytes) -> bytes:
        return b'{"chain":"' + linked(entry).encode() + b'","entry":' + entry + b"}\n"

    for note in manifest["files"]:
        name = note["name"]
        if name.endswith(".jsonl"):
            entries = lines_of(files[name])
            found[name] = b"".join(map(line, entries))
            note["entries"] = len(entries)
        else:
            end = b"" if name.endswith(".sh") else b"\n"
            entry = files[name].removesuffix(end) if end else files[name]
            linked(entry)
            found[name] = entry + end
        note["head"] = head
    manifest["head"] = head
    found["manifest.json"] = line(spelled(manifest))
    return found


def spelled(document: Any) -> bytes:
    """Return a document in canonical form."""
    return msgspec.json.encode(document)


def edited(entry: bytes, change: Callable[[dict[str, Any]], Any]) -> bytes:
    """Return a changed document."""
    document = json.loads(entry)
    change(document)
    return spelled(document)


def with_entry(content: bytes, number: int, change: Callable[[dict[str, Any]], Any]) -> bytes:
    """Return a file of lines with one changed entry and unchanged chain values."""
    lines = content.splitlines(keepends=True)
    entry = lines_of(lines[number - 1])[0]
    lines[number - 1] = lines[number - 1].replace(entry, edited(entry, change))
    return b"".join(lines)
