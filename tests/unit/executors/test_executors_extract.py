"""Metrics and checks read from output."""

from __future__ import annotations

from pathlib import Path

import pytest

from assay.errors import InvalidInputError
from assay.executors.metrics import matching
from assay.executors.metrics.extract import metrics_of, parse_metric
from assay.executors.metrics.matching import checked_pattern, has_match
from assay.executors.sample import build_sample
from assay.records import Configuration, Launch, Metric, Outcome, RunFacts, Stage, Workload

FACTS = RunFacts(
    outcome="exited", exit_status=0, wall_s=1.5, unavailable={"peak_bytes": "no cgroup"}
)
LAUNCH = Launch(
    configuration=Configuration(), arm="default", stage=Stage.SEARCH, block=0, position=0
)


def read(tmp_path: Path, pattern: str, out: bytes, err: bytes = b"") -> float | str:
    files = (tmp_path / "out", tmp_path / "err")
    for file, content in zip(files, (out, err), strict=True):
        file.write_bytes(content)
    found = metrics_of((Metric(name="m", pattern=pattern),), FACTS, files)
    return found.values.get("m", found.absent.get("m", ""))


@pytest.mark.parametrize(
    ("pattern", "out", "value"),
    [
        ("fps=([0-9.]+)", b"fps=1\nfps=2.5\n", 2.5),
        (r"\d+", b"7 8 9", 9.0),
        (r"x=(\S+)", b"\xff\xfe x=-1e3 \xff", -1000.0),
        (r"^t (\d+)$", b"a\nt 4\nb", 4.0),
        ("é=(.)", "é=3".encode(), 3.0),
    ],
)
def test_the_last_match_counts(tmp_path: Path, pattern: str, out: bytes, value: float) -> None:
    assert read(tmp_path, pattern, out) == value


def test_error_output_is_read_where_output_has_none(tmp_path: Path) -> None:
    assert read(tmp_path, r"x=(\d)", b"", b"x=3") == 3.0
    assert read(tmp_path, r"x=(\d)", b"x=2", b"x=3") == 2.0


@pytest.mark.parametrize(
    ("pattern", "out"),
    [
        ("x=(.*)", b""),
        ("x=(.*)", b"x=nan"),
        ("x=(.*)", b"x=inf"),
        ("x=(.*)", b"x=1e999"),
        ("x=(.*)", b"x=many"),
        ("x(=1)?", b"x"),
    ],
)
def test_text_without_number_gives_reason(tmp_path: Path, pattern: str, out: bytes) -> None:
    found = read(tmp_path, pattern, out)
    assert isinstance(found, str)
    assert "in the output" in found


def test_missing_launcher_value_gives_reason() -> None:
    found = metrics_of((Metric(name="peak_bytes"), Metric(name="wall_s")), FACTS, ())
    assert found.values == {"wall_s": 1.5}
    assert found.absent == {"peak_bytes": "no cgroup"}


def test_checks(tmp_path: Path) -> None:
    file = tmp_path / "out"
    file.write_bytes(b"line\nsum: 42\n")
    assert has_match(r"^sum: 42$", (tmp_path / "absent", file))
    assert not has_match("sum: 43", (file,))


@pytest.mark.parametrize(
    ("facts", "outcome", "message"),
    [
        (FACTS, Outcome.OK, None),
        (RunFacts(outcome="exited", exit_status=3), Outcome.FAILED, "exit status 3"),
        (RunFacts(outcome="signaled", signal=11), Outcome.FAILED, "ended by SIGSEGV"),
        (RunFacts(outcome="signaled", signal=63), Outcome.FAILED, "ended by signal 63"),
        (RunFacts(outcome="timed_out", wall_s=2.0), Outcome.TIMED_OUT, None),
        (RunFacts(outcome="limit", limit="memory"), Outcome.LIMIT, None),
    ],
)
def test_outcomes(facts: RunFacts, outcome: Outcome, message: str | None) -> None:
    sample = build_sample(LAUNCH, Workload(argv=("x",)), facts, (), {})
    assert (sample.outcome, sample.message) == (outcome, message)
    assert bool(sample.metrics) is (outcome is Outcome.OK)


def test_a_failed_check_is_a_failed_launch(tmp_path: Path) -> None:
    (tmp_path / "out").write_text("wrong")
    workload = Workload(argv=("x",), check="right")
    sample = build_sample(LAUNCH, workload, FACTS, (tmp_path / "out",), {})
    assert sample.outcome is Outcome.FAILED
    assert sample.message == "the output has no match of the check 'right'"
    assert sample.metrics == {}


@pytest.mark.parametrize("pattern", ["(", "a{2", "[", "*"])
def test_bad_patterns(pattern: str) -> None:
    if pattern == "a{2":
        assert checked_pattern(pattern, "--check") == pattern
        return
    with pytest.raises(InvalidInputError, match="--check: invalid regular expression"):
        checked_pattern(pattern, "--check")


def test_named_metrics() -> None:
    assert parse_metric("user_s", {}).unit == "s"
    found = parse_metric("fps=(.*) fps", {"fps": "1/s"})
    assert (found.name, found.unit, found.pattern) == ("fps", "1/s", "(.*) fps")
    with pytest.raises(InvalidInputError, match="Unknown metric") as caught:
        parse_metric("wall", {})
    assert "wall_s" in str(caught.value.remedy)


def newest(pattern: str, output: Path) -> str:
    match = matching.last_match(pattern, [output])
    assert match is not None
    return match[1]


def test_an_output_of_many_windows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A match across the end of a window is found whole; no match is found twice or missed."""
    monkeypatch.setattr(matching, "WINDOW_BYTES", 64)
    monkeypatch.setattr(matching, "MAX_MATCH_BYTES", 16)
    output = tmp_path / "out"
    for gap in range(80):
        lines = [f"{'.' * gap}\nn={k}\n" for k in range(20)]
        output.write_text("".join(lines))
        assert newest("^n=([0-9]+)$", output) == "19"
        assert has_match("^n=7$", [output])
        assert not has_match("^n=77$", [output])
    output.write_text("n=1\n" + "." * 500)
    assert newest("n=([0-9]+)", output) == "1"
    output.write_text("." * 60 + "n=123456789\n" + "." * 60)
    assert newest("n=([0-9]+)", output) == "123456789"


@pytest.mark.parametrize("text", ["1e308", "-1e101", "1e-300", "inf", "nan"])
def test_a_figure_that_cannot_be_worked_with_is_absent(tmp_path: Path, text: str) -> None:
    output = tmp_path / "out"
    output.write_text(f"x={text}\n")
    metric = Metric(name="x", pattern="x=(.+)")
    found = metrics_of((metric,), RunFacts(outcome="exited"), [output])
    assert found.values == {}
    assert repr(text) in found.absent["x"]


def test_digits_with_underscores_are_no_number(tmp_path: Path) -> None:
    """Python would read them, and no other program that sees this output."""
    assert read(tmp_path, r"x=(\S+)", b"x=1_000") == "'1_000' in the output is not a number"


def test_pattern_without_match_is_quoted_as_typed(tmp_path: Path) -> None:
    said = str(read(tmp_path, r"x: (\d+)", b"y\n"))
    assert said.startswith(r"no match of 'x: (\d+)' in the output")


def test_invalid_pattern_is_quoted_as_typed() -> None:
    with pytest.raises(InvalidInputError) as caught:
        checked_pattern(r"x: (\d+", "--metric")
    assert caught.value.cause.startswith(
        r"--metric: invalid regular expression 'x: (\d+': missing )"
    )


def test_an_empty_match_says_how_to_avoid_it(tmp_path: Path) -> None:
    said = str(read(tmp_path, "x=(.*)", b"x=3\nx=\n"))
    assert said.startswith("'' in the output is not a number; the last match of 'x=(.*)' is empty")
    assert ".+ instead of .*" in said
    assert read(tmp_path, "x=(.+)", b"x=3\nx=\n") == 3.0
