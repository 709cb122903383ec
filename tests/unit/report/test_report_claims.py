"""The table of claims: what stands beside a gain, and what of it is not known."""

from dataclasses import replace

import msgspec
import report_studies as studies

from assay.report.arms import arm_rows
from assay.report.parts.claims import claims
from assay.report.plain import MINUS, NBSP
from assay.report.trials import trials


def rows_of(report):
    return arm_rows(report, trials(report.samples, report.metric))


def with_claims(report, **changes):
    """The same study with its claims changed."""
    found = tuple(msgspec.structs.replace(c, **changes) for c in report.conclusion.claims)
    return replace(report, conclusion=msgspec.structs.replace(report.conclusion, claims=found))


def test_each_claim_has_its_quantiles_and_its_spread():
    report = with_claims(
        studies.compare(blocks=6),
        ratio=0.8,
        ci=(0.75, 0.85),
        shift={"p10": 0.9, "p50": 0.8, "p90": 2.5},
        spread_ratio=1.234,
    )
    table = claims(rows_of(report))
    assert table.count("<tr>") == 1 + len(report.conclusion.claims)
    heads = ("Change", "p10", "p50", "p90", "Spread", "Pairs", "Verdict")
    places = [table.index(f'data-head="{head}"') for head in heads]
    assert places == sorted(places)
    for shown in (f"{MINUS}20.0{NBSP}%", f"{MINUS}25.0{NBSP}% to {MINUS}15.0{NBSP}%"):
        assert shown in table
    for shown in (f">{MINUS}10.0{NBSP}%<", ">2.50\u00d7<", ">1.23\u00d7<", ">6<", ">faster<"):
        assert shown in table


def test_what_is_not_known_is_a_dash_and_a_bound_is_marked():
    report = studies.compare(blocks=6)
    unknown = {"shift": {"p50": 3.0}, "spread_ratio": None, "bound_only": True, "ratio": 3.0}
    table = claims(rows_of(with_claims(report, **unknown, ci=(2.5, None))))
    assert table.count(">\u2013<") == 3 * len(report.conclusion.claims)
    assert ">\u2265 3.00\u00d7 <" in table and "at least 2.50\u00d7" in table
    assert "\u2264 3.00" in claims(rows_of(with_claims(report, **unknown, ci=(None, 3.5))))


def test_names_from_outside_are_escaped():
    table = claims(rows_of(studies.hostile()))
    assert "<script" not in table and "<img" not in table
    assert "&lt;img src=x onerror=alert(2)&gt;" in table


def test_search_data_make_no_claim():
    assert claims(rows_of(studies.interrupted())) is None
    tuned = claims(rows_of(studies.tune(8, confirm_blocks=6)))
    assert tuned.count("<tr>") == 2
