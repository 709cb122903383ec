"""Stored parts of an output: enough to recognise it, and never all of a large one."""

from __future__ import annotations

import hashlib
import os
import tracemalloc
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.executors.evidence import output
from assay.executors.evidence.output import END_BYTES, MAX_HASHED_BYTES, kept_output
from assay.records import HashedPart


def digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


@given(size=st.integers(0, 4 * END_BYTES))
def test_both_ends_are_kept_and_a_digest_of_all(folder: Path, size: int) -> None:
    content = os.urandom(size)
    path = folder / "stdout"
    path.write_bytes(content)
    found = kept_output(path)
    assert found is not None
    assert (found.stream, found.size_bytes, found.sha256) == ("stdout", size, digest(content))
    assert found.digest_scope is HashedPart.WHOLE
    if size <= 2 * END_BYTES:
        assert (found.head, found.tail, found.complete) == (content, b"", True)
    else:
        assert (found.head, found.tail) == (content[:END_BYTES], content[-END_BYTES:])
        assert not found.complete


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("outputs")


@pytest.mark.parametrize(("more", "hashed"), [(0, HashedPart.WHOLE), (1, HashedPart.ENDS)])
def test_a_large_one_is_not_read_through(
    tmp_path: Path, more: int, hashed: HashedPart, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(output, "MAX_HASHED_BYTES", 100_000)
    content = os.urandom(100_000 + more)
    path = tmp_path / "stderr"
    path.write_bytes(content)
    found = kept_output(path)
    assert found is not None
    assert found.digest_scope is hashed
    ends = content[:END_BYTES] + content[-END_BYTES:]
    assert found.sha256 == digest(content if hashed is HashedPart.WHOLE else ends)


def test_a_huge_one_takes_no_memory(tmp_path: Path) -> None:
    path = tmp_path / "stdout"
    with path.open("wb") as file:
        file.truncate(10 << 30)  # a hole, which reads as zeros
    tracemalloc.start()
    found = kept_output(path)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert found is not None
    assert (found.size_bytes, found.digest_scope) == (10 << 30, HashedPart.ENDS)
    assert found.sha256 == digest(bytes(2 * END_BYTES))
    assert peak < 1 << 20
    assert MAX_HASHED_BYTES < 10 << 30


@pytest.mark.parametrize("left", ["nothing", "pipe", "link", "folder"])
def test_replaced_output_is_not_kept(tmp_path: Path, left: str) -> None:
    """A pipe would block, and a link may lead to what is not the program's."""
    path, secret = tmp_path / "stdout", tmp_path / "secret"
    secret.write_text("not yours")
    match left:
        case "pipe":
            os.mkfifo(path)
        case "link":
            path.symlink_to(secret)
        case "folder":
            path.mkdir()
    assert kept_output(path) is None
