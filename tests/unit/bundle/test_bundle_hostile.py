"""Invalid and malicious bundles: each is rejected, and nothing is unpacked."""

from __future__ import annotations

import io
import json
import struct
import tracemalloc
import zipfile
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from studies import (
    an_output,
    bundle_of,
    edited,
    forged,
    lines_of,
    packed,
    source_of,
    spec_of,
    unpacked,
)

from assay import __version__
from assay.bundle import layout, read
from assay.bundle.read import BrokenBundleError
from assay.bundle.verify import verify
from assay.errors import AssayError, InvalidInputError, NotPossibleError
from assay.records import Kind

SAMPLES = "strata/0/samples.jsonl"


@cache
def good() -> bytes:
    source = source_of(spec_of(Kind.MEASURE), output=lambda number: (an_output(b"done\n"),))
    return bundle_of(source)


def refused(content: bytes, folder: Path) -> InvalidInputError:
    path = folder / "some.zip"
    path.write_bytes(content)
    return refused_file(path)


def refused_file(path: Path) -> InvalidInputError:
    with pytest.raises(InvalidInputError) as caught:
        verify(path)
    assert caught.value.exit_status == 2
    assert caught.value.remedy
    return caught.value


@pytest.mark.parametrize("content", [b"", b"no archive", b"PK", b"\0" * 5000])
def test_file_of_other_format_is_rejected(content: bytes, tmp_path: Path) -> None:
    assert "not a ZIP archive" in refused(content, tmp_path).cause


@pytest.mark.parametrize("share", [0.1, 0.5, 0.99])
def test_truncated_bundle_is_rejected(share: float, tmp_path: Path) -> None:
    error = refused(good()[: int(share * len(good()))], tmp_path)
    assert "truncated" in error.cause


def test_truncated_gigabyte_is_rejected_without_reading_it(tmp_path: Path) -> None:
    path = tmp_path / "large.zip"
    with path.open("wb") as file:
        file.write(good()[: len(good()) // 2])
        file.truncate(1 << 30)  # sparse: it takes no space
    assert "truncated" in traced(lambda: refused_file(path).cause)


def test_large_directory_is_rejected_without_reading_it(tmp_path: Path) -> None:
    """Its end states a directory of nearly the whole file, as large as the memory."""
    path = tmp_path / "large.zip"
    size = 1 << 29
    end = struct.pack("<4s4H2LH", b"PK\x05\x06", 0, 0, 9999, 9999, size - 4, 4, 0)
    with path.open("wb") as file:
        file.write(b"PK\x03\x04")
        file.truncate(size)  # sparse: it takes no space
        file.seek(size)
        file.write(end)
    assert "directory is too large" in traced(lambda: refused_file(path).cause)


def stating(unpacked_bytes: int, folder: Path, name: str = "study.json") -> Path:
    """Return a bundle whose directory states this unpacked size of a file."""
    content = bytearray(good())
    at = content.rindex(name.encode()) - 46  # the fixed part of an entry of the directory
    assert content[at : at + 4] == b"PK\x01\x02"
    content[at + 24 : at + 28] = struct.pack("<L", unpacked_bytes)
    path = folder / "stated.zip"
    path.write_bytes(content)
    return path


def test_stated_size_above_the_maximum_is_rejected_before_reading(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(zipfile.ZipFile, "open", None)
    error = refused_file(stating(0xFFFFFFFE, tmp_path))
    assert "states files of 4.00 GiB unpacked; the maximum of a bundle is 1.00 GiB" in error.cause


@pytest.mark.parametrize("name", ["study.json", SAMPLES])
def test_stated_size_that_differs_is_broken(name: str, tmp_path: Path) -> None:
    found = verify(stating(1 << 29, tmp_path, name)).broken
    assert found is not None
    assert found.cause.startswith(name) and "has another size than the archive" in found.cause


def test_stated_sizes_of_zero_are_broken(tmp_path: Path) -> None:
    content = bytearray(good())
    at = content.index(b"PK\x01\x02")
    while at >= 0:
        content[at + 20 : at + 28] = bytes(8)
        at = content.find(b"PK\x01\x02", at + 4)
    path = tmp_path / "stated.zip"
    path.write_bytes(content)

    def result() -> str:
        try:
            found = verify(path).broken
        except BrokenBundleError as broken:
            found = broken
        return found.cause if found else ""

    assert "is damaged at or after" in traced(result)


def traced(action: Callable[[], str]) -> str:
    """Return the result of an action that needs little memory."""
    tracemalloc.start()
    try:
        found = action()
        assert tracemalloc.get_traced_memory()[1] < 16 << 20
    finally:
        tracemalloc.stop()
    return found


def test_archive_without_manifest_is_rejected(tmp_path: Path) -> None:
    path = packed({"readme.txt": b"hello"}, tmp_path / "other.zip")
    assert "contains no manifest.json" in refused(path.read_bytes(), tmp_path).cause


def test_manifest_of_another_program_is_rejected(tmp_path: Path) -> None:
    line = b'{"chain":"' + b"0" * 64 + b'","entry":{"format":"other","schema":1}}\n'
    path = packed({"manifest.json": line}, tmp_path / "other.zip")
    assert "another program" in refused(path.read_bytes(), tmp_path).cause


@pytest.mark.parametrize("content", [b"{}", b"[]", b"\xff", b"", b"{" * 100_000, b"[" * 100_000])
def test_invalid_manifest_is_broken(content: bytes, tmp_path: Path) -> None:
    path = packed({"manifest.json": content}, tmp_path / "odd.zip")
    with pytest.raises(BrokenBundleError, match=r"manifest\.json") as caught:
        verify(path)
    assert caught.value.exit_status == 1


def test_missing_file_and_directory_are_rejected(tmp_path: Path) -> None:
    for path in (tmp_path / "none.zip", tmp_path, tmp_path / "none" / "a.zip"):
        with pytest.raises(InvalidInputError):
            verify(path)


def test_later_format_names_version_that_reads_it(tmp_path: Path) -> None:
    files = unpacked(good())
    files["manifest.json"] = files["manifest.json"].replace(b'"schema":2', b'"schema":3', 1)
    files["manifest.json"] = files["manifest.json"].replace(
        f'"assay":"{__version__}"'.encode(), b'"assay":"7.8.9"'
    )
    with pytest.raises(NotPossibleError, match=r"format 3.*format 2") as caught:
        verify(packed(files, tmp_path / "later.zip"))
    assert "7.8.9" in str(caught.value.remedy)
    assert caught.value.exit_status == 3


@pytest.mark.parametrize(
    "name",
    ["../../etc/passwd", "/etc/passwd", "strata/0/../../x", "strata/00/stratum.json", "C:\\x"],
)
def test_name_outside_bundle_is_broken(name: str, tmp_path: Path) -> None:
    """The name is never used as a path, and is invalid in a manifest."""
    files = unpacked(good())
    found = verify(packed(files | {name: b"x"}, tmp_path / "more.zip"))
    assert found.exit_status == 1
    assert found.broken is not None
    assert "not in the manifest" in found.broken.cause

    def renamed(manifest: dict[str, list[dict[str, str]]]) -> None:
        manifest["files"][0]["name"] = name

    (entry,) = lines_of(files["manifest.json"])
    line = b'{"chain":"' + b"0" * 64 + b'","entry":' + edited(entry, renamed) + b"}\n"
    moved = {n: c for n, c in files.items() if n != "study.json"} | {name: files["study.json"]}
    found = verify(packed(forged(moved | {"manifest.json": line}), tmp_path / "moved.zip"))
    assert found.broken is not None
    assert "not a file of bundles" in found.broken.cause
    assert sorted(path.name for path in tmp_path.iterdir()) == ["more.zip", "moved.zip"]


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_duplicate_file_is_broken(tmp_path: Path) -> None:
    """Readers differ in the copy that they use."""
    path = packed(unpacked(good()), tmp_path / "twice.zip")
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr(SAMPLES, b"")
    found = verify(path)
    assert (found.exit_status, found.broken and found.broken.cause) == (
        1,
        f"{SAMPLES}: occurs twice.",
    )


def test_missing_file_is_broken(tmp_path: Path) -> None:
    files = unpacked(good())
    del files[SAMPLES]
    found = verify(packed(files, tmp_path / "less.zip"))
    assert (found.exit_status, found.broken and found.broken.description) == (1, "is missing")


def test_sample_with_invalid_number_is_broken(tmp_path: Path) -> None:
    files = unpacked(good())
    whole = json.loads(lines_of(files[SAMPLES])[4])["wall_s"]
    files[SAMPLES] = files[SAMPLES].replace(repr(whole).encode(), b"NaN")
    found = verify(packed(forged(files), tmp_path / "nan.zip"))
    assert found.broken is not None
    assert (found.broken.file, found.broken.entry) == (SAMPLES, 5)
    assert (
        "cannot be read" in found.broken.description or "not an entry" in found.broken.description
    )


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (b'"outcome":"ok"', b'"outcome":"failed","outcome":"ok"'),
        (b'"position":0', b'"position": 0'),
    ],
)
def test_document_must_be_in_canonical_form(before: bytes, after: bytes, tmp_path: Path) -> None:
    files = unpacked(good())
    files[SAMPLES] = files[SAMPLES].replace(before, after)
    found = verify(packed(forged(files), tmp_path / "double.zip"))
    assert found.broken is not None
    assert "canonical form" in found.broken.description


def test_reading_of_endless_entries_is_bounded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The file has one line or many."""
    monkeypatch.setattr(read, "MAX_ENTRY_BYTES", 1 << 20)
    files = unpacked(good())
    for name, content in {
        "study.json": b" " * (64 << 20),
        SAMPLES: b"0" * (64 << 20),
        "strata/0/plans.jsonl": files["strata/0/plans.jsonl"] + b"\n" * (64 << 20),
        "manifest.json": b" " * (64 << 20),
    }.items():
        path = packed(files | {name: content}, tmp_path / "bomb.zip")
        assert path.stat().st_size < 1 << 20
        tracemalloc.start()
        try:
            assert not verify(path).holds
        except BrokenBundleError as broken:
            assert broken.file == name
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert peak < 16 << 20


def test_total_size_is_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files = unpacked(good())
    path = packed(files, tmp_path / "whole.zip")
    size = len(b"".join(files.values()))
    monkeypatch.setattr(read, "MAX_BYTES", size)
    assert verify(path).holds
    monkeypatch.setattr(read, "MAX_BYTES", size - 1)
    assert "the maximum of a bundle" in refused_file(path).cause


def test_no_more_is_read_than_the_archive_states(tmp_path: Path) -> None:
    found = verify(stating(10, tmp_path)).broken
    assert found is not None and found.cause.startswith("study.json")


def test_archive_with_too_many_files_is_rejected(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(read, "MAX_FILES", 20)
    files = unpacked(good()) | {f"more/{number}": b"" for number in range(30)}
    assert (
        "more than 20 files"
        in refused(packed(files, tmp_path / "m.zip").read_bytes(), tmp_path).cause
    )


def test_other_compression_method_is_broken(tmp_path: Path) -> None:
    """Support for another compression method may be missing."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_BZIP2) as archive:
        for name, content in unpacked(good()).items():
            archive.writestr(name, content)
    path = tmp_path / "packed.zip"
    path.write_bytes(out.getvalue())
    assert verify(path).holds
    # Replace the compression method in each header by an unknown one.
    path.write_bytes(out.getvalue().replace(b"\x0c\x00", b"\x63\x00"))
    with pytest.raises((BrokenBundleError, InvalidInputError)):
        verify(path)


def test_damaged_member_is_named(tmp_path: Path) -> None:
    content = bytearray(good())
    with zipfile.ZipFile(io.BytesIO(good())) as archive:
        about = archive.getinfo(SAMPLES)
    begin = about.header_offset + 30 + len(about.filename)
    for offset in range(about.compress_size // 2, about.compress_size // 2 + 40):
        content[begin + offset] ^= 0xFF
    path = tmp_path / "damaged.zip"
    path.write_bytes(content)
    found = verify(path)
    assert found.exit_status == 1
    assert found.broken is not None
    assert found.broken.file == SAMPLES
    assert found.broken.entry is not None


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("bundles")


@given(
    damage=st.lists(
        st.tuples(st.floats(0, 1), st.binary(min_size=1, max_size=40)), min_size=1, max_size=4
    )
)
@example(damage=[(0.5, b"\0")])
def test_damage_is_detected_or_without_effect(
    folder: Path, damage: list[tuple[float, bytes]]
) -> None:
    content = bytearray(good())
    for where, what in damage:
        begin = int(where * (len(content) - len(what)))
        content[begin : begin + len(what)] = what
    path = folder / "damaged.zip"
    path.write_bytes(content)
    try:
        found = verify(path)
    except AssayError as error:
        assert error.exit_status in (1, 2, 3)
        return
    if found.holds:
        assert unpacked(bytes(content)) == unpacked(good())
    else:
        assert found.broken is not None
        assert found.broken.cause


@given(
    name=st.sampled_from(sorted(unpacked(good()))),
    where=st.floats(0, 1),
    flip=st.integers(1, 255),
)
def test_change_of_any_byte_is_detected(folder: Path, name: str, where: float, flip: int) -> None:
    """Change a byte of a file in a valid archive."""
    files = unpacked(good())
    content = bytearray(files[name])
    at = int(where * (len(content) - 1))
    content[at] ^= flip
    path = packed(files | {name: bytes(content)}, folder / "flipped.zip")
    try:
        found = verify(path)
    except AssayError as error:
        assert name == "manifest.json"
        assert error.exit_status in (1, 2, 3)
        return
    assert not found.holds
    assert found.broken is not None
    assert found.broken.file == name


def test_too_large_study_is_rejected(monkeypatch: pytest.MonkeyPatch) -> None:
    import assay.bundle.write as write

    monkeypatch.setattr(write, "MAX_BYTES", 10_000)
    with pytest.raises(NotPossibleError, match="exceeds the size") as caught:
        bundle_of(source_of(spec_of(Kind.MEASURE)))
    assert "--no-outputs" in str(caught.value.remedy)
    assert layout.MAX_ENTRY_BYTES < layout.MAX_BYTES


def test_bundle_of_schema_1_names_version_that_verifies_it() -> None:
    path = Path(__file__).parent / "assets" / "compare_schema_1.assay"
    with pytest.raises(NotPossibleError, match=r"format 1.*format 2") as caught:
        verify(path)
    assert "Use assay 0.1.0" in str(caught.value.remedy)
    assert caught.value.exit_status == 3
