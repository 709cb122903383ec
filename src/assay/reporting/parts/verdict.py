"""Verdict: the answer with its main numbers and limitations."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from assay.records import Kind, Status
from assay.reporting.answer import Answer
from assay.reporting.arms import ArmRow, Phase, Role
from assay.reporting.formatting import NBSP, change, change_interval, duration, unbroken
from assay.reporting.inputs import ReportInput
from assay.reporting.markup import Html, el
from assay.reporting.parts.common import chips
from assay.reporting.scale import Scale
from assay.units import show_count


def verdict(
    report: ReportInput, answer: Answer, tiles: Sequence[Tile], notes: Sequence[str]
) -> Html:
    """Return the answer with its main numbers and limitations."""
    settings = None
    if report.conclusion and report.conclusion.recommendation:
        chosen = report.conclusion.recommendation.settings
        is_named = str(chosen) in answer.sentence
        settings = el("p", chips(chosen), class_="chosen") if chosen and not is_named else None
    weak = None
    if notes:
        title = f"Limitations of this answer ({len(notes)})"
        items = [el("li", note) for note in notes[:_NOTES_SHOWN]]
        rest = [el("li", note) for note in notes[_NOTES_SHOWN:]]
        weak = el(
            "div",
            el("h2", title, id="notes-h"),
            el("ul", items),
            el("details", el("summary", f"{len(rest)} more"), el("ul", rest)) if rest else None,
            class_="weak",
            id="notes",
        )
    return el(
        "section",
        el("p", el("span", answer.badge, class_=f"badge tone-{answer.tone}"), class_="badges"),
        el("h1", unbroken(answer.sentence), id="verdict-h"),
        settings,
        [el("p", detail, class_="detail") for detail in answer.details[:_DETAILS_SHOWN]],
        el(
            "dl",
            [el("div", el("dt", t.term), el("dd", t.value), _below(t)) for t in tiles],
            class_="tiles",
        ),
        weak,
        id="verdict",
        aria_labelledby="verdict-h",
    )


_NOTES_SHOWN = 5


_DETAILS_SHOWN = 5


@dataclass(frozen=True, slots=True)
class Tile:
    """Number next to the answer, with a smaller text ``below`` it."""

    term: str
    value: str
    below: str = ""


def _below(tile: Tile) -> Html | None:
    return el("dd", tile.below, class_="below") if tile.below else None


def tiles(report: ReportInput, rows: Sequence[ArmRow], scale: Scale) -> list[Tile]:
    """Return the main numbers of the answer."""
    found: list[Tile] = []
    claimed = [r for r in rows if r.phase is not Phase.SEARCH] or list(rows)
    for role, name in ((Role.BASELINE, "baseline"), (Role.WINNER, "winner")):
        row = next((r for r in claimed if r.role is role), None)
        if row is not None and row.summary is not None:
            label = "Default" if row.name == "default" else name.capitalize()
            label = (
                "Recommended" if role is Role.WINNER and report.spec.kind is Kind.TUNE else label
            )
            launches = show_count(row.summary.n, "launch", "launches")
            found.append(Tile(label, scale.quantity(row.summary.median), f"median of {launches}"))
            if role is Role.WINNER and row.claim is not None:
                interval = change_interval(row.claim.ci)
                term = f"Change, {_confidence(row.claim.alpha)} interval"
                below = f"{interval}{_correction_text(row.claim.alpha, report.spec.alpha)}"
                found.append(Tile(term, change(row.claim.ratio), below))
    made = report.conclusion.launches if report.conclusion else len(report.samples)
    several = len(report.strata) > 1
    newest = f"of stratum {report.strata[-1].number}" if several else ""
    if made < len(report.samples) and report.status is not Status.DONE:
        newest = f"of the verdict, of {len(report.samples):,} {newest}".rstrip()
    found.append(Tile("Launches", f"{made:,}", newest))
    if report.spec.kind is Kind.TUNE:
        tried = len({s.launch.configuration for s in report.samples})
        number = report.conclusion.configurations if report.conclusion else tried
        found.append(Tile("Configurations", f"{number:,}"))
    all_of_them = f"over all {len(report.strata)} strata" if several else ""
    found.append(Tile("Time spent", duration(report.elapsed_s), all_of_them))
    return found


def _correction_text(alpha: float, whole: float) -> str:
    """Return the correction that makes the confidence higher than that of the study."""
    return "" if alpha >= whole else f"; corrected for several claims at {100 * whole:g}{NBSP}%"


def _confidence(alpha: float) -> str:
    return f"{(1 - alpha) * 100:.4g}{NBSP}%"
