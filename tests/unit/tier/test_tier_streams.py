"""Access streams that the pager of ``assay tier`` detects in page faults."""

from __future__ import annotations

import itertools
import json
import subprocess
from collections.abc import Callable, Iterable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from native_build import compiled

MOST = 8

Run = dict[str, Any] | None
Found = Callable[..., list[Run]]


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> Found:
    """Return the stream of each fault."""
    program = compiled(
        tmp_path_factory.mktemp("streams") / "streams",
        ("checks/streams.cpp", "policy/stream_detector.cpp"),
        "-fsanitize=undefined",
        "-fno-sanitize-recover=all",
    )

    def found(touches: Iterable[int | str], count: int = 64, memory: int = 8) -> list[Run]:
        done = subprocess.run(
            [program, str(count), str(memory), str(MOST)],
            input=" ".join(map(str, touches)),
            capture_output=True,
            text=True,
            check=True,
            timeout=60,
        )
        return [json.loads(line) for line in done.stdout.splitlines()]

    return found


def shown(run: Run, *keys: str) -> tuple[object, ...]:
    assert run is not None
    return tuple(run[key] for key in keys)


@pytest.mark.rotating
@pytest.mark.parametrize("stride", [1, -1])
def test_adjacent_faults_form_stream_with_doubling_window(found: Found, stride: int) -> None:
    first, *runs = found(range(30, 30 + 6 * stride, stride))
    assert first is None
    assert [shown(run, "stride", "window") for run in runs] == [
        (stride, window) for window in (2, 4, 8, 8, 8)
    ]
    assert shown(runs[-1], "first") == (30,)


@pytest.mark.parametrize("stride", [3, -5])
def test_stride_is_detected_at_second_occurrence(found: Found, stride: int) -> None:
    runs = found([30, 30 + stride, 30 + 2 * stride, 30 + 3 * stride])
    assert runs[:2] == [None, None]
    assert [shown(run, "stride", "window") for run in runs[2:]] == [(stride, 2), (stride, 4)]


def test_random_faults_form_no_stream(found: Found) -> None:
    assert found([5, 40, 11, 60, 2, 33, 20, 50, 9]) == [None] * 9


def test_stream_skips_mapped_chunks(found: Found) -> None:
    *_, last = found([20, 10, 11, 12, 21, 13, 14, 15, 16, 17, 18, 19, 22], memory=16)
    assert shown(last, "last", "stride", "window", "first") == (22, 1, 8, 10)


@pytest.mark.parametrize("sign", [1, -1])
def test_mapped_chunks_between_faults_belong_to_stream(found: Found, sign: int) -> None:
    """Also before a stream is detected: three faults in one direction."""
    mapped = [f"{2 + i}:{30 + sign * i}" for i in (1, 3, 4, 6)]
    faults = [f"1:{30 + sign * i}" for i in (0, 2, 5, 7)]
    *_, one, two, three, four = found([*mapped, *faults], memory=16)
    assert [one, two] == [None, None]
    assert shown(three, "stride", "window", "first") == (sign, 2, 30)
    assert shown(four, "stride", "window", "first") == (sign, 4, 30)


@pytest.mark.parametrize(
    "faults",
    [
        pytest.param((0, 2, 6), id="not all between them is mapped"),
        pytest.param((2, 5, 0), id="the other way"),
    ],
)
def test_interrupted_faults_form_no_stream(found: Found, faults: tuple[int, ...]) -> None:
    mapped = [f"{2 + i}:{30 + i}" for i in (1, 3, 4)]
    runs = found([*mapped, *(f"1:{30 + i}" for i in faults)], memory=16)
    assert runs[-3:] == [None, None, None]


def test_threads_have_separate_streams(found: Found) -> None:
    runs = found(f"{thread}:{20 * thread + i}" for i in range(4) for thread in (1, 2))
    assert runs[:2] == [None, None]
    assert [shown(run, "first", "stride") for run in runs[2:]] == [(20, 1), (40, 1)] * 3


@pytest.mark.parametrize(("up", "round_to"), [(True, 0), (False, 63)])
def test_stream_wraps_around(found: Found, up: bool, round_to: int) -> None:
    """Twice: the second pass starts with the window of the first, as does each later one."""
    one = list(range(64) if up else range(63, -1, -1))
    runs = found([*one[5:], *one, *one])
    assert shown(runs[58], "first", "window") == (one[5], MOST)
    for turn in (59, 59 + 64):
        assert shown(runs[turn], "last", "first", "window") == (round_to, round_to, MOST)


def test_matrix_columns_form_repeating_stream(found: Found) -> None:
    """The second column reveals the distance, so that the third is known at its first fault."""
    rows, of_row = 16, 8
    columns = [column + of_row * row for column in range(4) for row in range(rows)]
    runs = found(columns, count=rows * of_row)
    assert runs[rows : rows + 2] == [None, None]
    assert shown(runs[rows + 2], "stride", "repeats", "first") == (of_row, True, 1)
    for column in (2, 3):
        first = runs[rows * column]
        assert shown(first, "stride", "first", "last") == (of_row, column, column)


@pytest.mark.parametrize("fields", [2, 4, 8])
@pytest.mark.parametrize("sign", [1, -1])
def test_alternating_fields_form_separate_streams(found: Found, fields: int, sign: int) -> None:
    """Each stream predicts its own field; no stream covers all fields."""
    length, begin = 16, 0 if sign > 0 else 15
    turns = [[field * length + begin + sign * i for field in range(fields)] for i in range(10)]
    runs = found(itertools.chain(*turns), count=fields * length)
    assert len(runs) == 10 * fields
    for i, touches in enumerate(turns[5:], 5):  # 2, 4, 8 chunks from the third turn on
        for j, touch in enumerate(touches):
            run = runs[i * fields + j]
            assert shown(run, "stride", "last", "window") == (sign, touch, MOST), (i, touch)


def test_fields_with_wide_bands_form_separate_streams(found: Found) -> None:
    turns = [[16 * field + 2 * i + j for field in range(4) for j in (0, 1)] for i in range(7)]
    runs = found(itertools.chain(*turns), memory=4)
    for i, touches in enumerate(turns[4:], 4):
        for j, touch in enumerate(touches):
            assert shown(runs[8 * i + j], "stride", "last", "window") == (1, touch, MOST), (
                i,
                touch,
            )


def test_reversed_sweep_forms_stream_at_once(found: Found) -> None:
    up, down = list(range(31)), list(range(26, 0, -1))
    runs = found([*up, *down], memory=4)[len(up) :]
    assert runs[0] is None
    assert [shown(run, "stride", "last") for run in runs[1:]] == [(-1, at) for at in down[1:]]


def test_repeated_chunk_neither_starts_nor_ends_stream(found: Found) -> None:
    *_, back, on = found([*range(10, 21), 14, 21], memory=4)
    assert back is None
    assert shown(on, "stride", "last", "window", "first") == (1, 21, MOST, 10)


def test_short_repetitions_form_repeating_stream(found: Found) -> None:
    touches = [list(range(first, 24)) for first in (0, 4, 8, 12)]
    runs = found(itertools.chain(*touches), count=24, memory=4)
    assert shown(runs[24 + 20 + 16], "first", "last", "repeats") == (12, 12, True)


def test_repeated_chunk_keeps_alternating_streams(found: Found) -> None:
    """The last row of the previous band is read again for the first row of the next one."""
    turns = [[16 * field + i - back for back in (0, 1) for field in range(4)] for i in range(1, 14)]
    runs = found(itertools.chain(*turns), count=64, memory=4)
    for i, touches in enumerate(turns[5:], 5):
        for j, touch in enumerate(touches[:4]):
            assert shown(runs[8 * i + j], "stride", "last") == (1, touch), (i, touch)


def rounds(firsts: Iterable[int]) -> list[list[int]]:
    """Return the accesses of an elimination: the remainder of 64, less each time."""
    return [list(range(first, 64)) for first in firsts]


@pytest.mark.parametrize(
    "firsts", [(0, 4, 8, 12, 16), (0, 4, 7, 11, 15, 19, 22), (0, 3, 7, 10, 14)]
)
def test_shifted_repetitions_form_repeating_stream(found: Found, firsts: tuple[int, ...]) -> None:
    """The third and later ones are known at their first fault, also for tiles of partial chunks."""
    runs = iter(found(touch for one in rounds(firsts) for touch in one))
    for number, first in enumerate(firsts):
        one = [next(runs) for _ in range(first, 64)]
        if number > 1:
            assert shown(one[0], "first", "last", "repeats", "window") == (first, first, True, MOST)
        assert all(run is not None and run["first"] == first for run in one[2:])


def test_unrelated_fault_keeps_repetition(found: Found) -> None:
    """Chunks of the previous repetition, and skipped ones."""
    one, two, three, *others = rounds((0, 4, 8, 12, 16))
    touches = [*one, *two, *three]
    for round_ in others:
        late = round_.index(40)
        touches += [*round_[:late], 9, 10, *round_[late : late + 8], *round_[late + 11 :]]
    runs = {}
    for run in found(touches)[sum(map(len, (one, two, three))) :]:
        if run is not None:
            runs.setdefault(run["first"], []).append(run["last"])
    for first in (12, 16):
        assert runs[first][0] == first and runs[first][-1] == 63
        assert {41, 47, 52, 63} <= set(runs[first])
    assert set(runs) == {12, 16, 9}


def test_wasted_prefetches_disable_adjacent_detection(found: Found) -> None:
    vain = ["wasted"] * 64
    assert found([*vain, 10, 11]) == [None, None]
    *_, run = found([*vain, 10, 11, 12, 13, 14])
    assert shown(run, "stride", "window") == (1, 2)
    *_, run = found([*vain, *["used"] * 64, 10, 11])
    assert shown(run, "stride", "window") == (1, 2)


def test_wasted_prefetch_halves_window(found: Found) -> None:
    *_, run = found([10, 11, 12, 13, 14, "wasted", "wasted", 15])
    assert shown(run, "window") == (4,)


@given(
    count=st.integers(1, 40),
    memory=st.integers(1, 12),
    touches=st.lists(st.tuples(st.integers(1, 3), st.integers(0, 39)), max_size=200),
)
def test_stream_stays_within_chunk_count(
    found: Found, count: int, memory: int, touches: list[tuple[int, int]]
) -> None:
    """For any order: a stream has a stride and a window, and begins at an existing chunk."""
    runs = found([f"{thread}:{chunk % count}" for thread, chunk in touches], count, memory)
    assert len(runs) <= len(touches)
    for run in runs:
        if run is None:
            continue
        assert run["stride"] != 0
        assert 1 <= run["window"] <= MOST
        assert 0 <= run["last"] < count and 0 <= run["first"] < count
