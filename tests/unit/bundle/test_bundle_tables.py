"""Simple exports: table of samples, OpenMetrics, JSON document."""

from __future__ import annotations

import csv
import io
import itertools
import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any, TextIO

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from prometheus_client.openmetrics.parser import text_string_to_metric_families
from studies import an_output, source_of, spec_of, stratum_of

from assay.bundle.document import study_document, write_json
from assay.bundle.openmetrics import write_openmetrics
from assay.bundle.series_table import write_series_table
from assay.bundle.table import write_table
from assay.records import (
    Arm,
    Configuration,
    Evidence,
    Grant,
    GrantStatus,
    Kind,
    Metric,
    Outcome,
    Progress,
    Sample,
    Series,
    Stage,
    SteadyPart,
)
from assay.records.workload import WALL


def text_of(write: Callable[[Any, TextIO], None], source: Any) -> str:
    target = io.StringIO(newline="")
    write(source, target)
    return target.getvalue()


def document_of(source: Any) -> Any:
    target = io.StringIO()
    write_json(study_document(source), target)
    return json.loads(target.getvalue())


def rows_of(source: Any) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text_of(write_table, source), newline="")))


def test_unset_settings_have_default_values() -> None:
    arms = (
        Arm(name="default", configuration=Configuration({})),
        Arm(name="nice=5", configuration=Configuration({"nice": 5})),
        Arm(name="arg.t=4", configuration=Configuration({"arg.t": 4})),
    )
    spec = msgspec.structs.replace(spec_of(Kind.COMPARE), arms=arms)
    spec = msgspec.structs.replace(
        spec, workload=msgspec.structs.replace(spec.workload, placeholders={"t": "1"})
    )

    rows = rows_of(source_of(spec))
    told = {
        row["arm"]: [row[f"{kind}.{name}"] for name in ("nice", "arg.t") for kind in KINDS]
        for row in rows
    }
    assert told["default"] == ["default", "default", "1", "default"]
    assert told["nice=5"] == ["5", "", "1", "default"]
    assert told["arg.t=4"] == ["default", "default", "4", ""]


KINDS = ("setting", "grant")


def test_table_has_row_for_each_sample() -> None:
    grant = Grant(value="fast", status=GrantStatus.DEGRADED, reason="why")
    pieces = (Evidence(kind="steal", value=0.25, unit="s"), Evidence(kind="containment", note="v2"))

    def change(sample: Sample) -> Sample:
        return msgspec.structs.replace(
            sample,
            settings={"env.MODE": grant},
            evidence=pieces,
            peak_bytes=2**53 + 1,
            started_at=1.7e9,
        )

    source = source_of(spec_of(Kind.COMPARE), strata=(stratum_of(0), stratum_of(1)), change=change)
    rows = rows_of(source)
    samples = [s for one in source.strata for s in one.samples]
    assert len(rows) == len(samples)
    assert [row["stratum"] for row in rows[:: len(rows) // 2]] == ["0", "1"]
    for row, sample in zip(rows, samples, strict=True):
        assert float(row["metric.wall_s"]) == sample.metrics["wall_s"]
        assert float(row["wall_s"]) == sample.wall_s
        assert row["peak_bytes"] == "9007199254740993"
        assert row["setting.env.MODE"] == sample.launch.configuration["env.MODE"]
        assert row["grant.env.MODE"] == "degraded"
        assert row["evidence.steal"] == "0.25"
        assert row["evidence.containment.note"] == "v2"
        assert (row["stage"], row["arm"]) == (str(sample.launch.stage), sample.launch.arm)
        assert row["exit_status"] == ""


def test_formulas_are_quoted() -> None:
    formula = '=HYPERLINK("http://evil")'
    source = plain(
        spec_of(Kind.MEASURE),
        lambda s: msgspec.structs.replace(s, message=formula, metrics={"wall_s": -1.0}),
    )
    for row in rows_of(source):
        assert row["message"] == f"'{formula}"
        assert row["metric.wall_s"] == "-1.0"


def test_table_preserves_any_text() -> None:
    text = 'a,"b"\r\nc\n\u202e\ud7ffé'
    source = source_of(
        spec_of(Kind.MEASURE), change=lambda s: msgspec.structs.replace(s, message=text)
    )
    assert {row["message"] for row in rows_of(source)} == {text}


def points_of(source: Any) -> dict[str, list[Any]]:
    """Return the result of a strict parser."""
    text = text_of(write_openmetrics, source)
    assert text.endswith("# EOF\n")
    return {family.name: family.samples for family in text_string_to_metric_families(text)}


def at(number: int) -> float:
    return 1.7e9 + 0.25 * number


def timed(sample: Sample) -> Sample:
    launch = sample.launch
    return msgspec.structs.replace(
        sample, started_at=at(1000 * launch.block + 10 * launch.position + launch.attempt)
    )


@pytest.mark.parametrize("kind", [Kind.TUNE, Kind.COMPARE, Kind.MEASURE])
def test_strict_parser_accepts_openmetrics(kind: Kind) -> None:
    source = source_of(spec_of(kind), strata=(stratum_of(0), stratum_of(1)), change=timed)
    found = points_of(source)
    walls = found["assay_sample_wall_seconds"]
    samples = [s for one in source.strata for s in one.samples]
    assert sorted(point.value for point in walls) == sorted(s.metrics["wall_s"] for s in samples)
    assert {float(point.timestamp) for point in walls} == {s.started_at for s in samples}
    (about,) = found["assay_study"]
    assert about.labels["study"] == "kq3v8ma"
    launches = found["assay_launches"]
    assert sum(point.value for point in launches) == len(samples)
    conclusion = source.strata[0].conclusion
    assert conclusion is not None
    ratios = [point.value for point in found.get("assay_claim_ratio", ())]
    assert ratios == [claim.ratio for _ in range(2) for claim in conclusion.claims]
    assert len(found.get("assay_claim_ratio_low", ())) == len(ratios)


def test_metric_families_have_unique_names() -> None:
    metrics = (
        WALL,
        Metric(name="wall-s", unit="s"),
        Metric(name="9 fps"),
        Metric(name="peak_bytes", unit="bytes"),
        Metric(name="ns", unit="ns"),
    )
    source = source_of(
        spec_of(Kind.MEASURE, metrics=metrics),
        change=lambda s: msgspec.structs.replace(
            timed(s), metrics={m.name: 1.0 + n for n, m in enumerate(metrics)}
        ),
        concluded=False,
    )
    found = points_of(source)
    names = [name for name in found if name.startswith("assay_sample")]
    assert len(names) == len(metrics)
    assert {"assay_sample_wall_seconds", "assay_sample_peak_bytes"} <= set(names)


@settings(max_examples=40)
@given(
    arm=st.text(st.characters(codec="utf-8"), max_size=12),
    starts=st.lists(st.sampled_from([0.0, 1.7e9, 1.7e9 + 1e-5, 1.7e9 - 3600.0]), min_size=1),
    values=st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1),
)
def test_openmetrics_accepts_any_name_and_clock(
    arm: str, starts: list[float], values: list[float]
) -> None:
    """Clocks may be set back; names may contain any text."""
    configuration = Configuration({"env.MODE": "fast"})
    spec = msgspec.structs.replace(
        spec_of(Kind.MEASURE), arms=(Arm(name=arm, configuration=configuration),)
    )
    count = 0

    def change(sample: Sample) -> Sample:
        nonlocal count
        count += 1
        return msgspec.structs.replace(
            sample,
            started_at=starts[count % len(starts)],
            metrics={"wall_s": values[count % len(values)]},
        )

    source = plain(spec, change)
    found = points_of(source)["assay_sample_wall_seconds"]
    (one,) = source.strata
    assert sorted(p.value for p in found) == sorted(s.metrics["wall_s"] for s in one.samples)
    assert {p.labels["arm"] for p in found} == {arm}
    for stage in {p.labels["stage"] for p in found}:
        times = [float(p.timestamp) for p in found if p.labels["stage"] == stage]
        assert all(b - a > 0.0004 for a, b in itertools.pairwise(times))


def plain(spec: Any, change: Any) -> Any:
    """Return a study with arbitrary figures and without a conclusion."""
    source = source_of(spec)
    (one,) = source.strata
    samples = tuple(map(change, one.samples))
    return replace(source, strata=(replace(one, samples=samples, conclusion=None),))


def test_failed_launches_are_counted_without_value() -> None:
    source = plain(
        spec_of(Kind.MEASURE),
        lambda s: msgspec.structs.replace(s, outcome=Outcome.FAILED, metrics={}),
    )
    found = points_of(source)
    assert "assay_sample_wall_seconds" not in found
    assert {p.labels["outcome"] for p in found["assay_launches"]} == {"failed"}


def test_document_contains_complete_study() -> None:
    source = source_of(
        spec_of(Kind.TUNE), output=lambda number: (an_output(f"{number}\n".encode()),)
    )
    document = document_of(source)
    (one,) = source.strata
    assert document["study"] == "kq3v8ma"
    assert len(document["samples"]) == len(one.samples) == len(document["outputs"])
    assert document["outputs"][4] == {
        "stratum": 0,
        "sample": 5,
        "streams": [
            {
                "stream": "stdout",
                "size_bytes": 2,
                "sha256": document["outputs"][4]["streams"][0]["sha256"],
                "encoding": "utf-8",
                "head": "5\n",
            }
        ],
    }
    assert len(document["plans"]) == len(one.plans)
    assert document["conclusions"][0]["stratum"] == 0
    assert "outputs" not in study_document(source, outputs=False)


def test_rows_and_documents_mark_left_out_samples() -> None:
    crowd = (
        Evidence(kind="host_cpus", value=2.0),
        Evidence(kind="foreign_load", value=1000.0, unit="s", external=True),
    )

    def change(sample: Sample) -> Sample:
        lost = sample.launch.block == 2
        return msgspec.structs.replace(sample, evidence=crowd) if lost else sample

    source = source_of(spec_of(Kind.COMPARE), change=change)
    found = [row["excluded"] == "true" for row in rows_of(source)]
    samples = [s for one in source.strata for s in one.samples]
    counted = (Stage.CONFIRM, 2)
    expected = [(s.launch.stage, s.launch.block) == counted for s in samples]
    assert any(expected)
    assert not all(expected)
    assert found == expected
    assert [sample["excluded"] for sample in document_of(source)["samples"]] == expected
    admitting = msgspec.structs.replace(source.record.spec, disturbed_above=None)
    quiet = replace(source, record=msgspec.structs.replace(source.record, spec=admitting))
    assert {row["excluded"] for row in rows_of(quiet)} == {"false"}


def reporting(sample: Sample) -> Sample:
    """Return a sample whose launch reported a speed, in two intervals."""
    series = Series(
        times_s=(1.0, 2.5),
        steps=(10.0, 30.0),
        values=(5.0, 6.0),
        minima=(4.0, 6.0),
        maxima=(7.0, 6.0),
        counts=(3, 1),
    )
    part = SteadyPart(begin_step=10.0, begin_s=1.0, end_step=30.0, end_s=2.5, first_report_s=0.1)
    return msgspec.structs.replace(sample, series={"sps": series}, steady={"sps": part})


def reporting_source() -> Any:
    speed = Metric(name="sps", unit="samples/s", progress=Progress(pattern="(.*)"))
    return source_of(spec_of(Kind.MEASURE, 4, metrics=(WALL, speed)), change=reporting)


def test_reported_values_are_a_table_of_their_own() -> None:
    source = reporting_source()
    rows = list(csv.DictReader(io.StringIO(text_of(write_series_table, source), newline="")))
    assert len(rows) == 2 * len(source.strata[0].samples)
    assert [rows[0][name] for name in ("metric", "step", "value", "min", "max", "count")] == [
        *("sps", "10.0", "5.0", "4.0", "7.0", "3")
    ]


def test_table_of_samples_contains_the_steady_part() -> None:
    row = rows_of(reporting_source())[0]
    assert (row["steady.sps.begin_step"], row["steady.sps.settled"]) == ("10.0", "true")


def test_reported_values_are_points_of_each_launch() -> None:
    points = points_of(reporting_source())["assay_reported_sps"]
    assert [point.value for point in points[:2]] == [5.0, 6.0]
    first, second = (float(point.timestamp) for point in points[:2])
    assert second - first == pytest.approx(1.5)
