"""Table: summaries of the relevant arms, and all arms."""

from __future__ import annotations

from collections.abc import Sequence

from assay.records import Kind, Metric
from assay.reporting.arms import MAX_DRAWN_ROWS, ArmRow, Phase
from assay.reporting.formatting import change, label_of
from assay.reporting.inputs import ReportInput
from assay.reporting.markup import Html, el
from assay.reporting.parts.common import (
    arm_name,
    arm_text,
    count_or_dash,
    omitted_rows,
    scroll,
)
from assay.reporting.scale import Scale
from assay.reporting.trials import State
from assay.wording.sentence import verdict_word

PHASES = {
    Phase.CONFIRMATION: "confirmation",
    Phase.SEARCH: "search",
    Phase.MEASURED: "measured",
}


def summaries(rows: Sequence[ArmRow], scale: Scale, metric: Metric) -> Html:
    """Return five-number summary, mean and spread of the relevant arms."""
    chosen = [r for r in rows if r.phase is not Phase.SEARCH and r.summary]
    if not chosen:
        chosen = [r for r in rows if r.summary][:8]
    unit = f" in {scale.unit}" if scale.unit else ""
    heads = ("n", "min", "q1", "median", "q3", "max", "mean", "sd", "sem")
    head_cells = [el("th", head, scope="col", class_="num") for head in heads]
    table = el(
        "table",
        el("caption", f"{label_of(metric)}{unit}"),
        el("thead", el("tr", el("th", "Arm", scope="col"), head_cells)),
        el("tbody", [_summary_row(row, scale, heads) for row in chosen[:_SUMMARIES_SHOWN]]),
    )
    return scroll("Five-number summaries", table)


_SUMMARIES_SHOWN = 24


def _summary_row(row: ArmRow, scale: Scale, heads: Sequence[str]) -> Html:
    cells = [el("td", _cell(row, head, scale), class_="num") for head in heads]
    name = el("th", arm_name(row), scope="row", class_=f"role-{row.role.value}")
    return el("tr", name, cells)


def _cell(row: ArmRow, head: str, scale: Scale) -> str:
    if row.summary is None:
        return "0" if head == "n" else ""
    value = getattr(row.summary, head)
    if head == "n":
        return f"{value:,}"
    if head in ("sd", "sem") and value is not None:
        return scale.spread(value)
    return "" if value is None else scale.number(value)


def configurations(report: ReportInput, rows: Sequence[ArmRow], scale: Scale) -> Html:
    """Return the first arms; scripts add the others, sorting, filters and export."""
    heads = _heads(report, rows, scale)
    head_cells = [
        el(
            "th",
            el("span", label, title=hint or None),
            scope="col",
            data_key=key,
            class_="num" if number else None,
        )
        for key, label, hint, number in heads
    ]
    body = [
        el("tr", [_table_cell(row, key, scale) for key, *_ in heads], data_row=i)
        for i, row in enumerate(rows[:MAX_DRAWN_ROWS])
    ]
    table = el(
        "table",
        el("caption", "All arms", class_="quiet"),
        el("thead", el("tr", head_cells)),
        el("tbody", body),
        id="all",
    )
    # Scripts that can read the data replace this sentence.
    rest = omitted_rows(len(body), len(rows), "arms", _WITHOUT_SCRIPTS)
    return el(
        "div",
        el("div", class_="tools", id="table-tools", hidden=True),
        scroll("Table of all arms", table, tall=True),
        el("p", rest, id="table-status", class_="quiet-status", role="status"),
    )


_Head = tuple[str, str, str, bool]
"""Key, label and hint of a column, and whether it has numbers."""


def _heads(report: ReportInput, rows: Sequence[ArmRow], scale: Scale) -> list[_Head]:
    unit = f" ({scale.unit})" if scale.unit else ""
    tune = report.spec.kind is Kind.TUNE
    heads: list[_Head] = [("name", "Configuration", "", False)]
    if tune:
        heads.append(("phase", "Phase", "", False))
    heads += [
        ("ratio", "Change", "against the baseline of the same phase", True),
        ("verdict", "Verdict", "verdict of the claim; empty without a claim", False),
        ("n", "n", "launches with a value", True),
    ]
    heads += [
        (key, f"{key}{unit}", "", True)
        for key in ("min", "q1", "median", "q3", "max", "mean", "sd", "sem")
    ]
    heads += [
        ("timed_out", "timed out", "launches that reached their time-out", True),
        ("failed", "failed", "launches that failed, reached a limit or have no value", True),
    ]
    if any(row.disturbed for row in rows):
        why = "launches of the summary in disturbed blocks"
        heads.append(("disturbed", "disturbed", why, True))
    if report.left_out:
        why = "launches in disturbed blocks, excluded from all figures"
        heads.append(("left_out", "left out", why, True))
    return heads


def further_cells(report: ReportInput, rows: Sequence[ArmRow], scale: Scale) -> list[list[str]]:
    """Return the entries of the table for the arms beyond ``MAX_DRAWN_ROWS``, for scripts."""
    if len(rows) <= MAX_DRAWN_ROWS:
        return []
    keys = [key for key, *_ in _heads(report, rows, scale)]
    return [[_entry(row, key, scale) for key in keys] for row in rows[MAX_DRAWN_ROWS:]]


_WITHOUT_SCRIPTS = "Scripts show the others; `assay study show ID --json` has all of them."


def _table_cell(row: ArmRow, key: str, scale: Scale) -> Html:
    """Return a cell; the style sheet aligns numbers, to save a class in each of many cells."""
    if key == "name":
        return el("th", arm_name(row), scope="row", class_=f"role-{row.role.value}")
    entry = _entry(row, key, scale)
    if key == "phase":
        return el("td", entry, class_="text")
    if key == "verdict" and row.claim is not None:
        return el("td", entry, class_=f"word tone-{row.claim.verdict.value}")
    return el("td", entry)


def _entry(row: ArmRow, key: str, scale: Scale) -> str:
    """Return the text of a cell."""
    match key:
        case "name":
            return arm_text(row)
        case "phase":
            return PHASES[row.phase]
        case "ratio":
            return "" if row.ratio is None else change(row.ratio)
        case "verdict":
            return "" if row.claim is None else verdict_word(row.claim)
        case "timed_out":
            return count_or_dash(row.having(State.CENSORED))
        case "failed":
            return count_or_dash(row.having(State.FAILED) + row.having(State.ABSENT))
        case "disturbed":
            return count_or_dash(row.disturbed)
        case "left_out":
            return count_or_dash(row.having(State.LEFT_OUT))
        case _:
            return _cell(row, key, scale)
