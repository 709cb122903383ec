"""Figure data, compared with the samples."""

import itertools
import math
import statistics
from dataclasses import replace

import msgspec
import pytest
import report_studies as studies

from assay.records import DEFAULT, Goal, Metric, Outcome, Stage
from assay.reporting.arms import Phase, Role, arm_rows, winner_name
from assay.reporting.figures import figures
from assay.reporting.pictures.rows import box_limits, omits_outliers, visible
from assay.reporting.trials import State, trials


def data(report):
    shown = trials(report)
    rows = arm_rows(report, shown)
    return shown, rows, figures(report, shown, rows)


@pytest.fixture(scope="module")
def tune():
    return studies.tune()


@pytest.fixture(scope="module")
def tuned(tune):
    return data(tune)


def test_trials_are_launches_in_order_of_start(tune):
    shuffled = replace(tune, samples=tuple(reversed(tune.samples)))
    shown = trials(shuffled)
    assert [t.number for t in shown] == list(range(1, len(tune.samples) + 1))
    assert shown == trials(tune)
    assert shown[0].at_s == 0.0


def test_survey_launches_are_hidden(tune):
    first = tune.samples[0]
    survey = msgspec.structs.replace(
        first, launch=msgspec.structs.replace(first.launch, stage=Stage.SURVEY), started_at=0.0
    )
    assert trials(replace(tune, samples=(survey, *tune.samples))) == trials(tune)


def test_trial_has_state_of_value(tune):
    first = tune.samples[0]
    capped = msgspec.structs.replace(first.launch, timeout_s=9.0)
    late = msgspec.structs.replace(first, outcome=Outcome.TIMED_OUT, launch=capped, metrics={})
    broken = msgspec.structs.replace(first, outcome=Outcome.LIMIT, limit="memory", metrics={})
    odd = msgspec.structs.replace(first, metrics={"wall_s": math.nan})
    shown = [trials(replace(tune, samples=(s,)))[0] for s in (late, broken, odd)]
    assert [(t.state, t.value) for t in shown] == [
        (State.CENSORED, 9.0),
        (State.FAILED, None),
        (State.ABSENT, None),
    ]
    rate = Metric(name="rate", goal=Goal.HIGHER, pattern="rate (.*)")
    workload = msgspec.structs.replace(tune.spec.workload, metrics=(rate,))
    spec = msgspec.structs.replace(tune.spec, workload=workload)
    other = replace(tune, spec=spec, conclusion=None)
    assert trials(replace(other, samples=(first,)))[0].state is State.ABSENT
    assert trials(replace(other, samples=(late,)))[0].value is None


def test_search_and_confirmation_have_separate_rows(tune, tuned):
    _, rows, _ = tuned
    keys = [(row.phase, row.name) for row in rows]
    assert len(set(keys)) == len(keys)
    for row in rows:
        stages = {t.stage for t in row.trials}
        assert (stages == {Stage.CONFIRM}) == (row.phase is Phase.CONFIRMATION)
    assert sum(len(row.trials) for row in rows) == len(tune.samples)


def test_rows_are_in_order_of_answer(tuned):
    _, rows, _ = tuned
    assert [(r.phase, r.role) for r in rows[:3]] == [
        (Phase.CONFIRMATION, Role.BASELINE),
        (Phase.CONFIRMATION, Role.WINNER),
        (Phase.SEARCH, Role.BASELINE),
    ]
    searched = [r.summary.median for r in rows[3:] if r.summary and not r.having(State.CENSORED)]
    assert searched == sorted(searched)
    assert rows[-1].summary is None


def test_box_plots_have_raw_points_and_summary_of_conclusion(tune, tuned):
    _, rows, found = tuned
    confirmed = found.boxes.boxes[1]
    arm = tune.conclusion.arms[1]
    assert confirmed.summary == arm.summary["wall_s"]
    values = [
        s.metrics["wall_s"]
        for s in tune.samples
        if s.launch.stage is Stage.CONFIRM and s.launch.arm == arm.name
    ]
    assert [d.value for d in confirmed.dots] == values
    assert len(found.boxes.boxes) == len(rows)


def test_gain_has_interval_only_with_claim(tune, tuned):
    _, _, found = tuned
    claim = tune.conclusion.claims[0]
    claimed = [g for g in found.gain.gains if g.verdict]
    assert [(g.ratio, g.low, g.high, g.blocks) for g in claimed] == [
        (claim.ratio, *claim.ci, claim.blocks)
    ]
    assert all(g.low is None and g.high is None for g in found.gain.gains if not g.verdict)
    assert {g.phase for g in claimed} == {Phase.CONFIRMATION}


def test_gain_of_search_is_geometric_mean_over_shared_blocks(tune, tuned):
    _, rows, _ = tuned
    row = next(r for r in rows[3:] if r.summary and r.summary.n > 2)
    default = {
        s.launch.block: s.metrics["wall_s"]
        for s in tune.samples
        if s.launch.configuration == DEFAULT and s.launch.stage is Stage.SEARCH
    }
    logs = [
        math.log(t.value / default[t.block]) for t in row.trials if t.block in default and t.value
    ]
    assert row.ratio == pytest.approx(math.exp(statistics.fmean(logs)))


def test_convergence_follows_best_median(tuned):
    shown, _, found = tuned
    seen = {}
    expected = {}
    for t in shown:
        if t.state is State.VALUE:
            seen.setdefault(t.arm, []).append(t.value)
            expected[t.number] = min(statistics.median(v) for v in seen.values())
    for step in found.convergence.best:
        assert step.value == pytest.approx(expected[step.number])
    last = found.convergence.best[-1]
    assert last.value == pytest.approx(expected[max(expected)])


def test_convergence_marks_stages_and_drift(tune, tuned):
    _, _, found = tuned
    spans = found.convergence.spans
    assert [s.stage for s in spans] == ["gauge", "search", "reduce", "confirm"]
    assert spans[0].first == 1 and spans[-1].last == len(tune.samples)
    assert all(a.last + 1 == b.first for a, b in itertools.pairwise(spans))
    default = [s.metrics["wall_s"] for s in tune.samples if s.launch.arm == "default" and s.metrics]
    assert [m.value for m in found.convergence.drift] == default


def test_slow_candidates_do_not_stretch_axis(tuned):
    _, _, found = tuned
    low, high = found.convergence.frame
    values = [m.value for m in found.convergence.marks]
    needed = [m.value for m in found.convergence.marks if m.role is not Role.OTHER]
    assert low <= min(needed) and max(v for v in needed) <= high < max(values)


def test_noise_is_deviation_of_default_from_median(tuned):
    _, rows, found = tuned
    percents = list(found.noise.percents)
    assert statistics.median(percents) == pytest.approx(0.0, abs=1e-9)
    assert found.noise.floor is None
    values = [v for r in rows if r.role is Role.BASELINE for v in r.values]
    expected = statistics.stdev(values) / statistics.fmean(values) * 100
    assert found.noise.spread_percent == pytest.approx(expected)


def outlying(report, factor):
    """Return a study in which the fifth launch of the default took longer by a factor."""
    fifth = [s for s in report.samples if s.launch.arm == "default"][4]
    longer = studies._with(fifth, metrics={"wall_s": fifth.metrics["wall_s"] * factor})
    changed = tuple(longer if s is fifth else s for s in report.samples)
    return replace(report, samples=changed)


def test_outlier_does_not_stretch_noise_axis(tune, tuned):
    plain = tuned[2].noise
    assert plain.beyond == ()
    for factor, far in ((6.0, 500), (0.05, -95)):
        _, _, found = data(outlying(tune, factor))
        low, high = found.noise.frame
        assert -15 < low < min(plain.percents)
        assert max(plain.percents) < high < 30
        assert list(found.noise.beyond) == [pytest.approx(far, abs=30)]


def test_noise_axis_is_not_below_minus_100_percent():
    report = studies.measure(launches=30)
    wild = tuple(
        studies._with(s, metrics={"images_per_s": 1.0 + 400 * (i % 5)})
        for i, s in enumerate(report.samples)
    )
    _, _, found = data(replace(report, samples=wild, conclusion=None))
    assert found.noise.frame[0] == -100.0


def test_convergence_axis_excludes_outliers(tune):
    _, _, found = data(outlying(tune, 40.0))
    low, high = found.convergence.frame
    far = [m for m in found.convergence.marks if not low <= m.value <= high]
    assert any(m.role is Role.BASELINE for m in far)
    assert high < 3 * min(m.value for m in found.convergence.marks) + 5


def test_axis_of_boxes_follows_fences(tune):
    _, _, found = data(tune)
    shown, _ = visible(found.boxes.boxes)
    every = [d.value for b in shown for d in b.dots]
    assert box_limits(shown) == (min(every), max(every)) and not omits_outliers(found.boxes)
    _, _, found = data(outlying(tune, 40.0))
    shown, _ = visible(found.boxes.boxes)
    assert box_limits(shown)[1] < 10 and omits_outliers(found.boxes)


def test_noise_floor_is_claim_on_identical_arms():
    report = studies.null()
    _, _, found = data(report)
    assert found.noise.floor == report.conclusion.noise_floor
    assert found.gain.noise == report.conclusion.noise_floor.ci


def test_higher_goal_reverses_order():
    report = studies.measure()
    shown = trials(report)
    assert report.metric.goal is Goal.HIGHER
    half = len(shown) // 2
    named = tuple(
        msgspec.structs.replace(
            s,
            launch=msgspec.structs.replace(s.launch, arm="fast" if i >= half else "slow"),
            metrics={"images_per_s": 900.0 if i >= half else 800.0},
        )
        for i, s in enumerate(report.samples)
    )
    spec = msgspec.structs.replace(report.spec, kind=studies.Kind.TUNE)
    report = replace(report, samples=named, spec=spec, conclusion=None)
    _, rows, found = data(report)
    assert [r.name for r in rows] == ["fast", "slow"]
    assert found.convergence.best[-1].value == 900.0


def test_kept_default_has_no_winner():
    report = studies.keep_default()
    assert winner_name(report.conclusion) is None
    _, rows, _ = data(report)
    assert Role.WINNER not in {r.role for r in rows}


def test_best_arm_wins_comparison():
    report = studies.compare()
    assert winner_name(report.conclusion) == "zstd -1 -T2 words.tar"
    _, rows, found = data(report)
    assert rows[0].role is Role.BASELINE and rows[1].role is Role.WINNER
    assert found.convergence.best == () and found.convergence.spans == ()


def test_study_without_samples_has_no_pictures():
    for report in (studies.all_failed(), replace(studies.tune(), samples=())):
        _, _, found = data(report)
        assert (found.boxes, found.gain, found.convergence, found.noise) == (None,) * 4


def test_single_launch_has_box_without_gain():
    _, rows, found = data(studies.single())
    assert [r.summary.n for r in rows] == [1]
    assert found.boxes is not None
    assert (found.gain, found.convergence, found.noise) == (None, None, None)


def test_time_outs_are_drawn_at_limit_and_not_summarised():
    _, rows, found = data(studies.troubled())
    winner = next(b for b in found.boxes.boxes if b.role is Role.WINNER)
    late = [d for d in winner.dots if d.censored]
    assert late and {d.value for d in late} == {5.0}
    assert winner.note.startswith(f"{len(late)} timed out")
    row = next(r for r in rows if r.role is Role.WINNER)
    assert max(row.values) < 5.0
