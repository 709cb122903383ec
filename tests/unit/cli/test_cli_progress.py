"""Progress of a study: text and cost."""

from __future__ import annotations

import random
import re
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from assay.cli.process.termination import Terminated
from assay.cli.show import overhead_limiter as limiter_module
from assay.cli.show import progress as progress_module
from assay.cli.show.progress import MAX_OVERHEAD_SHARE, Progress
from assay.cli.show.progress_state import ProgressState, fit_parts
from assay.errors import NotPossibleError
from assay.executors.progress.live import LatestReport
from assay.records import (
    Arm,
    Budget,
    Configuration,
    Kind,
    Launch,
    Outcome,
    Sample,
    Stage,
    StudySpec,
)
from assay.search.races.compare import CompareRace
from assay.search.races.scoreboard import Leader, Scoreboard, with_interval
from assay.testing.search_contracts import SimulatedProgram

sys.path.insert(0, str(Path(__file__).parents[1] / "search"))
from simulated_studies import Study, compare, factors, space_of, tune, workload

GAIN = SimulatedProgram(takes_s=factors(malloc={"tcmalloc": 0.8}))
SPACE = space_of(malloc=("jemalloc", "tcmalloc"), nice=(0, 5))


class TestProgress:
    def _progress(self, study: Study, **options: Any) -> Progress:
        return Progress(study.spec, **{"live": False, "quiet": False, **options})

    def test_plain_lines_name_the_stages(self, capsys: pytest.CaptureFixture[str]) -> None:
        both = SimulatedProgram(takes_s=factors(malloc={"tcmalloc": 0.8}, nice={5: 0.8}))
        study = tune(SPACE, both, Budget(launches=200))
        with self._progress(study) as progress:
            for sample in study.samples:
                progress.launching(sample.launch, Budget(launches=5, time_s=61.0))
        err = capsys.readouterr().err
        begin = ("surveying", "timing the default", "searching")
        for word in (*begin, "leaving settings out", "confirming"):
            assert f"assay: {word}, " in err
        assert "5 launches left" in err
        assert "\x1b" not in err

    def test_a_build_that_takes_long_is_told(
        self, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(progress_module, "PLAIN_LINE_INTERVAL_S", 0.0)
        told, plain = threading.Event(), Progress._plain
        monkeypatch.setattr(Progress, "_plain", lambda self: (plain(self), told.set()))
        study = tune(SPACE, GAIN, Budget(launches=100))
        with self._progress(study) as progress:
            progress.launching(study.samples[0].launch, Budget(time_s=61.0))
            told.clear()
            with progress.building(("cc", "-O2", "a b.c")):
                assert told.wait(10)
            progress.launching(study.samples[0].launch, Budget(time_s=61.0))
        lines = capsys.readouterr().err.splitlines()
        assert [line.split(",")[0] for line in lines] == [
            "assay: surveying",
            "assay: building",
            "assay: surveying",
        ]
        assert "cc -O2 'a b.c'" in lines[1]

    def test_a_quick_build_is_not_told(self, capsys: pytest.CaptureFixture[str]) -> None:
        study = tune(SPACE, GAIN, Budget(launches=100))
        with self._progress(study) as progress:
            progress.launching(study.samples[0].launch, Budget(time_s=61.0))
            with progress.building(("cc",)):
                assert progress._shown is not None
                assert progress._shown.stage == "building"
            assert progress._shown is not None
            assert progress._shown.stage == "surveying"
        assert "building" not in capsys.readouterr().err

    def test_quiet_says_nothing(self, capsys: pytest.CaptureFixture[str]) -> None:
        study = tune(SPACE, GAIN, Budget(launches=100))
        with self._progress(study, quiet=True, live=True) as progress:
            for sample in study.samples:
                progress.launching(sample.launch, Budget(launches=5))
        assert capsys.readouterr().err == ""

    def test_an_interruption_says_how_to_go_on(self, capsys: pytest.CaptureFixture[str]) -> None:
        study = tune(SPACE, GAIN, Budget(launches=100))
        with pytest.raises(KeyboardInterrupt), self._progress(study, launches=3) as progress:
            progress.started("abc1234")
            raise KeyboardInterrupt
        assert "3 launches" in (err := capsys.readouterr().err)
        assert "assay study resume abc1234" in err

    @pytest.mark.parametrize("error", [RuntimeError("a hole"), NotPossibleError("no"), OSError()])
    def test_other_errors_are_not_reported_as_interruption(
        self, error: BaseException, capsys: pytest.CaptureFixture[str]
    ) -> None:
        study = tune(SPACE, GAIN, Budget(launches=100))
        with pytest.raises(type(error)), self._progress(study) as progress:
            progress.started("abc1234")
            raise error
        assert "interrupted" not in capsys.readouterr().err
        with pytest.raises(Terminated), self._progress(study) as progress:
            progress.started("abc1234")
            raise Terminated(15)
        assert "interrupted" in capsys.readouterr().err


def test_the_time_left_goes_on_through_a_long_launch() -> None:
    shown = ProgressState(
        "searching", 3, "best so far a -1.0 %", Budget(time_s=130.0, launches=7), 50.0
    )
    assert shown.parts(51.0) == [
        "searching",
        "2 min 9 s left",
        "7 launches left",
        "best so far a -1.0 %",
        "3 launches made",
    ]
    assert shown.parts(61.0)[1] == "119 s left"
    assert shown.parts(999.0)[1] == "0 s left"


@pytest.mark.parametrize(
    ("width", "shown"),
    [
        (200, "searching · 9 s left · best so far -1.5 %: threads=1 · 3 launches made"),
        (60, "searching · 9 s left · best so far -1.5 %: threads=1"),
        (46, "searching · 9 s left · best so far -1.5 %: th…"),
        (42, "searching · 9 s left · 3 launches made"),
        (30, "searching · 9 s left"),
        (10, "searching"),
    ],
)
def test_no_figure_is_cut_on_a_narrow_terminal(width: int, shown: str) -> None:
    parts = ["searching", "9 s left", "best so far -1.5 %: threads=1", "3 launches made"]
    assert fit_parts(parts, width) == shown
    assert len(shown) <= max(width, len(parts[0]))


def test_no_change_has_no_sign(monkeypatch: pytest.MonkeyPatch) -> None:
    spec = next(launches(arms=2, blocks=1))[0]
    told = Progress(spec, live=False, quiet=True)._standing_text
    assert told(Leader("x", 0.99999, 0.99996, 1.0004, 9)) == "best so far 0.0 % (0.0 to 0.0): x"
    assert told(Leader("x", 0.5, None, 1.5, 9)) == "best so far -50.0 % (… to +50.0): x"


class Clock:
    """Stands in for the module ``time``."""

    def __init__(self) -> None:
        self.now_s = 0.0

    def monotonic(self) -> float:
        return self.now_s


def launches(arms: int, blocks: int) -> Iterator[tuple[StudySpec, CompareRace, Sample]]:
    """A comparison of many arms, the first of which is the slowest and the last the quickest."""
    named = tuple(
        Arm(name=f"arm {i}", configuration=Configuration({"nice": i})) for i in range(arms)
    )
    spec = StudySpec(kind=Kind.COMPARE, workload=workload(), budget=Budget(), arms=named)
    race, noise = CompareRace(spec), random.Random(0)
    for block in range(blocks):
        for at, arm in enumerate(named):
            launch = Launch(
                configuration=arm.configuration,
                arm=arm.name,
                stage=Stage.CONFIRM,
                block=block,
                position=at,
                block_arms=None if at else named,
            )
            wall_s = (2.0 + 0.01 * noise.random()) * (1.0 - 0.5 * at / arms)
            sample = Sample(
                launch=launch, outcome=Outcome.OK, wall_s=wall_s, metrics={"wall_s": wall_s}
            )
            race.tell(sample)
            yield spec, race, sample


@pytest.mark.rotating
def test_many_arms_cost_no_more_than_few(monkeypatch: pytest.MonkeyPatch) -> None:
    """The time that is spent here is not spent on launches."""
    clock = Clock()
    monkeypatch.setattr(progress_module, "time", clock)
    spent_s, progress = 0.0, None
    for spec, race, sample in launches(arms=1500, blocks=5):
        progress = progress or Progress(spec, live=False, quiet=False)
        clock.now_s += 0.005
        began_s = time.process_time()
        progress.launching(sample.launch, Budget(time_s=1.0))
        progress.sampled(sample, race, Budget(time_s=1.0))
        spent_s += time.process_time() - began_s
    assert spent_s < 0.02 * clock.now_s


def test_the_interval_takes_a_small_share_of_the_time(monkeypatch: pytest.MonkeyPatch) -> None:
    clock, taken_s = Clock(), []

    def dear(*given: Any) -> Leader:
        clock.now_s += 0.02
        taken_s.append(0.02)
        return with_interval(*given)

    monkeypatch.setattr(progress_module, "time", clock)
    monkeypatch.setattr(limiter_module, "time", clock)
    monkeypatch.setattr(progress_module, "with_interval", dear)
    monkeypatch.setattr(progress_module, "PLAIN_LINE_INTERVAL_S", 0.0)
    progress = None
    for spec, race, sample in launches(arms=2, blocks=5000):
        progress = progress or Progress(spec, live=False, quiet=False)
        progress.launching(sample.launch, Budget(time_s=1.0))
        clock.now_s += 0.01
        progress.sampled(sample, race, Budget(time_s=1.0))
    assert len(taken_s) > 2
    assert sum(taken_s[:-1]) <= 1.01 * MAX_OVERHEAD_SHARE * clock.now_s


def test_live_line_finds_the_leader_once_a_second(monkeypatch: pytest.MonkeyPatch) -> None:
    clock, found = Clock(), []

    class CountedScoreboard(Scoreboard):
        def leader(self, block: int) -> Leader | None:
            found.append(block)
            return super().leader(block)

    monkeypatch.setattr(progress_module, "time", clock)
    monkeypatch.setattr(progress_module, "Scoreboard", CountedScoreboard)
    told = list(launches(arms=2, blocks=1000))
    with Progress(told[0][0], live=True, quiet=False) as progress:
        for _, race, sample in told:
            progress.launching(sample.launch, Budget(time_s=1.0))
            clock.now_s += 0.005
            progress.sampled(sample, race, Budget(time_s=1.0))
        assert progress._shown is not None
        assert "best so far" in progress._shown.so_far
    assert clock.now_s - 2 <= len(found) <= clock.now_s + 1


def test_plain_lines_lose_no_sample(monkeypatch: pytest.MonkeyPatch) -> None:
    """Print lines between the counts of each second, in the middle of a block."""
    clock, counted = Clock(), []

    class CountedScoreboard(Scoreboard):
        def leader(self, block: int) -> Leader | None:
            counted.append((block, len(self.added)))
            return super().leader(block)

        added: list[Sample] = []

        def add(self, sample: Sample) -> None:
            self.added.append(sample)
            super().add(sample)

    monkeypatch.setattr(progress_module, "time", clock)
    monkeypatch.setattr(progress_module, "Scoreboard", CountedScoreboard)
    progress = None
    for made, (spec, race, sample) in enumerate(launches(arms=2, blocks=500)):
        progress = progress or Progress(spec, live=False, quiet=False)
        lines = len(counted)
        progress.launching(sample.launch, Budget(time_s=1.0))
        assert all(known == made for _, known in counted[lines:])
        clock.now_s += 0.15
        progress.sampled(sample, race, Budget(time_s=1.0))
    assert len(counted) > 5


def test_resumed_study_compares_its_newest_samples(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress_module, "MAX_EARLIER_SAMPLES", 10)
    added = []
    monkeypatch.setattr(Scoreboard, "add", lambda _, sample: added.append(sample))
    *earlier, (spec, race, newest) = launches(arms=2, blocks=50)
    progress = Progress(spec, live=False, quiet=False)
    progress.sampled(newest, race, Budget())
    progress.launching(newest.launch, Budget())
    assert added == [*(sample for _, _, sample in earlier[-9:]), newest]


def test_leader_has_best_mean(capsys: pytest.CaptureFixture[str]) -> None:
    progress = None
    for spec, race, sample in launches(arms=4, blocks=8):
        progress = progress or Progress(spec, live=False, quiet=False)
        progress.launching(sample.launch, Budget(launches=9))
        progress.sampled(sample, race, Budget(launches=9))
    board = Scoreboard(spec)
    for told in race.history.samples:
        board.add(told)
    found = board.leader(8)
    assert found is not None
    assert (found.arm, found.blocks) == ("arm 3", 8)
    assert found.ratio == pytest.approx(1.0 - 0.5 * 3 / 4, rel=0.01)
    sure = with_interval(spec, race.history, Stage.CONFIRM, found)
    assert sure.ratio == pytest.approx(found.ratio)
    assert sure.lo is not None and sure.hi is not None and sure.lo <= sure.ratio <= sure.hi


def test_a_baseline_without_a_value_leaves_a_block_out() -> None:
    slow = SimulatedProgram(takes_s=lambda c: 1.0 if c else 99.0)
    study = compare(slow, Budget(launches=20), {}, {"nice": 5}, timeout_s=10.0)
    board = Scoreboard(study.spec)
    for sample in study.samples:
        board.add(sample)
    assert board.leader(10_000) is None


def test_arm_names_are_safe_to_show(capsys: pytest.CaptureFixture[str]) -> None:
    study = compare(replace(GAIN, noise=0.01), Budget(launches=40), {}, {"env.A": "\x1b[2J"})
    race = CompareRace(study.spec)
    with Progress(study.spec, live=False, quiet=False) as progress:
        progress_module.PLAIN_LINE_INTERVAL_S, before = 0.0, progress_module.PLAIN_LINE_INTERVAL_S
        try:
            for sample in study.samples:
                race.tell(sample)
                progress.launching(sample.launch, Budget(launches=5))
                progress.sampled(sample, race, Budget(launches=5))
        finally:
            progress_module.PLAIN_LINE_INTERVAL_S = before
    err = capsys.readouterr().err
    assert re.search(r"best so far -?\+?[\d.]+ %.*: env\.A=\\x1b\[2J", err)
    assert "\x1b" not in err


def test_notice_is_printed_unless_quiet(capsys: pytest.CaptureFixture[str]) -> None:
    spec = tune(SPACE, GAIN, Budget(launches=9)).spec
    for quiet in (False, True):
        Progress(spec, live=False, quiet=quiet).noticed("Silent for\x1b 35 s.")
    assert capsys.readouterr().err == "assay: Silent for\\x1b 35 s.\n"


def test_live_line_shows_the_newest_value(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress_module, "MIN_WIDTH", 100)
    spec = tune(SPACE, GAIN, Budget(launches=9)).spec
    progress = Progress(spec, live=True, quiet=False)
    left = Budget(time_s=90.0)
    progress._shown = ProgressState("searching", 3, "", left, time.monotonic())
    progress.watching(lambda: LatestReport("sps", 312.4, "samples/s", 1200.0))
    assert "left · sps 312 samples/s at step 1,200 · 3 launches made" in progress._line().plain
    progress.watching(lambda: None)
    assert "sps" not in progress._line().plain
