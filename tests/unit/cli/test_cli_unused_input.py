"""Warning about standard input that no launch reads."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from assay.cli.process import unused_input
from assay.cli.process.unused_input import holds_data, warn_of_unused_input
from assay.records import Workload


@pytest.fixture
def pipe() -> Iterator[tuple[int, int]]:
    ends = os.pipe()
    yield ends
    for end in ends:
        os.close(end)


def test_a_pipe_with_data_holds_data(pipe: tuple[int, int]) -> None:
    reading, writing = pipe
    assert not holds_data(reading)
    os.write(writing, b"x")
    assert holds_data(reading)


def test_a_file_holds_what_lies_before_its_end(tmp_path: Path) -> None:
    path = tmp_path / "numbers"
    for content, held in ((b"", False), (b"1\n2\n", True)):
        path.write_bytes(content)
        with path.open("rb", buffering=0) as file:
            assert holds_data(file.fileno()) == held
            file.read()
            assert not holds_data(file.fileno())


def test_other_inputs_hold_none() -> None:
    with Path(os.devnull).open() as null:
        assert not holds_data(null.fileno())
    reading, writing = os.pipe()
    os.close(writing)
    assert not holds_data(reading)
    os.close(reading)
    assert not holds_data(reading), "it is closed"


@pytest.mark.parametrize(
    ("given", "quiet", "told"), [(None, False, 1), ("f", False, 0), (None, True, 0)]
)
def test_one_line_names_the_option(
    pipe: tuple[int, int],
    given: str | None,
    quiet: bool,
    told: int,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(unused_input, "IN", pipe[0])
    os.write(pipe[1], b"x")
    warn_of_unused_input(Workload(argv=("x",), stdin=given), quiet=quiet)
    assert capsys.readouterr().err.count("--input FILE") == told
