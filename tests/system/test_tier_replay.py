"""``assay tier run --trace`` and ``--replay``: recording and replaying accesses."""

from __future__ import annotations

import json
import struct
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest
from command_line import Answer, CommandLine

MIB = 1 << 20
CHUNK = 2 * MIB
HEAD_BYTES = 64

SWEEPS = """
import hashlib, mmap
size, step = 96 << 20, 1 << 20
data = memoryview(mmap.mmap(-1, size, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS))
for at in range(0, size, step):
    data[at : at + step] = at.to_bytes(8, "little") * (step // 8)
digest = hashlib.blake2b()
for _ in range(6):
    for at in range(0, size, step):
        digest.update(data[at : at + step])
print(digest.hexdigest())
"""
"""Sweep 96 MiB repeatedly."""

SCATTERED = """
import random, sys
size, page = 112 << 20, 4096
data = memoryview(bytearray(size))
for at in range(0, size, page):
    data[at : at + 8] = at.to_bytes(8, "little")
order = list(range(0, size, page))
random.Random(int(sys.argv[1])).shuffle(order)
print(sum(int.from_bytes(data[at : at + 8], "little") * (i % 7 + 1) for i, at in enumerate(order)))
"""
"""Read a word of each page in a pseudo-random order."""

THEN_IN_ORDER = """
print(sum(data[at + 1] * (i % 5) for _ in range(3) for i, at in enumerate(range(0, size, page))))
"""
"""Then read all of it in ascending order."""


@dataclass(frozen=True)
class Touched:
    """Access to a chunk in a trace; level 0 has the largest chunks."""

    region: int
    level: int
    number: int


def touches(folder: Path) -> list[Touched]:
    """Parse a trace by the layout of native/tier/policy/access_trace.cpp."""
    (path,) = folder.glob("*.touches")
    text = path.read_bytes()[HEAD_BYTES:]
    words = struct.unpack(f"<{len(text) // 8}Q", text)
    found = (word for word in words if word >> 62 == 1)
    return [Touched(w >> 40 & 0xFFFFF, w >> 60 & 3, w & (1 << 40) - 1) for w in found]


class Traced:
    """Run a program with 64 MiB of DRAM; return its answer and its counters."""

    def __init__(self, cli: CommandLine, disk: Path, folder: Path) -> None:
        self.cli, self.disk, self.folder = cli, disk, folder

    def run(self, words: tuple[str, ...], *program: str) -> Answer:
        tier = ("tier", "run", "--dram", "64M", "--path", self.disk, *words)
        return self.cli(*tier, "--", *program)

    def python(self, words: tuple[str, ...], *program: str) -> tuple[str, dict[str, int], str]:
        report = self.disk / "report"
        report.unlink(missing_ok=True)
        tier = ("tier", "run", "--dram", "64M", "--path", self.disk, *words)
        answer = self.cli(
            *tier, "--", sys.executable, "-c", *program, ASSAY_TIER_REPORT=str(report)
        )
        assert answer.status == 0, answer
        return answer.out, json.loads(report.read_text()), answer.err

    def record(self, *program: str) -> tuple[str, dict[str, int], str]:
        return self.python(("--trace", str(self.folder)), *program)

    def replay(self, *program: str) -> tuple[str, dict[str, int], str]:
        return self.python(("--replay", str(self.folder)), *program)


@pytest.fixture
def traced(assay_exec: Path, tmp_path: Path, disk: Path, tier_allowed: None) -> Traced:
    return Traced(CommandLine(assay_exec, tmp_path, more={"LC_ALL": "C"}), disk, tmp_path / "trace")


@pytest.mark.rotating
def test_trace_records_every_access(traced: Traced) -> None:
    traced.record(SWEEPS)
    expected = [Touched(0, 0, number) for number in range(96 * MIB // CHUNK)]
    assert touches(traced.folder) == expected * 7


@pytest.mark.rotating
def test_replayed_sweeps_fault_less(traced: Traced) -> None:
    plain, counted, _ = traced.python((), SWEEPS)
    assert traced.record(SWEEPS)[0] == plain
    again, foreseen, result = traced.replay(SWEEPS)
    assert (again, result) == (plain, "")
    assert foreseen["read_bytes"] < counted["read_bytes"]
    assert foreseen["demand_faults"] < foreseen["prefetch_hits"]


@pytest.mark.rotating
def test_replayed_scattered_chunks_are_prefetched(traced: Traced) -> None:
    plain, counted, _ = traced.python((), SCATTERED, "1")
    assert traced.record(SCATTERED, "1")[0] == plain
    again, foreseen, result = traced.replay(SCATTERED, "1")
    assert (again, result) == (plain, "")
    assert foreseen["demand_faults"] < counted["demand_faults"] / 2


@pytest.mark.rotating
def test_replay_reassembles_chunks_from_parts(traced: Traced) -> None:
    """Random first and sequential afterwards: parts merge and keep their content."""
    program = SCATTERED + THEN_IN_ORDER
    plain, _, _ = traced.record(program, "1")
    assert {touch.level for touch in touches(traced.folder)} >= {0, 2}
    assert traced.replay(program, "1")[0] == plain


@pytest.mark.rotating
def test_replay_of_diverging_program_computes_same_result(traced: Traced) -> None:
    plain, _, _ = traced.python((), SCATTERED, "2")
    traced.record(SCATTERED, "1")
    assert traced.replay(SCATTERED, "2")[0] == plain


@pytest.mark.rotating
def test_replay_of_longer_program_computes_same_result(traced: Traced) -> None:
    plain, _, _ = traced.python((), SWEEPS)
    traced.record(SWEEPS.replace("range(6)", "range(2)"))
    assert traced.replay(SWEEPS)[0] == plain


@pytest.mark.rotating
@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (lambda text: b"", "not an access trace"),
        (lambda text: b"x" + text[1:], "not an access trace"),
        (lambda text: text[:8] + b"\1" + text[9:], "recorded with other chunk sizes"),
        (lambda text: text[:32] + b"xz\0" + text[35:], "recorded by the program xz"),
    ],
    ids=["empty", "mark", "sizes", "program"],
)
def test_foreign_trace_is_reported(traced: Traced, spoil: object, message: str) -> None:
    plain, _, _ = traced.record(SWEEPS)
    (path,) = traced.folder.glob("*.touches")
    path.write_bytes(spoil(path.read_bytes()))  # type: ignore[operator]
    again, _, result = traced.replay(SWEEPS)
    assert again == plain
    assert f"no prefetch by the trace {path}: {message}" in result


@pytest.mark.rotating
def test_corrupt_trace_preserves_result(traced: Traced) -> None:
    plain, _, _ = traced.record(SWEEPS)
    (path,) = traced.folder.glob("*.touches")
    head = path.read_bytes()[:HEAD_BYTES]
    words = (b * 8 for b in (b"\x40", b"\x7f", b"\xff", b"\x80", b"\x6f", b"\x41"))
    path.write_bytes(head + b"".join(words) * 1000 + b"\x80" + bytes(7) + b"odd")
    assert traced.replay(SWEEPS)[0] == plain


@pytest.mark.rotating
def test_truncated_trace_is_followed_to_its_end(traced: Traced) -> None:
    plain, _, _ = traced.record(SWEEPS)
    (path,) = traced.folder.glob("*.touches")
    path.write_bytes(path.read_bytes()[: HEAD_BYTES + 8 * 100 + 3])
    again, foreseen, result = traced.replay(SWEEPS)
    assert (again, result) == (plain, "")
    assert foreseen["prefetch_hits"] > 0


@pytest.mark.rotating
def test_new_recording_replaces_old_trace(traced: Traced) -> None:
    traced.folder.mkdir()
    (traced.folder / "7.touches").write_bytes(b"old")
    (traced.folder / "notes").write_bytes(b"of others")
    traced.record(SWEEPS)
    assert sorted(p.name for p in traced.folder.iterdir()) == ["0.touches", "notes"]


@pytest.mark.rotating
def test_each_process_records_own_trace(traced: Traced) -> None:
    program = f"{sys.executable} -c '{SWEEPS}' && {sys.executable} -c '{SWEEPS}'"
    plain = traced.run((), "sh", "-c", program).out
    assert traced.run(("--trace", str(traced.folder)), "sh", "-c", program).out == plain
    assert sorted(p.name for p in traced.folder.iterdir()) == ["0.touches", "1.touches"]
    answer = traced.run(("--replay", str(traced.folder)), "sh", "-c", program)
    assert (answer.out, answer.err) == (plain, "")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--trace", "a", "--replay", "b"), "--trace and --replay exclude each other."),
        (("--replay", "nowhere"), "--replay nowhere contains no trace."),
        (("--trace", "/proc/none"), "--trace /proc/none cannot be written:"),
    ],
)
def test_invalid_trace_options_are_refused(
    traced: Traced, words: tuple[str, ...], message: str
) -> None:
    answer = traced.run(words, "true")
    assert answer.status == 125
    assert message in answer.err


def test_advisor_refuses_traces(traced: Traced) -> None:
    words = ("tier", "run", "--dram", "64M", "--how", "advisor", "--trace", "a", "--", "true")
    answer = traced.cli(*words)
    assert answer.status == 125
    assert (
        "Only the pager records memory accesses" in answer.err or "no swap is in use" in answer.err
    )
