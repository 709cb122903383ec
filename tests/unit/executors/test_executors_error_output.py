"""Lines of the error output that are kept with a sample."""

from __future__ import annotations

from pathlib import Path

from assay.executors.evidence.error_output import HEAD_BYTES, MAX_LINES, error_output_evidence


def written(folder: Path, name: str, content: bytes) -> Path:
    path = folder / name
    path.write_bytes(content)
    return path


def test_distinct_lines_are_kept_in_order(tmp_path: Path) -> None:
    out = written(tmp_path, "stdout", b"result\n")
    err = written(tmp_path, "stderr", b"\nb: Invalid\x1b[1m\na\nb: Invalid\x1b[1m\n")
    found = error_output_evidence([out, err])
    assert found is not None
    assert (found.kind, found.value) == ("stderr", 2.0)
    first, second = (found.note or "").splitlines()
    assert first.startswith("b: Invalid") and "\x1b" not in first and second == "a"


def test_quiet_program_has_no_evidence(tmp_path: Path) -> None:
    assert error_output_evidence([written(tmp_path, "stderr", b""), tmp_path / "stderr.7"]) is None


def test_more_than_is_kept_is_counted_only(tmp_path: Path) -> None:
    lines = "".join(f"line {number}\n" for number in range(MAX_LINES + 1))
    found = error_output_evidence([written(tmp_path, "stderr", lines.encode())])
    assert found is not None and found.note is None and found.value == MAX_LINES + 1
    found = error_output_evidence([written(tmp_path, "stderr.1", b"x" * (HEAD_BYTES + 1))])
    assert found is not None and found.note is None


def test_link_is_not_followed(tmp_path: Path) -> None:
    """The program may put one there, to a file that only assay may read."""
    secret = written(tmp_path, "secret", b"error: key\n")
    (tmp_path / "stderr").symlink_to(secret)
    assert error_output_evidence([tmp_path / "stderr"]) is None
