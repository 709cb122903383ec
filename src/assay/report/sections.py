"""Sections: the parts of the page, each a function from data to HTML."""

from __future__ import annotations

import datetime
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from assay.machine.document import Machine
from assay.records import Configuration, Granted, Kind, Metric, Outcome, Stage, StudySpec
from assay.records.configuration import show_value
from assay.report.arms import ArmRow, Phase, Role
from assay.report.evidence import EvidenceTally
from assay.report.figures import STAGE_NAMES, NoiseFigure
from assay.report.grants import GrantTally
from assay.report.inputs import ReportInput
from assay.report.markup import Child, Html, el, join, text
from assay.report.plain import (
    NBSP,
    change,
    change_interval,
    clean,
    count,
    label_of,
    ranges,
    shorten,
)
from assay.report.scale import Scale
from assay.report.trials import State
from assay.report.wording import Answer
from assay.units import show_bytes, show_duration

_VALUE_CHARACTERS = 160
"""Longest value in the table of configurations; the raw data and the exports have all of it."""

_COMMAND_CHARACTERS = 400
"""Longer commands are folded."""

PHASES = {
    Phase.CONFIRMATION: "confirmation",
    Phase.SEARCH: "search",
    Phase.MEASURED: "measured",
}

_LEVELS = (
    ("set", "the kernel accepted it, or it stood in the environment of the program"),
    ("seen", "it was read back from the running program"),
    ("effective", "what it does was observed"),
)


def section(identifier: str, title: str, *children: Child, intro: Child = None) -> Html:
    """A titled part of the page."""
    heading = f"{identifier}-h"
    return el(
        "section",
        el("h2", title, id=heading),
        el("p", intro, class_="intro") if intro else None,
        *children,
        id=identifier,
        aria_labelledby=heading,
    )


def verdict(
    report: ReportInput, answer: Answer, tiles: Sequence[Tile], notes: Sequence[str]
) -> Html:
    """The answer, large, with what it rests on and what weakens it."""
    settings = None
    if report.conclusion and report.conclusion.recommendation:
        chosen = report.conclusion.recommendation.settings
        said = str(chosen) in answer.sentence
        settings = el("p", chips(chosen), class_="chosen") if chosen and not said else None
    weak = None
    if notes:
        title = f"What weakens this answer ({len(notes)})"
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
        el("h1", answer.sentence, id="verdict-h"),
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


def chips(configuration: Configuration) -> Html:
    """Settings as ``name=value``, each kept in one piece where there is room."""
    if not configuration:
        return el("span", "default", class_="chip plain")
    parts = [
        el(
            "bdi",
            el("span", clean(name), class_="key"),
            "=",
            shorten(clean(show_value(value)), _VALUE_CHARACTERS),
            class_="chip",
        )
        for name, value in configuration.items()
    ]
    return join([join(part, " ") for part in parts])


@dataclass(frozen=True, slots=True)
class Tile:
    """One of the numbers beside the answer; ``below`` stands smaller under it."""

    term: str
    value: str
    below: str = ""


def _below(tile: Tile) -> Html | None:
    return el("dd", tile.below, class_="below") if tile.below else None


def tiles(report: ReportInput, rows: Sequence[ArmRow], scale: Scale) -> list[Tile]:
    """The handful of numbers that stand beside the answer."""
    found: list[Tile] = []
    claimed = [r for r in rows if r.phase is not Phase.SEARCH] or list(rows)
    for role, name in ((Role.BASELINE, "baseline"), (Role.WINNER, "winner")):
        row = next((r for r in claimed if r.role is role), None)
        if row is not None and row.summary is not None:
            label = "Default" if row.name == "default" else name.capitalize()
            label = (
                "Recommended" if role is Role.WINNER and report.spec.kind is Kind.TUNE else label
            )
            launches = count(row.summary.n, "launch", "launches")
            found.append(Tile(label, scale.quantity(row.summary.median), f"median of {launches}"))
            if role is Role.WINNER and row.claim is not None:
                interval = change_interval(row.claim.ci)
                term = f"Change, {_confidence(report)} interval"
                found.append(Tile(term, change(row.claim.ratio), interval))
    made = report.conclusion.launches if report.conclusion else len(report.samples)
    found.append(Tile("Launches", f"{made:,}"))
    if report.spec.kind is Kind.TUNE:
        tried = len({s.launch.configuration for s in report.samples})
        number = report.conclusion.configurations if report.conclusion else tried
        found.append(Tile("Configurations", f"{number:,}"))
    found.append(Tile("Time spent", show_duration(report.elapsed_s)))
    return found


def summaries(rows: Sequence[ArmRow], scale: Scale, metric: Metric) -> Html:
    """Five numbers, mean and spread of the arms that the answer is about, as in the mOS talk."""
    chosen = [r for r in rows if r.phase is not Phase.SEARCH and r.summary]
    if not chosen:
        chosen = [r for r in rows if r.summary][:8]
    unit = f" in {scale.unit}" if scale.unit else ""
    heads = ("n", "min", "q1", "median", "q3", "max", "mean", "sd", "sem")
    return el(
        "div",
        el(
            "table",
            el("caption", f"{label_of(metric)}{unit}"),
            el(
                "thead",
                el(
                    "tr",
                    el("th", "Arm", scope="col"),
                    [el("th", head, scope="col", class_="num") for head in heads],
                ),
            ),
            el("tbody", [_summary_row(row, scale, heads) for row in chosen[:_SUMMARIES_SHOWN]]),
        ),
        class_="scroll",
        tabindex=0,
        role="region",
        aria_label="Five-number summaries",
    )


_SUMMARIES_SHOWN = 24


def _summary_row(row: ArmRow, scale: Scale, heads: Sequence[str]) -> Html:
    cells = [el("td", _cell(row, head, scale), class_="num") for head in heads]
    name = el("th", arm_name(row), scope="row", class_=f"role-{row.role.value}")
    return el("tr", name, cells)


def arm_name(row: ArmRow) -> Html:
    """An arm as its settings, or by name where the name says more."""
    if row.name in (str(row.configuration), "default"):
        return chips(row.configuration)
    return el("bdi", shorten(clean(row.name), _VALUE_CHARACTERS), class_="arm")


def _cell(row: ArmRow, head: str, scale: Scale) -> str:
    if row.summary is None:
        return "0" if head == "n" else ""
    value = getattr(row.summary, head)
    if head == "n":
        return f"{value:,}"
    return "" if value is None else scale.number(value)


def configurations(report: ReportInput, rows: Sequence[ArmRow], scale: Scale) -> Html:
    """Every arm in every phase; scripts make it sort, filter and export."""
    unit = f" ({scale.unit})" if scale.unit else ""
    tune = report.spec.kind is Kind.TUNE
    heads: list[tuple[str, str, str, bool]] = [("name", "Configuration", "", False)]
    if tune:
        heads.append(("phase", "Phase", "", False))
    heads += [
        ("ratio", "Change", "against the baseline of the same phase", True),
        ("verdict", "Verdict", "of the claim; empty where nothing is claimed", False),
        ("n", "n", "launches with a value", True),
    ]
    heads += [
        (key, f"{key}{unit}", "", True)
        for key in ("min", "q1", "median", "q3", "max", "mean", "sd", "sem")
    ]
    heads += [
        ("timed_out", "timed out", "launches that ran into their time-out", True),
        ("failed", "failed", "launches that failed, hit a limit or gave no value", True),
    ]
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
        el("tr", [_table_cell(row, key, number, scale) for key, _, _, number in heads], data_row=i)
        for i, row in enumerate(rows)
    ]
    return el(
        "div",
        el("div", class_="tools", id="table-tools", hidden=True),
        el(
            "div",
            el(
                "table",
                el("caption", "All configurations", class_="quiet"),
                el("thead", el("tr", head_cells)),
                el("tbody", body),
                id="all",
            ),
            class_="scroll tall",
            tabindex=0,
            role="region",
            aria_label="Table of all configurations",
        ),
        el("p", "", id="table-status", class_="quiet-status", role="status"),
    )


def _table_cell(row: ArmRow, key: str, number: bool, scale: Scale) -> Html:
    if key == "name":
        return el("th", arm_name(row), scope="row", class_=f"role-{row.role.value}")
    if key == "phase":
        return el("td", PHASES[row.phase])
    if key == "ratio":
        shown = "" if row.ratio is None else change(row.ratio)
        return el("td", shown, class_="num")
    if key == "verdict":
        word = row.claim.verdict.value if row.claim else ""
        return el("td", el("span", word, class_=f"word tone-{word}") if word else None)
    if key == "timed_out":
        return el("td", _count_or_dash(row.having(State.CENSORED)), class_="num")
    if key == "failed":
        bad = row.having(State.FAILED) + row.having(State.ABSENT)
        return el("td", _count_or_dash(bad), class_="num")
    return el("td", _cell(row, key, scale), class_="num" if number else None)


def _count_or_dash(number: int) -> str:
    return f"{number:,}" if number else "\u2013"


def grants(all_of: Sequence[GrantTally], winner: Sequence[GrantTally]) -> Html:
    """What was asked of the system, and what it gave."""
    if not all_of:
        return el("p", "No setting was changed: every launch ran as the program finds the system.")
    parts: list[Html] = []
    if winner:
        parts += [
            el("h3", "The recommended configuration"),
            _grant_table(winner, "Grants of the recommended configuration"),
            el("h3", "All launches"),
        ]
    parts.append(_grant_table(all_of, "Grants of all launches"))
    parts.append(
        el(
            "dl",
            [el("div", el("dt", level), el("dd", meaning)) for level, meaning in _LEVELS],
            class_="legend",
        )
    )
    return join(parts)


def _grant_table(tallies: Sequence[GrantTally], label: str) -> Html:
    words = [Granted.GRANTED, Granted.DEGRADED, Granted.UNVERIFIED]
    if any(t.counts.get(Granted.REFUSED) for t in tallies):
        words.append(Granted.REFUSED)
    return el(
        "div",
        el(
            "table",
            el("caption", label, class_="quiet"),
            el(
                "thead",
                el(
                    "tr",
                    el("th", "Setting", scope="col"),
                    el("th", "Values", scope="col"),
                    el("th", "Evidence", scope="col"),
                    [el("th", word.value, scope="col", class_="num") for word in words],
                    el("th", "Reason, and what was read back", scope="col"),
                ),
            ),
            el("tbody", [_grant_row(t, words) for t in tallies]),
        ),
        class_="scroll",
        tabindex=0,
        role="region",
        aria_label=label,
    )


def _grant_row(tally: GrantTally, words: Sequence[Granted]) -> Html:
    values = ", ".join(shorten(v, 60) for v in tally.values[:12])
    if len(tally.values) > 12:
        values += f" and {len(tally.values) - 12} more"
    counts = [
        el(
            "td",
            _count_or_dash(tally.counts.get(word, 0)),
            class_=f"num grant-{word.value}" if tally.counts.get(word) else "num",
        )
        for word in words
    ]
    said = [
        el("div", f"{shorten(reason, 240)}", el("span", f" {number}\u00d7", class_="times"))
        for reason, number in tally.reasons[:3]
    ]
    seen = [el("div", shorten(what, 120), class_="observed") for what, _ in tally.observed[:3]]
    return el(
        "tr",
        el("th", el("bdi", clean(tally.name)), scope="row"),
        el("td", el("bdi", values), class_="values"),
        el("td", tally.level.value),
        counts,
        el("td", said, seen, class_="reasons"),
    )


def noise(figure: NoiseFigure | None, chart: Html | None) -> Html:
    """How much the machine varies by itself."""
    if figure is None:
        return el("p", "Not measured: the baseline ran fewer than two times.")
    facts: list[tuple[str, str]] = []
    if figure.floor is not None:
        facts.append(
            (
                "Two identical arms differ by",
                f"{change(figure.floor.ratio)} ({change_interval(figure.floor.ci)}; "
                f"{count(figure.floor.blocks, 'pair')})",
            )
        )
    else:
        facts.append(("Two identical arms", "not measured in this study (--null does)"))
    if figure.spread_percent is not None:
        facts.append((f"Spread of {figure.baseline} (sd / mean)", f"{figure.spread_percent:.2f} %"))
    if figure.drift_percent is not None:
        drift = change(1 + figure.drift_percent / 100)
        facts.append(("Drift, last third against first", drift))
    facts.append(("Counts as the same", f"within {figure.margin * 100:g} %"))
    return join(definitions(facts), chart)


def machine(report: ReportInput) -> Html:
    """What the study ran on."""
    if report.machine is None:
        facts = [("Processor", clean(s.model)) for s in report.strata[:1] if s.model]
        facts += [("Kernel", clean(s.kernel)) for s in report.strata[:1]]
        return join(definitions(facts), el("p", "The machine's document is not in the store."))
    m = report.machine
    facts = [
        ("Processor", clean(m.model)),
        ("CPUs", _cpus(m)),
        ("Memory", _memory(m)),
        ("Kernel", f"{clean(m.kernel)} ({clean(m.arch)})"),
        ("Virtual", f"yes, under {clean(m.hypervisor)}" if m.hypervisor else "no"),
        ("Control groups", clean(m.cgroup)),
        ("Transparent huge pages", clean(m.huge_pages.enabled or "not in this kernel")),
        ("Rights", "root" if m.rights.uid == 0 else "user without root"),
    ]
    state = [(clean(name), clean(value)) for name, value in sorted(m.default_state.items())]
    flags = " ".join(clean(flag) for flag in sorted(m.flags))
    return join(
        definitions(facts),
        el("details", el("summary", "State that the default stands for"), definitions(state))
        if state
        else None,
        el("details", el("summary", f"Processor features ({len(m.flags)})"), el("p", flags))
        if flags
        else None,
    )


def script(report: ReportInput) -> Html:
    """What runs the winner without assay."""
    body = report.script
    if not body and report.conclusion and report.conclusion.recommendation:
        body = report.conclusion.recommendation.script
    again = None
    if report.spec.kind is Kind.TUNE and body:
        again = el(
            "p",
            "With assay: ",
            el("code", f"assay run --from {clean(report.study_id)} -- COMMAND"),
        )
    if not body:
        return el("p", "There is none: the default is kept, or nothing was decided.")
    hidden = clean(body, "\n\t") != body
    return join(
        el(
            "div",
            el("div", class_="copy", hidden=True, data_copy="script"),
            el("pre", el("code", text(body, "\n\t")), tabindex=0, id="script-text"),
            class_="code",
        ),
        el(
            "p",
            "It holds characters that cannot be seen; they are written out here as escapes. "
            "Use `assay run --from` or the raw data instead of copying.",
            class_="warn",
        )
        if hidden
        else None,
        again,
    )


def method(report: ReportInput, evidence: Sequence[EvidenceTally]) -> Html:
    """How it was measured."""
    spec = report.spec
    stages = Counter(s.launch.stage for s in report.samples)
    outcomes = Counter(s.outcome for s in report.samples)
    blocks = len({s.launch.block for s in report.samples})
    claims = report.conclusion.claims if report.conclusion else ()
    facts = [
        ("Command", join(el("bdi", command(spec), class_="command"))),
        ("Working folder", clean(spec.workload.cwd) if spec.workload.cwd else None),
        ("Objective", f"{label_of(report.metric)}, {report.metric.goal.value} is better"),
        ("Launches", _stage_words(stages, spec.kind)),
        ("Outcomes", ", ".join(f"{n:,} {_OUTCOMES[o]}" for o, n in outcomes.most_common())),
        ("Blocks", f"{blocks:,}: in each, every arm still in the race runs once, in random order"),
        ("Claims rest on", _claim_words(claims) if claims else None),
        ("Counts as the same", f"within {spec.margin * 100:g} %"),
        ("Wrong claims accepted", f"{spec.alpha * 100:g} %, over all claims, at every look"),
        ("Budget", _budget(spec)),
        ("Seed", str(spec.seed)),
        ("Stopped because", clean(report.conclusion.stopped) if report.conclusion else None),
        ("Started", _utc(report.created_at)),
        ("Time spent", show_duration(report.elapsed_s)),
        ("Measured by", f"assay {clean(report.engine)}"),
    ]
    return join(
        definitions([(term, value) for term, value in facts if value]),
        _space_table(spec),
        _evidence_table(evidence),
        _strata_table(report),
    )


_OUTCOMES = {
    Outcome.OK: "ok",
    Outcome.FAILED: "failed",
    Outcome.TIMED_OUT: "timed out",
    Outcome.LIMIT: "stopped at a limit",
}


def raw(report: ReportInput) -> Html:
    """Where the samples are."""
    return join(
        el(
            "p",
            f"{count(len(report.samples), 'sample')} with every metric, grant and piece of evidence "
            "are inside this file, as JSON in the element with the id ",
            el("code", "assay-samples"),
            ".",
        ),
        el("div", id="raw-tools", class_="tools", hidden=True),
    )


def command(spec: StudySpec) -> str:
    """The command as one would type it, safe to show."""
    import shlex

    return clean(shlex.join(spec.workload.argv))


def subject(spec: StudySpec) -> Html:
    """What was run: the command, or the commands that were compared."""
    if spec.arms and all("command" in arm.configuration for arm in spec.arms):
        names = [shorten(clean(arm.name), _COMMAND_CHARACTERS) for arm in spec.arms[:_NOTES_SHOWN]]
        more = len(spec.arms) - len(names)
        lines = [el("div", el("code", el("bdi", name), class_="command")) for name in names]
        return join(lines, el("div", f"and {more} more") if more else None)
    return folded_command(spec)


def folded_command(spec: StudySpec) -> Html:
    """The command, folded where it is very long."""
    whole = command(spec)
    if len(whole) <= _COMMAND_CHARACTERS:
        return el("code", el("bdi", whole), class_="command")
    short = shorten(whole, _COMMAND_CHARACTERS // 2)
    return el(
        "details",
        el("summary", el("code", el("bdi", short), class_="command")),
        el("code", el("bdi", whole), class_="command whole"),
    )


def definitions(facts: Iterable[tuple[str, Child]]) -> Html:
    """Terms and what they are."""
    return el(
        "dl",
        [el("div", el("dt", term), el("dd", el("bdi", value))) for term, value in facts],
        class_="facts",
    )


def _confidence(report: ReportInput) -> str:
    return f"{(1 - report.spec.alpha) * 100:g}{NBSP}%"


def _cpus(m: Machine) -> str:
    usable = ranges(m.allowed)
    nodes = count(len(m.nodes), "NUMA node")
    cores = len({cpu.core for cpu in m.cpus})
    return (
        f"{count(len(m.cpus), 'CPU')} on {count(cores, 'core')}, {nodes}; "
        f"assay may use {usable or 'none'}"
    )


def _memory(m: Machine) -> str:
    whole = show_bytes(m.memory_bytes)
    if m.memory_limit_bytes is None:
        return whole
    return f"{whole}, of which the control group leaves {show_bytes(m.memory_limit_bytes)}"


def _stage_words(stages: Counter[Stage], kind: Kind) -> str:
    total = sum(stages.values())
    if kind is not Kind.TUNE:
        return f"{total:,}"
    names = {Stage.SURVEY.value: "survey (times not used)", **STAGE_NAMES}
    parts = [f"{stages[stage]:,} {names[stage.value]}" for stage in Stage if stages[stage]]
    return f"{total:,}: {', '.join(parts)}"


def _claim_words(claims: Sequence[object]) -> str:
    pairs = sorted({getattr(c, "blocks", 0) for c in claims})
    numbers = str(pairs[0]) if len(pairs) == 1 else f"{pairs[0]} to {pairs[-1]}"
    methods = {"mean": "geometric mean of paired ratios", "median": "median of paired ratios"}
    kinds = sorted({methods.get(m, clean(m)) for m in (getattr(c, "method", "") for c in claims)})
    return f"{numbers} complete pairs each; {', '.join(kinds)}"


def _budget(spec: StudySpec) -> str:
    parts = []
    if spec.budget.time_s is not None:
        parts.append(show_duration(spec.budget.time_s))
    if spec.budget.launches is not None:
        parts.append(count(spec.budget.launches, "launch", "launches"))
    return " or ".join(parts) or "none"


def _utc(seconds: float) -> str:
    moment = datetime.datetime.fromtimestamp(seconds, datetime.UTC)
    return moment.strftime("%Y-%m-%d %H:%M:%S UTC")


def _space_table(spec: StudySpec) -> Html | None:
    if not spec.space.parameters:
        return None
    rows = [
        el(
            "tr",
            el("th", el("bdi", clean(p.name)), scope="row"),
            el("td", el("bdi", shorten(clean(str(p.domain)), 200)), class_="values"),
            el("td", clean(p.reason) if p.reason else "asked for"),
            el("td", clean(p.when) if p.when else "\u2013"),
        )
        for p in spec.space.parameters
    ]
    heads = ("Setting", "Tried", "Why", "Only when")
    extra = [el("li", el("code", clean(c))) for c in spec.space.constraints]
    return join(
        el("h3", "What was searched"),
        _plain_table("Settings that were searched", heads, rows),
        el("p", "Every configuration satisfies:") if extra else None,
        el("ul", extra) if extra else None,
    )


def _evidence_table(evidence: Sequence[EvidenceTally]) -> Html | None:
    if not evidence:
        return None
    rows = [
        el(
            "tr",
            el("th", el("bdi", clean(e.kind.replace("_", " "))), scope="row"),
            el("td", f"{e.samples:,}", class_="num"),
            el("td", e.shown(e.median), class_="num"),
            el("td", e.shown(e.highest), class_="num"),
            el("td", "outside" if e.outside else "the configuration"),
            el("td", shorten(clean(e.note), 160) if e.note else "\u2013"),
        )
        for e in evidence
    ]
    heads = ("Evidence", "Launches", "Median", "Highest", "Cause", "Note")
    return join(el("h3", "What was watched"), _plain_table("Evidence", heads, rows, (1, 2, 3)))


def _strata_table(report: ReportInput) -> Html | None:
    if len(report.strata) < 2:
        return None
    rows = [
        el(
            "tr",
            el("th", str(s.number), scope="row"),
            el("td", clean(s.kernel)),
            el("td", ranges(s.cpus)),
            el("td", clean(s.engine)),
            el("td", clean(s.program_digest or "\u2013")),
        )
        for s in report.strata
    ]
    heads = ("Sitting", "Kernel", "CPUs", "assay", "Program")
    return join(el("h3", "Sittings"), _plain_table("Sittings", heads, rows))


def _plain_table(
    label: str, heads: Sequence[str], rows: Sequence[Html], numeric: Sequence[int] = ()
) -> Html:
    return el(
        "div",
        el(
            "table",
            el("caption", label, class_="quiet"),
            el(
                "thead",
                el(
                    "tr",
                    [
                        el("th", head, scope="col", class_="num" if i in numeric else None)
                        for i, head in enumerate(heads)
                    ],
                ),
            ),
            el("tbody", rows),
        ),
        class_="scroll",
        tabindex=0,
        role="region",
        aria_label=label,
    )
