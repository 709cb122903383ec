"""Figures in output: whole numbers, with their units."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import msgspec
import pytest

from assay.errors import InvalidInputError
from assay.executors.metrics.extract import metrics_of, parse_metric
from assay.executors.metrics.figures import NO_UNIT, read_figure, unit_of_pattern
from assay.executors.metrics.matching import last_match, nearest_line
from assay.executors.metrics.numbers import number_around
from assay.executors.metrics.printed_units import UNITS, following_unit
from assay.executors.metrics.reading import demand_figures
from assay.executors.metrics.unit_words import following_word
from assay.executors.sample import build_sample
from assay.records import Configuration, Launch, Metric, Outcome, RunFacts, Stage, Workload
from assay.records.sample import UNIT_PREFIX, UNKNOWN_UNIT_PREFIX

FACTS = RunFacts(outcome="exited", exit_status=0, wall_s=1.5)
LAUNCH = Launch(
    configuration=Configuration(), arm="default", stage=Stage.SEARCH, block=0, position=0
)


@pytest.fixture
def output(tmp_path: Path) -> Path:
    return tmp_path / "out"


@pytest.mark.parametrize(
    ("text", "pattern", "number"),
    [
        ("60,2 MB/s", "([0-9.]+) MB/s", "60,2"),
        ("n: 1,234.5 ms", "([0-9.]+) ms", "1,234.5"),
        ("time: 1,234 ms", "time: ([0-9]+)", "1,234"),
        ("total 1'234 s", "([0-9]+) s", "1'234"),
        ("total 1\u202f234 s", "([0-9]+) s", "1\u202f234"),
        ("1.234,5 s", "([0-9.]+) s", "1.234,5"),
        ("1:02.5 elapsed", "([0-9.]+) elapsed", "1:02.5"),
        ("real 0m1.234s", "([0-9.]+)s", "0m1.234"),
        ("loss 1.5e-05", "loss ([0-9.]+)", "1.5e-05"),
        ("1e6 ops", "([0-9]+) ops", "1e6"),
        ("version 1.2.3", r"version (\d+\.\d+)", "1.2.3"),
        ("12.5 ms", "([0-9]+) ms", "12.5"),
        ("t=.5s", "([0-9]+)s", ".5"),
        ("change -5 ms", "([0-9]+) ms", "-5"),
        ("12345 ms", "([0-9]{3}) ms", "12345"),
        ("at 0x1F", "at ([0-9]+)", "0x1F"),
        ("Time: 60,2 s", "Time.*?([0-9.]+) s", "60,2"),  # a wildcard names no separator
        ("rate 1234 x", "rate .*([0-9]+) x", "1234"),
        ("Total time 1234.5", "Total.*([0-9.]+)", "1234.5"),
        ("real 2m1.234s", "real.*m([0-9.]+)s", "2m1.234"),
        ("took 1m2.5s", "took.*?m([0-9.]+)s", "1m2.5"),
        ("time = 1.5D-03", "time = ([0-9.]+)", "1.5D-03"),
    ],
)
def test_a_part_of_a_number_is_no_figure(
    output: Path, text: str, pattern: str, number: str
) -> None:
    output.write_text(f"begin\n{text}\nend\n")
    metric = Metric(name="m", pattern=pattern)
    figure = read_figure(metric, [output])
    assert (figure.value, figure.cut) == (None, number)
    reading = metrics_of((metric,), FACTS, [output])
    with pytest.raises(InvalidInputError, match="is only part of") as refused:
        demand_figures(Workload(argv=("x",), metrics=(metric,)), reading)
    assert "--metric-as-is m" in str(refused.value.remedy)
    sample = build_sample(LAUNCH, Workload(argv=("x",), metrics=(metric,)), FACTS, [output], {})
    assert (sample.outcome, sample.metrics) == (Outcome.OK, {})
    assert repr(number) in sample.unavailable["m"]
    as_is = read_figure(Metric(name="m", pattern=pattern, ignore_unit=True), [output])
    assert as_is.value is not None


@pytest.mark.parametrize(
    ("text", "pattern", "value"),
    [
        ("a,12.5,13.6", "a,([0-9.]+)", 12.5),
        ("row,12,13", "row,([0-9]+)", 12.0),  # the pattern names the separator
        ("row,12,13", "row,([0-9]+),", 12.0),
        ("key:value:35", "value:([0-9]+)", 35.0),
        ("12,13,14", "([0-9]+)$", 14.0),
        ("step-5 ms", "([0-9]+) ms", 5.0),
        ("p99 ms", "p([0-9]+)", 99.0),
        ("run1_400 ms", "([0-9]+) ms", 400.0),
        ("rate 5, 3 retries", "rate ([0-9]+)", 5.0),
        ("It took 944.", "took ([0-9.]+)", 944.0),
        ("13:45:10.5 400 ops", "([0-9]+) ops", 400.0),
        ("3 MiB/s (12.5%)", r"\(([0-9.]+)%", 12.5),
        ("2026-11-27 5 ms", "([0-9]+) ms", 5.0),
        ("[10/20] 3 ms", "([0-9]+) ms", 3.0),
        ("a;b;5;7", r"b\;([0-9]+)", 5.0),
        ("real\t0m1.234s", r"real\s+0m([0-9.]+)s", 1.234),
        ("x=-1.5e-3;", "x=([-0-9.e]+)", -0.0015),
    ],
)
def test_a_whole_number_is(output: Path, text: str, pattern: str, value: float) -> None:
    output.write_text(f"{text}\n")
    assert read_figure(Metric(name="m", pattern=pattern), [output]).value == value


def test_number_stands_for_itself_at_the_ends_of_a_text() -> None:
    assert number_around("5", 0, 1) == (0, 1)
    assert number_around("x5y", 1, 2) == (1, 2)


@pytest.mark.parametrize("pattern", ["rate: ([0-9]+) ops/s", "([0-9]+)"])
def test_colours_are_not_in_the_way(output: Path, pattern: str) -> None:
    output.write_text("rate: \x1b[1m944\x1b[0m ops/s\n")
    figure = read_figure(Metric(name="m", pattern=pattern), [output])
    assert (figure.value, figure.unit) == (944.0, "op/s")


def test_a_pattern_with_control_sequences_matches_them(output: Path) -> None:
    output.write_text("a 1 \x1b[1m944\x1b[0m\n")
    match = last_match("\x1b\\[1m([0-9]+)", [output])
    assert match is not None and match[1] == "944"


def test_patterns_are_text(output: Path) -> None:
    for unit in ("µs", "μs"):  # U+00B5 and U+03BC
        output.write_text(f"latency 5 {unit}\n")
        assert read_figure(Metric(name="m", pattern="([0-9]+) [µμ]s"), [output]).value == 5.0


@pytest.mark.parametrize(
    ("text", "unit"),
    [
        ("114 MB/s", "MB/s"),
        ("25.3 GB/s", "GB/s"),
        ("900 Mbits/sec", "Mbit/s"),
        ("3.2GFLOPS", "GFLOP/s"),
        ("12 ms", "ms"),
        ("1 second", "s"),
        ("3 seconds", "s"),
        ("5 μs", "µs"),
        ("20 retries", None),
        ("2 per_s", None),
    ],
)
def test_known_units(text: str, unit: str | None) -> None:
    end = len(text) - len(text.lstrip("0123456789."))
    found = following_unit(text, end)
    assert (found.name if found else None) == unit


@pytest.mark.parametrize(
    ("text", "pattern", "unit", "value"),
    [
        ("5 us", "([0-9]+) ([mu]?s)", "s", 5e-6),
        ("7 ms", "([0-9]+) ([mu]?s)", "s", 7e-3),
        ("25.3 GB/s", "([0-9.]+) ([kMG]?B/s)", "bytes/s", 25.3e9),
        ("GB/s: 25.3", r"(?P<unit>[kMG]B/s): ([0-9.]+)", "bytes/s", 25.3e9),
    ],
)
def test_a_captured_unit_converts(
    output: Path, text: str, pattern: str, unit: str, value: float
) -> None:
    output.write_text(text)
    metric = parse_metric(f"m={pattern}", {})
    assert metric.unit == unit
    assert read_figure(metric, [output]).value == pytest.approx(value)


@pytest.mark.parametrize(
    ("text", "value", "unit"),
    [
        ("512 kiB/s", 524288.0, "bytes/s"),
        ("1.2 MiB/s", 1258291.2, "bytes/s"),
        ("55 XB/s", None, None),
        ("55", 55.0, NO_UNIT),
    ],
)
def test_captured_units_are_told_apart(
    output: Path, text: str, value: float | None, unit: str | None
) -> None:
    output.write_text(text)
    metric = parse_metric("m=([0-9.]+) ?([kKMG]?i?B/s)?", {})
    figure = read_figure(metric, [output])
    if value is None:
        assert figure.unit == NO_UNIT, "the group took no part"
    else:
        assert figure.value == pytest.approx(value)
        assert figure.unit == unit


def test_a_unit_of_another_kind_is_no_multiple(output: Path) -> None:
    output.write_text("55 Mbit/s")
    metric = parse_metric("m=([0-9.]+) (Mbit/s|MB/s)", {"m": "MB/s"})
    assert (
        read_figure(metric, [output]).reason == "Mbit/s in the output cannot be converted to MB/s"
    )


def test_units_are_converted_as_it_is_too(output: Path) -> None:
    output.write_text("25.3 GB/s")
    metric = msgspec.structs.replace(parse_metric("m=([0-9.]+) ([kMG]B/s)", {}), ignore_unit=True)
    assert read_figure(metric, [output]).value == pytest.approx(25.3e9)


@pytest.mark.parametrize(("text", "unit"), [("3.0it/s", "it/s"), ("3.0s/it", "s/it")])
def test_an_unknown_ratio_is_told_apart(output: Path, text: str, unit: str) -> None:
    output.write_text(text)
    assert read_figure(Metric(name="m", pattern="([0-9.]+)"), [output]).unit == unit


@pytest.mark.parametrize("text", ["rate 7\x1b[1G12 done", "rate 7\x1b[4;1H12 done"])
def test_a_cursor_that_moves_joins_no_digits(output: Path, text: str) -> None:
    output.write_text(text)
    assert read_figure(Metric(name="m", pattern="([0-9]+) done"), [output]).value == 12.0


def test_the_units_own_name_is_kept(output: Path) -> None:
    output.write_text("25.3 GB/s")
    metric = parse_metric("m=([0-9.]+) ([kMG]B/s)", {"m": "MB/s"})
    assert read_figure(metric, [output]).value == pytest.approx(25_300.0)


@pytest.mark.parametrize(
    ("pattern", "unit"),
    [
        ("n=([0-9]+)", ""),
        (r"([0-9]+) (\S+)", ""),
        (r"\(([(0-9)]+)\) (?:a|(ms|s))", "s"),
        (r"(?P<value>[0-9]+)(?P<unit>[KMG]iB)", "bytes"),
        (r"([0-9]+)(,\1)*", ""),  # refers to a group outside
        (r"[\])(]([0-9]+)([\])a]|ms)", "s"),
    ],
)
def test_unit_of_a_pattern(pattern: str, unit: str) -> None:
    assert unit_of_pattern(pattern) == unit


def test_unit_is_in_the_evidence(output: Path) -> None:
    output.write_text("3 MB/s")
    workload = Workload(argv=("x",), metrics=(Metric(name="rate", pattern="([0-9]+)"),))
    sample = build_sample(LAUNCH, workload, FACTS, [output], {})
    assert [e.note for e in sample.evidence if e.kind == f"{UNIT_PREFIX}rate"] == ["MB/s"]


def test_nearest_line_is_shown(output: Path) -> None:
    output.write_bytes(b"throughput is \x1b[1m5 ops\nlatency 3\nbye\n")
    assert nearest_line("throughput: ([0-9]+)", [output]) == "throughput is \x1b[1m5 ops"
    figure = read_figure(Metric(name="m", pattern="throughput: ([0-9]+)"), [output])
    assert "'throughput is \\x1b[1m5 ops'" in str(figure.reason)
    output.write_bytes(b"")
    assert nearest_line("x", [output]) is None


def test_units_are_multiples_of_their_base() -> None:
    assert UNITS["MiB/s"].factor == 2**20
    assert UNITS["kB"] == UNITS["KB"]
    assert {UNITS[word].base for word in ("s", "ns", "minutes")} == {"s"}


PRINTED = tomllib.loads((Path(__file__).parent / "printed.toml").read_text())["tool"]


@pytest.mark.parametrize("tool", PRINTED, ids=[tool["name"] for tool in PRINTED])
def test_honest_outputs_are_read(output: Path, tool: dict[str, Any]) -> None:
    output.write_text(tool["text"])
    figure = read_figure(parse_metric(f"m={tool['pattern']}", {}), [output])
    assert (figure.value, figure.reason) == (pytest.approx(tool["value"]), None)
    assert figure.unit == tool.get("unit")


@pytest.mark.parametrize(
    ("text", "pattern", "number"),
    [
        ("speed = 1.5\u00d710^3", "speed = ([0-9.]+)", "1.5\u00d710^3"),
        ("rate 9.2 x 10^2 ops", "rate ([0-9.]+)", "9.2 x 10^2"),
        ("rate 9.2*10**-2 ops", "rate ([0-9.]+)", "9.2*10**-2"),
        ("rate 4·10³ ops", "rate ([0-9.]+)", "4·10³"),
        ("rate 4·10⁻³ ops", "rate ([0-9.]+)", "4·10⁻³"),
        ("rate 60·2 ops", "rate ([0-9.]+)", "60·2"),
        ("rate 60·2 ops", "([0-9.]+) ops", "60·2"),
        (
            "rate 7\u00d710^5 ops",
            "rate ([0-9.]+)\u00d710\\^[0-9]",
            "7\u00d710^5",
        ),
    ],
)
def test_a_power_of_ten_is_a_part_of_its_number(
    output: Path, text: str, pattern: str, number: str
) -> None:
    output.write_text(f"begin\n{text}\nend\n")
    assert read_figure(Metric(name="m", pattern=pattern), [output]).cut == number


@pytest.mark.parametrize(
    ("text", "pattern", "value"),
    [
        ("5 x 10 runs", "([0-9]+) x", 5.0),
        ("1920x1080 in 5 ms", "in ([0-9]+)", 5.0),
        ("rate 7\u00d710^5 ops", "rate ([0-9.]+)\u00d710\\^5", 7.0),
        ("rate 7 * 3 ops", "rate ([0-9.]+)", 7.0),
        ("8 · 3 files", "([0-9]+) ·", 8.0),
    ],
)
def test_products_are_no_powers(output: Path, text: str, pattern: str, value: float) -> None:
    output.write_text(f"{text}\n")
    assert read_figure(Metric(name="m", pattern=pattern), [output]).value == value


@pytest.mark.parametrize("group", [r"(\w+)", "([a-z]+)", r"(\S+)", "(.*)", "(?P<unit>[a-z]+)"])
@pytest.mark.parametrize(("unit", "value"), [("us", 950e-6), ("ms", 950e-3), ("seconds", 950.0)])
def test_any_captured_unit_converts(output: Path, group: str, unit: str, value: float) -> None:
    output.write_text(f"best: 950 {unit}\nmore 3\n")
    figure = read_figure(parse_metric(f"m=best: ([0-9.]+) {group}", {}), [output])
    assert (figure.value, figure.unit) == (pytest.approx(value), "s")


@pytest.mark.parametrize(
    ("text", "pattern", "value", "unit"),
    [
        ('{"cpu": 12, "unit": "ns"}', r'"cpu": ([0-9.]+), "unit": "(\w+)"', 12e-9, "s"),
        ("2 M per loop", r"([0-9.]+) (\w+)", 2e6, NO_UNIT),
        ("900 K per loop", "([0-9.]+) (.*)", 9e5, NO_UNIT),
        ("IOPS=205k, BW", "IOPS=([0-9.]+)(k?)", 205e3, NO_UNIT),
        ("IOPS=950, BW", "IOPS=([0-9.]+)(k?)", 950.0, NO_UNIT),
        ("1.2 million rows", r"([0-9.]+) (\w+)", 1.2e6, NO_UNIT),
        ("1.2 GB/s)", r"([0-9.]+) ([A-Za-z/]+)", 1.2e9, "bytes/s"),
        ("1.2 (GB/s)", r"([0-9.]+) (\S+)", 1.2e9, "bytes/s"),
        ("3 days", r"([0-9.]+) (\w+)", 259200.0, "s"),
        ("5 gigabytes per second", r"([0-9.]+) (.*)", 5e9, "bytes/s"),
        ('{"n": 12, "M": "M"}', r'"n": ([0-9.]+), "M": "(\w+)"', 12.0, None),
        ("at 12.5 ms", "at (([0-9]+)[.]5)", 12.5, "ms"),  # a group within the figure
        ("7 it/s", r"([0-9]+) (\S+)", 7.0, "it/s"),
    ],
)
def test_text_of_a_second_group(
    output: Path, text: str, pattern: str, value: float, unit: str | None
) -> None:
    output.write_text(f"{text}\n")
    figure = read_figure(parse_metric(f"m={pattern}", {}), [output])
    assert (figure.value, figure.unit) == (pytest.approx(value), unit)


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("5 Mpps", "Mpps"),
        ("5 MQPS, more", "MQPS"),
        ("5 M rows/s", "M rows/s"),
        ("5\tMrps", "Mrps"),
        ("5 (million rows)", "(million rows)"),
        ("5 requests per second", "requests per second"),
        ("5 per second", "per second"),
        ("5/s", "/s"),
        ("5 lat=3", None),
        ("5 latency: 3", None),
        ("5, then", None),
        ("5 p99", None),
        ("5  done", None),
        ("5 (without initial connection time)", None),
    ],
)
def test_words_behind_a_figure(text: str, word: str | None) -> None:
    assert following_word(text, 1) == word


def test_word_is_in_the_evidence(output: Path) -> None:
    output.write_text("got 3 Mpps\n")
    workload = Workload(argv=("x",), metrics=(Metric(name="rate", pattern="got ([0-9]+)"),))
    sample = build_sample(LAUNCH, workload, FACTS, [output], {})
    assert [e.note for e in sample.evidence if e.kind == f"{UNKNOWN_UNIT_PREFIX}rate"] == ["Mpps"]


FIO = """\
    clat (usec): min=962, max=1397, avg=3463.08, stdev=4.18
    clat percentiles (nsec):
     |  1.00th=[  700], 50.00th=[ 1004]
   bw (  KiB/s): min=900, max=950, avg=925.0
   iops        : min=200, max=300, avg=225.0
"""


@pytest.mark.parametrize(
    ("text", "pattern", "unit"),
    [
        ("name   time[us]\nfoo    950\n", "^foo +([0-9.]+)", "µs"),
        ("Name (time in ms)   Min  Max\n----\ntest_a   1.2  1.5\n", "test_a +([0-9.]+)", "ms"),
        ("n time[us] size[kB]\na 5 7\n", "^a [0-9] ([0-9])", "kB"),
        ("n time[us] size[kB] left\na 5 7 9\n", "^a [0-9] [0-9] ([0-9])", None),
        ("   n    time [ms]   count\nfoo   5    12.5    7\n", "^foo +5 +([0-9.]+)", "ms"),
        ("name,time_us,rows\na,950,3\n", "^a,([0-9.]+),", "µs"),
        ("Latency (ms):\n  avg:  0.38\n", "avg: +([0-9.]+)", "ms"),
        ("Latency (ms):\n  avg:  0.38\n\nqueries:  7\n", "queries: +([0-9.]+)", None),
        ("Read (MB/s):\na: 5\nelapsed: 7\n", "elapsed: ([0-9]+)", None),
        ("Read (MB/s):\na: 5\n", "a: ([0-9]+)", "MB/s"),
        ("n rate[MB/s]\na 5\nelapsed: 7\n", "elapsed: ([0-9]+)", None),
        (FIO, r"50\.00th=\[ +([0-9]+)", "ns"),
        (FIO, "iops .*avg=([0-9.]+)", None),
        (FIO, r"stdev=([0-9.]+)", "µs"),
        (
            '{"iterations": 7,\n "real_time": 950,\n "time_unit": "us"}',
            '"real_time": ([0-9.]+)',
            "µs",
        ),
        (
            '{"iterations": 7,\n "real_time": 950,\n "time_unit": "us"}',
            '"iterations": ([0-9]+)',
            None,
        ),
        ('[{"score" : 4.5, "scoreUnit" : "MB/s"}]', '"score" : ([0-9.]+)', "MB/s"),
        ('[{"unit": "ms", "value": 4.5}, {"unit": "s"}]', '"value": ([0-9.]+)', "ms"),
        ('{"value": 4.5}, {"unit": "s"}', '"value": ([0-9.]+)', None),
        ("time (us): 12 count: 5\n", "count: ([0-9]+)", None),
        ("see (us)\nand 5 more (ms)\nx 7\n", "^x ([0-9])", "µs"),
    ],
)
def test_unit_of_a_header(output: Path, text: str, pattern: str, unit: str | None) -> None:
    output.write_text(text)
    assert read_figure(Metric(name="m", pattern=pattern), [output]).unit == unit
