"""Verification accepts written bundles, and detects and names every change."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec
import pytest
from studies import (
    an_output,
    bundle_of,
    edited,
    forged,
    lines_of,
    packed,
    source_of,
    spec_of,
    stratum_of,
    unpacked,
    with_entry,
    written,
)

from assay.bundle import versions
from assay.bundle.source import Source
from assay.bundle.verify import BundleCheck, verify
from assay.records import HashedPart, Kind, Output, Sample

OUTPUTS = (an_output(b"done\n"), an_output("Größe 3\n".encode(), "stderr"))


def study(kind: Kind = Kind.TUNE, **more: Any) -> Source:
    return source_of(spec_of(kind), output=lambda number: OUTPUTS, **more)


def checked(bundle: bytes, tmp_path: Path) -> BundleCheck:
    path = tmp_path / "study.zip"
    path.write_bytes(bundle)
    return verify(path)


@pytest.mark.parametrize("kind", [Kind.TUNE, Kind.COMPARE, Kind.MEASURE])
def test_written_bundle_is_valid(kind: Kind, tmp_path: Path) -> None:
    source = study(kind)
    found = checked(bundle_of(source), tmp_path)
    assert (found.exit_status, found.holds, found.broken) == (0, True, None)
    (verdict,) = found.verdicts
    assert verdict.samples == len(source.strata[0].samples) > 10
    assert source.strata[0].conclusion is not None
    assert verdict.conclusion == source.strata[0].conclusion
    # The study, the machine, the plans, samples with their outputs, verdict, and script if any.
    plans, samples = len(source.strata[0].plans), len(source.strata[0].samples)
    assert found.entries == 3 + plans + 2 * samples + (kind is Kind.TUNE)


def test_bundle_is_reproducible() -> None:
    assert bundle_of(study()) == bundle_of(study())


def test_bundle_is_readable_by_standard_tools(tmp_path: Path) -> None:
    files = unpacked(bundle_of(study()))
    samples = [json.loads(line)["entry"] for line in files["strata/0/samples.jsonl"].splitlines()]
    assert samples[0]["launch"]["stage"] == "survey"
    streams = json.loads(files["strata/0/outputs.jsonl"].splitlines()[0])["entry"]["streams"]
    assert [stream["head"] for stream in streams] == ["done\n", "Größe 3\n"]
    assert files["strata/0/recommended.sh"].startswith(b"#!/bin/sh\n")
    assert b"THREADS=2" in files["strata/0/recommended.sh"]
    assert json.loads(files["strata/0/conclusion.json"])["recommendation"]["script"] == ""
    # The chain as docs/reference/bundle.md has it.
    head = "0" * 64
    for note in json.loads(files["manifest.json"])["entry"]["files"]:
        content = files[note["name"]]
        if note["name"].endswith(".jsonl"):
            for line, entry in zip(content.splitlines(), lines_of(content), strict=True):
                head = hashlib.sha256(head.encode() + entry).hexdigest()
                assert json.loads(line)["chain"] == head
        else:
            entry = content if note["name"].endswith(".sh") else content.rstrip(b"\n")
            head = hashlib.sha256(head.encode() + entry).hexdigest()
        assert note["head"] == head


def test_repacked_bundle_is_valid(tmp_path: Path) -> None:
    files = unpacked(bundle_of(study()))
    assert verify(packed(dict(reversed(files.items())), tmp_path / "again.zip")).holds


def later(sample: Sample) -> Sample:
    return msgspec.structs.replace(sample, message="later")


def test_running_study_can_be_exported(tmp_path: Path) -> None:
    found = checked(bundle_of(study(concluded=False)), tmp_path)
    assert found.holds
    assert (found.verdicts, found.open_strata) == ((), (0,))


def test_verdict_rests_on_its_own_samples(tmp_path: Path) -> None:
    """A running study has more samples than its verdict."""
    source = study()
    (one,) = source.strata
    grown = replace(one, samples=(*one.samples, later(one.samples[-1])))
    found = checked(bundle_of(Source(source.record, (grown,))), tmp_path)
    assert found.holds
    assert found.verdicts[0].samples == len(one.samples)


def test_all_strata_are_verified(tmp_path: Path) -> None:
    source = study(strata=(stratum_of(0), stratum_of(1, kernel="6.2.0")))
    found = checked(bundle_of(source), tmp_path)
    assert found.holds
    assert [verdict.stratum for verdict in found.verdicts] == [0, 1]


SAMPLES, OF_17 = "strata/0/samples.jsonl", "strata/0/samples.jsonl, entry 17"


def slower(sample: dict[str, Any]) -> None:
    sample["wall_s"] *= 2


EDITS: dict[str, tuple[str, Callable[[bytes], bytes], str]] = {
    "a figure of a sample": (SAMPLES, lambda c: with_entry(c, 17, slower), OF_17),
    "the chain value of a sample": (
        SAMPLES,
        lambda c: with_chain(c, 17, "f" * 64),
        OF_17,
    ),
    "white space in a line": (
        SAMPLES,
        lambda c: c.replace(b'"entry":', b'"entry": ', 1),
        f"{SAMPLES}, entry 1",
    ),
    "a removed line": (SAMPLES, lambda c: without_line(c, 17), OF_17),
    "the last line removed": (SAMPLES, lambda c: without_line(c, -1), SAMPLES),
    "a line twice": (SAMPLES, lambda c: twice(c, 16), OF_17),
    "two lines exchanged": (SAMPLES, lambda c: exchanged(c, 17), OF_17),
    "a line cut off": (SAMPLES, lambda c: c[:-5], SAMPLES),
    "a plan": (
        "strata/0/plans.jsonl",
        lambda c: with_entry(c, 2, lambda plan: plan.pop("actions")),
        "strata/0/plans.jsonl, entry 2",
    ),
    "an output": (
        "strata/0/outputs.jsonl",
        lambda c: c.replace(b"done", b"DONE", 1),
        "strata/0/outputs.jsonl, entry 1",
    ),
    "the machine": (
        "strata/0/stratum.json",
        lambda c: c.replace(b"6.1.0", b"6.9.9"),
        "strata/0/stratum.json",
    ),
    "the specification": ("study.json", lambda c: c.replace(b"solve", b"sleep"), "study.json"),
    "the script": (
        "strata/0/recommended.sh",
        lambda c: c + b"rm -rf ~\n",
        "strata/0/recommended.sh",
    ),
    "a version in the manifest": (
        "manifest.json",
        lambda c: c.replace(b'"python":"3', b'"python":"4'),
        "manifest.json",
    ),
}


def with_chain(content: bytes, number: int, value: str) -> bytes:
    lines = content.splitlines(keepends=True)
    lines[number - 1] = (
        b'{"chain":"' + value.encode() + lines[number - 1][len(b'{"chain":"') + 64 :]
    )
    return b"".join(lines)


def without_line(content: bytes, number: int) -> bytes:
    lines = content.splitlines(keepends=True)
    del lines[number - 1 if number > 0 else number]
    return b"".join(lines)


def twice(content: bytes, number: int) -> bytes:
    lines = content.splitlines(keepends=True)
    return b"".join([*lines[:number], *lines[number - 1 :]])


def exchanged(content: bytes, number: int) -> bytes:
    lines = content.splitlines(keepends=True)
    lines[number - 1], lines[number] = lines[number], lines[number - 1]
    return b"".join(lines)


@pytest.mark.parametrize("edit", EDITS)
def test_first_change_is_named(edit: str, tmp_path: Path) -> None:
    name, change, where = EDITS[edit]
    files = unpacked(bundle_of(study()))
    changed = change(files[name])
    assert changed != files[name]
    found = verify(packed(files | {name: changed}, tmp_path / "edited.zip"))
    assert found.exit_status == 1
    assert found.broken is not None
    place, _, _ = found.broken.cause.partition(": ")
    assert place.startswith(where)
    if where == SAMPLES:
        assert place in (SAMPLES, f"{SAMPLES}, entry {len(lines_of(files[SAMPLES]))}")
    assert found.verdicts == ()


def test_first_of_two_changes_is_named(tmp_path: Path) -> None:
    files = unpacked(bundle_of(study()))
    files[SAMPLES] = with_entry(with_entry(files[SAMPLES], 30, slower), 9, slower)
    files["strata/0/conclusion.json"] = b"{}\n"
    found = verify(packed(files, tmp_path / "edited.zip"))
    assert found.broken is not None
    assert found.broken.cause == f"{SAMPLES}, entry 9: was changed (sample 9 of stratum 0)."


def test_changed_verdict_is_reported_with_key_and_values(tmp_path: Path) -> None:
    """The chain may be recomputed or not."""
    source = study()
    files = unpacked(bundle_of(source))
    assert source.strata[0].conclusion is not None
    ratio = source.strata[0].conclusion.claims[0].ratio
    name = "strata/0/conclusion.json"

    def better(document: dict[str, Any]) -> None:
        document["claims"][0]["ratio"] = 0.25

    files[name] = edited(files[name], better) + b"\n"
    found = verify(packed(files, tmp_path / "edited.zip"))
    assert found.exit_status == 1
    assert found.broken is not None
    told = f"claims[0].ratio is 0.25, but its samples yield {ratio!r}"
    assert found.broken.cause == f"{name}: was changed: {told}."

    found = verify(packed(forged(files), tmp_path / "forged.zip"))
    assert (found.exit_status, found.broken) == (1, None)
    (verdict,) = found.verdicts
    assert verdict.difference is not None
    assert (verdict.difference.key, verdict.difference.recorded) == ("claims[0].ratio", "0.25")
    assert verdict.difference.recomputed == repr(ratio)


def test_difference_in_last_digit_is_detected(tmp_path: Path) -> None:
    files = unpacked(bundle_of(study()))
    name = "strata/0/conclusion.json"

    def nudge(document: dict[str, Any]) -> None:
        import math

        claim = document["claims"][0]
        claim["ratio"] = math.nextafter(claim["ratio"], 1.0)

    files[name] = edited(files[name], nudge) + b"\n"
    found = verify(packed(forged(files), tmp_path / "forged.zip"))
    assert found.exit_status == 1


def test_changed_samples_with_valid_chain_contradict_verdict(tmp_path: Path) -> None:
    files = unpacked(bundle_of(study()))
    assert verify(packed(forged(files), tmp_path / "as-it-was.zip")).holds

    def doubled(sample: dict[str, Any]) -> None:
        if sample["launch"]["stage"] == "confirm":
            sample["metrics"] = {k: v * 1.01 for k, v in sample["metrics"].items()}

    count = len(lines_of(files[SAMPLES]))
    for number in range(count // 2, count):
        files[SAMPLES] = with_entry(files[SAMPLES], number, doubled)
    found = verify(packed(forged(files), tmp_path / "forged.zip"))
    assert (found.exit_status, found.broken) == (1, None)
    assert found.verdicts[0].difference is not None


@pytest.mark.parametrize("engine", [{}, {"assay": "0.0.9"}])
def test_script_is_verified_by_plan(engine: dict[str, str], tmp_path: Path) -> None:
    """The script is verified even if the bundle names another version."""
    files = unpacked(bundle_of(study()))
    name = "strata/0/recommended.sh"
    files[name] = files[name].replace(b"exec", b"rm -rf ~\nexec")
    found = verify(packed(of_engine(files, **engine), tmp_path / "forged.zip"))
    assert found.exit_status == (3 if engine else 1)
    (verdict,) = found.verdicts
    assert verdict.difference is not None
    assert verdict.difference.key.startswith("recommended.sh, line ")
    assert verdict.difference.recorded == "'rm -rf ~'"
    assert verdict.difference.recomputed.startswith("'exec")


def without(files: dict[str, bytes], *left: str, **changes: Any) -> dict[str, bytes]:
    """Return files without some, with a changed manifest and a recomputed chain."""
    (entry,) = lines_of(files["manifest.json"])

    def other(manifest: dict[str, Any]) -> None:
        manifest["files"] = [f for f in manifest["files"] if f["name"] not in left]
        manifest |= changes

    line = b'{"chain":"' + b"0" * 64 + b'","entry":' + edited(entry, other) + b"}\n"
    kept = {name: content for name, content in files.items() if name not in left}
    return forged(kept | {"manifest.json": line})


def test_unlisted_documents_are_detected(tmp_path: Path) -> None:
    files = unpacked(bundle_of(study()))
    script, verdict = "strata/0/recommended.sh", "strata/0/conclusion.json"
    for number, (forgery, where) in enumerate(
        {
            "a verdict that the manifest does not list": (
                without(files, verdicts=[]),
                "manifest.json",
            ),
            "a script without a verdict": (without(files, verdict, verdicts=[]), script),
            "a verdict without its script": (without(files, script), ""),
            "no machine": (without(files, "strata/0/stratum.json"), "strata/0/stratum.json"),
            "no study": (without(files, "study.json"), "study.json"),
            "another study": (without(files, study="other"), "study.json"),
        }.values()
    ):
        found = verify(packed(forgery, tmp_path / f"{number}.zip"))
        assert found.exit_status == 1
        assert (found.broken.file if found.broken else "") == where


def test_excessive_space_is_rejected(tmp_path: Path) -> None:
    files = unpacked(bundle_of(study()))
    endless = (
        {"kind": "range", "low": 0, "high": 1e18, "step": 1},
        {"kind": "range", "low": 0, "high": 1, "step": 0.0},
        {"kind": "range", "low": 1, "high": 9, "step": 1.0, "log": True},
        {"kind": "range", "low": 0.0, "high": 9, "step": 2.0, "log": True},
    )
    spaces: list[dict[str, Any]] = [
        {"parameters": [{"name": "threads", "domain": domain}]} for domain in endless
    ]
    spaces += [{"constraints": ["1 + " * 2000 + "1 > 0"]}, {"constraints": ["1 > 0"] * 2000}]
    many = [{"name": f"c{number}", "configuration": {"nice": number}} for number in range(2000)]
    spaces.append({"named_configurations": many})
    for space in spaces:

        def other(document: dict[str, Any], space: dict[str, Any] = space) -> None:
            document["spec"]["space"] = space

        changed = files | {"study.json": edited(files["study.json"], other)}
        found = verify(packed(forged(changed), tmp_path / "endless.zip"))
        assert found.exit_status == 1
        assert found.verdicts[0].error


def test_digest_of_output_is_verified(tmp_path: Path) -> None:
    files = unpacked(bundle_of(study()))
    name = "strata/0/outputs.jsonl"
    files[name] = files[name].replace(b"done", b"DONE", 1)
    found = verify(packed(forged(files), tmp_path / "forged.zip"))
    assert found.broken is not None
    assert found.broken.cause == f"{name}, entry 1: has a wrong digest of stdout."
    assert found.broken.remedy


@pytest.mark.parametrize(
    ("head", "tail"),
    [
        (b"the beginning", b"the end"),
        (b"\xff\x00 no text", b"\xfe"),
        ("größ".encode()[:-1], "ß the end".encode()[1:]),  # letters that were cut through
    ],
    ids=["text", "binary", "cut"],
)
def test_digest_of_output_ends_is_verified(head: bytes, tail: bytes, tmp_path: Path) -> None:
    """The digest of a very long output covers its ends only."""
    output = Output(
        stream="stdout",
        size_bytes=10**9,
        sha256=hashlib.sha256(head + tail).hexdigest(),
        digest_scope=HashedPart.ENDS,
        head=head,
        tail=tail,
    )
    source = source_of(spec_of(Kind.MEASURE), output=lambda number: (output,))
    bundle = bundle_of(source)
    assert checked(bundle, tmp_path).holds
    files, name = unpacked(bundle), "strata/0/outputs.jsonl"
    for key in ("head", "tail"):

        def change(document: dict[str, Any], key: str = key) -> None:
            document["streams"][0][key] = "QUJD" + document["streams"][0][key]

        changed = files | {name: with_entry(files[name], 2, change)}
        found = verify(packed(forged(changed), tmp_path / "forged.zip"))
        assert found.broken is not None
        assert found.broken.cause == f"{name}, entry 2: has a wrong digest of stdout."


def of_engine(files: dict[str, bytes], **engine: str) -> dict[str, bytes]:
    """Return the files with other recorded versions."""
    (entry,) = lines_of(files["manifest.json"])

    def other(manifest: dict[str, Any]) -> None:
        manifest["verdicts"][0]["versions"] |= engine

    line = b'{"chain":"' + b"0" * 64 + b'","entry":' + edited(entry, other) + b"}\n"
    return forged(files | {"manifest.json": line})


def test_other_version_with_same_result_is_accepted(tmp_path: Path) -> None:
    files = of_engine(unpacked(bundle_of(study())), assay="0.0.9", numpy="1.26.0")
    found = verify(packed(files, tmp_path / "older.zip"))
    assert found.exit_status == 0
    assert found.verdicts[0].recorded_versions == {"assay": "0.0.9", "numpy": "1.26.0"}


def test_other_version_with_other_result_is_named(tmp_path: Path) -> None:
    files = unpacked(bundle_of(study()))
    name = "strata/0/conclusion.json"
    files[name] = edited(files[name], lambda document: document.update(notes=["as it was"])) + b"\n"
    found = verify(packed(of_engine(files, assay="0.0.9"), tmp_path / "older.zip"))
    assert (found.exit_status, found.holds) == (3, False)
    (verdict,) = found.verdicts
    assert "pip install assay==0.0.9" in verdict.remedy
    assert verdict.difference is not None
    assert verdict.difference.key == "notes"
    assert verdict.difference.recomputed == "absent"


def test_python_is_compared_by_minor_version() -> None:
    here = versions.package_versions()
    major, minor, *_ = here["python"].split(".")
    assert versions.different_versions(here | {"python": f"{major}.{minor}.99"}) == {}
    assert versions.different_versions(here | {"python": "3.2.0"}) == {"python": "3.2.0"}
    assert "Python 3.2" in versions.install_command({"python": "3.2.0"})


def test_invalid_version_is_not_suggested(tmp_path: Path) -> None:
    files = of_engine(unpacked(bundle_of(study())), assay="1 --index-url http://evil")
    found = verify(packed(files, tmp_path / "evil.zip"))
    assert (found.exit_status, found.broken and found.broken.file) == (1, "manifest.json")


def test_edited_verdict_is_reported(tmp_path: Path) -> None:
    """The verdict is exported unchanged, although this version computes another one."""
    source = study()
    (one,) = source.strata
    assert one.conclusion is not None
    other = msgspec.structs.replace(one.conclusion, notes=("by hand",))
    bundle, done = written(Source(source.record, (replace(one, conclusion=other),)))
    assert len(done.notes) == 1
    assert "stratum 0" in done.notes[0]
    found = checked(bundle, tmp_path)
    assert found.exit_status == 1
    assert found.verdicts[0].conclusion == other


def test_verdict_without_reason_is_valid(tmp_path: Path) -> None:
    source = study()
    (one,) = source.strata
    assert one.conclusion is not None
    assert one.conclusion.stop_code
    older = msgspec.structs.replace(one.conclusion, stop_code="")
    found = checked(bundle_of(Source(source.record, (replace(one, conclusion=older),))), tmp_path)
    assert found.holds


def test_contradictory_documents_are_reported(tmp_path: Path) -> None:
    """The documents have canonical form and a valid chain, but contradict each other."""
    files = unpacked(bundle_of(study(Kind.MEASURE)))
    files["study.json"] = edited(
        files["study.json"], lambda document: document["spec"].update(arms=[])
    )
    found = verify(packed(forged(files), tmp_path / "odd.zip"))
    assert found.exit_status == 1
    assert found.verdicts[0].error


def test_outputs_are_omitted_on_request(tmp_path: Path) -> None:
    bundle = bundle_of(study(), outputs=False)
    assert "strata/0/outputs.jsonl" not in unpacked(bundle)
    assert "Größe".encode() in b"".join(unpacked(bundle_of(study())).values())
    assert "Größe".encode() not in b"".join(unpacked(bundle).values())
    found = checked(bundle, tmp_path)
    assert found.holds
    assert found.manifest.includes_outputs is False
