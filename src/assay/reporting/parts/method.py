"""Method: description of the measurement, and the script of the recommendation."""

from __future__ import annotations

import datetime
import shlex
from collections import Counter
from collections.abc import Sequence

from assay.machine.cpulist import format_list
from assay.records import Claim, Kind, Outcome, Parameter, Stage, Statistic, StudySpec
from assay.records.configuration import show_value
from assay.records.shell import command_text
from assay.reporting.convergence import STAGE_NAMES
from assay.reporting.drawn import DrawnLaunches
from assay.reporting.evidence import EvidenceTally
from assay.reporting.formatting import compared_label, duration, shorten
from assay.reporting.inputs import ReportInput
from assay.reporting.markup import Html, el, join, text
from assay.reporting.parts.common import definitions, plain_table
from assay.units import show_count
from assay.untrusted import clean
from assay.wording.disturbance import disturbers_words, mostly_disturbed
from assay.wording.endings import shown_ending
from assay.wording.launch_notes import cross_environment_words, interference_words
from assay.wording.requirement import required_text
from assay.wording.space import switching_words
from assay.wording.warm_start import warm_start_announcement

_COMMAND_CHARACTERS = 400
"""Maximum length of an unfolded command."""


def script(report: ReportInput) -> Html:
    """Return the script that runs the recommendation without assay."""
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
    if report.spec.in_process:
        return el("p", "No script: the trials ran within a program that applies settings itself.")
    if not body:
        return el("p", "No script: the default is kept, or the study has no answer.")
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
            "The script contains invisible characters, which are shown as escapes here. "
            "Use `assay run --from` or the raw data instead of copying it.",
            class_="warn",
        )
        if hidden
        else None,
        again,
    )


def method(
    report: ReportInput, evidence: Sequence[EvidenceTally], lost: Sequence[EvidenceTally] = ()
) -> Html:
    """Return the description of the measurement.

    Args:
        report: input of the report.
        evidence: evidence of the launches in figures.
        lost: evidence of the left-out launches.
    """
    spec = report.spec
    stages = Counter(s.launch.stage for s in report.samples)
    outcomes = Counter(s.outcome for s in report.samples)
    blocks = len({s.launch.block for s in report.samples})
    claims = report.conclusion.claims if report.conclusion else ()
    compared = compared_label(report.metric, spec.statistic)
    better = "lower" if spec.statistic is Statistic.SPREAD else report.metric.goal.value
    of_stratum = f" (stratum {report.strata[-1].number})" if len(report.strata) > 1 else ""
    facts = [
        ("Command", join(el("bdi", command(spec), class_="command"))),
        ("Build command", _built_by(spec)),
        ("Working directory", clean(spec.workload.cwd) if spec.workload.cwd else None),
        ("Objective", f"{compared}, {better} is better"),
        ("Launches", f"{_stage_words(stages, spec.kind)}{of_stratum}"),
        ("Left out", _left_out_words(report)),
        ("Disturbed", _disturbed_words(report)),
        ("Outcomes", ", ".join(f"{n:,} {_OUTCOMES[o]}" for o, n in outcomes.most_common())),
        ("Processes", _processes(report)),
        ("Blocks", f"{blocks:,}; in each, every remaining arm runs once, in random order"),
        ("End of launches", _end_of_launches(spec)),
        ("Fidelity", _fidelity(spec)),
        ("Confirms", _cross_environment_text(report)),
        ("Concurrent launches", _side_by_side(report)),
        ("Changes of settings", _switching(report)),
        ("Basis of claims", _claim_words(claims) if claims else None),
        ("Margin of equivalence", f"within {spec.margin * 100:g} %"),
        ("Requirements", clean(required_text(spec)) if spec.requirements else None),
        ("Accepted error rate", _errors(spec)),
        ("Design", _design(spec)),
        ("Warm start", _warm_start(report)),
        ("Budget", _budget(spec)),
        ("Seed", str(spec.seed)),
        ("Reason of the end", _ending(report)),
        ("Started", utc(report.created_at)),
        ("Time spent", f"{duration(report.elapsed_s)}{', over all strata' if of_stratum else ''}"),
        ("Measured by", f"assay {clean(report.assay_version)}"),
    ]
    return join(
        definitions([(term, value) for term, value in facts if value]),
        _space_table(spec),
        _evidence_table(evidence),
        _evidence_table(lost, " of left-out launches"),
        _strata_table(report),
    )


def _end_of_launches(spec: StudySpec) -> str | None:
    """Return the rule by which assay ended launches; ``None`` if programs ended by themselves."""
    if spec.until is None:
        return None
    if spec.until.steady_steps is None:
        return "by assay, after a number of steady steps that follows from earlier blocks"
    return f"by assay, after {spec.until.steady_steps:,.0f} steady steps"


def _fidelity(spec: StudySpec) -> str | None:
    """Return the levels of the fidelity; ``None`` without one."""
    if spec.fidelity is None:
        return None
    low = ", ".join(map(show_value, spec.fidelity.low))
    full = show_value(spec.fidelity.full)
    return clean(f"{spec.fidelity.name}: the search begins with {low}; claims rest on {full}")


def _errors(spec: StudySpec) -> str:
    whole = f"{spec.alpha * 100:g} %"
    if not spec.requirements:
        return f"{whole} over all claims, at every interim analysis"
    if spec.kind is Kind.MEASURE:
        return f"{whole} over all requirements, at every interim analysis"
    return f"{whole} at every interim analysis: half for all claims, half for all requirements"


def _warm_start(report: ReportInput) -> str | None:
    """Return the contribution of earlier studies, also without a conclusion yet."""
    if report.conclusion is not None and report.conclusion.warm_start:
        return clean(report.conclusion.warm_start)
    return (
        f"The study {clean(warm_start_announcement(report.spec.earlier_studies))}."
        if report.spec.earlier_studies
        else None
    )


_ARMS_SHOWN = 5
"""Maximum number of commands in the header of a comparison."""

_OUTCOMES = {
    Outcome.OK: "ok",
    Outcome.ENOUGH: "ended by assay with enough values",
    Outcome.FAILED: "failed",
    Outcome.TIMED_OUT: "timed out",
    Outcome.LIMIT: "stopped at a limit",
}


def raw(report: ReportInput, drawn: DrawnLaunches) -> Html:
    """Return the location of the samples."""
    count = show_count(len(report.samples), "sample")
    everything = None
    if drawn.numbers is not None:
        count = f"{drawn.count:,} of {count}"
        everything = el(
            "p",
            "All samples are in the file of ",
            el("code", f"assay study export {clean(report.study_id)} -o FILE.csv"),
            ".",
        )
    return join(
        el(
            "p",
            f"This file contains {count} with all metrics, "
            "grants and evidence, as JSON in the element ",
            el("code", "assay-samples"),
            "; its attribute ",
            el("code", "data-encoding"),
            " marks gzip in base64.",
        ),
        everything,
        el("div", id="raw-tools", class_="tools", hidden=True),
    )


def command(spec: StudySpec) -> str:
    """Return the command as typed by the user, safe for display."""
    return clean(command_text(spec.workload.argv))


def _built_by(spec: StudySpec) -> Html | None:
    """Return the build command as typed by the user."""
    recipe = spec.workload.build
    if recipe is None:
        return None
    return join(el("bdi", clean(shlex.join(recipe.argv)), class_="command"))


def subject(spec: StudySpec) -> Html:
    """Return the command, or the compared commands."""
    if spec.arms and all("command" in arm.configuration for arm in spec.arms):
        names = [shorten(clean(arm.name), _COMMAND_CHARACTERS) for arm in spec.arms[:_ARMS_SHOWN]]
        more = len(spec.arms) - len(names)
        lines = [el("div", el("code", el("bdi", name), class_="command")) for name in names]
        return join(lines, el("div", f"and {more} more") if more else None)
    return folded_command(spec)


def folded_command(spec: StudySpec) -> Html:
    """Return the command, folded if it is very long."""
    whole = command(spec)
    if len(whole) <= _COMMAND_CHARACTERS:
        return el("code", el("bdi", whole), class_="command")
    short = shorten(whole, _COMMAND_CHARACTERS // 2)
    return el(
        "details",
        el("summary", el("code", el("bdi", short), class_="command")),
        el("code", el("bdi", whole), class_="command whole"),
    )


def _stage_words(stages: Counter[Stage], kind: Kind) -> str:
    total = sum(stages.values())
    if kind is not Kind.TUNE:
        return f"{total:,}"
    names = {
        Stage.SURVEY.value: "survey (times not used)",
        Stage.SCREEN.value: "screening at low fidelity",
        **STAGE_NAMES,
    }
    parts = [f"{stages[stage]:,} {names[stage.value]}" for stage in Stage if stages[stage]]
    return f"{total:,}: {', '.join(parts)}"


def _ending(report: ReportInput) -> str | None:
    """Return the reason of the end; ``None`` without a conclusion."""
    if report.conclusion is None:
        return None
    stored, spec = report.conclusion.stop_reason, report.spec
    return clean(shown_ending(stored, report.study_id, in_process=spec.in_process))


def _side_by_side(report: ReportInput) -> str | None:
    """Return the slots of the CPUs and the interference of concurrent launches."""
    found = report.conclusion.interference if report.conclusion else None
    if found is None:
        return None
    slots = f"every launch is confined to one of {found.concurrent_launches} slots"
    words = f"{slots}; {interference_words(found)}"
    if found.sequential_reason is not None:
        return f"{words}; the search ran sequentially, because {found.sequential_reason}"
    return f"{words}; the confirmation ran without concurrent launches"


def _cross_environment_text(report: ReportInput) -> str | None:
    """Return the confirmed recommendation and the saving by searching elsewhere."""
    found = report.conclusion.cross_environment if report.conclusion else None
    return clean(cross_environment_words(found)) if found is not None else None


def _switching(report: ReportInput) -> str | None:
    """Return the cost of hard-to-change settings."""
    found = report.conclusion.switching if report.conclusion else None
    return clean(switching_words(found)) if found is not None and found.changes else None


def _processes(report: ReportInput) -> str | None:
    """Return the number of the user's processes that ran the trials of a session."""
    found = {s.launch.process for s in report.samples} - {None}
    if not found:
        return None
    count = show_count(len(found), "process", "processes")
    return f"{count} of the user ran the trials"


def _claim_words(claims: Sequence[Claim]) -> str:
    pairs = sorted({claim.blocks for claim in claims})
    numbers = str(pairs[0]) if len(pairs) == 1 else f"{pairs[0]} to {pairs[-1]}"
    methods = {"mean": "geometric mean of paired ratios", "median": "median of paired ratios"}
    methods["spread"] = "mean ratio of the spreads within a block"
    kinds = sorted({methods.get(claim.method, clean(claim.method)) for claim in claims})
    one = pairs == [1]
    unit = "pair" if one else "pairs"
    unit += " of applications" if any(claim.applications for claim in claims) else ""
    if any(claim.processes for claim in claims):
        unit = "process" if one else "processes"
    return f"{numbers} complete {unit} each; {', '.join(kinds)}"


def _design(spec: StudySpec) -> str | None:
    """Return the design of a sweep."""
    design = spec.design
    if design is None:
        return None
    words = [f"{design.kind.value}, {show_count(len(spec.arms), 'cell')}"]
    words += [f"{show_count(design.repeats, 'block')} requested"] if design.repeats else []
    words += [clean(text) for text in design.generators]
    return "; ".join([*words, *map(clean, design.notes)])


def _budget(spec: StudySpec) -> str:
    parts = []
    if spec.budget.time_s is not None:
        parts.append(duration(spec.budget.time_s))
    if spec.budget.launches is not None:
        parts.append(show_count(spec.budget.launches, "launch", "launches"))
    return " or ".join(parts) or "none"


def utc(seconds: float) -> str:
    """Return a time, given in seconds since 1970, in UTC."""
    moment = datetime.datetime.fromtimestamp(seconds, datetime.UTC)
    return moment.strftime("%Y-%m-%d %H:%M:%S UTC")


def _domain(parameter: Parameter) -> str:
    whole = clean(str(parameter.domain))
    return shorten(whole.replace(",", ", "), 200)


def _space_table(spec: StudySpec) -> Html | None:
    named = _named_table(spec)
    if not spec.space.parameters:
        return named
    rows = [
        el(
            "tr",
            el("th", el("bdi", clean(p.name)), scope="row"),
            el("td", el("bdi", _domain(p)), class_="values"),
            el("td", clean(p.reason) if p.reason else "requested"),
            el("td", clean(p.condition) if p.condition else "\u2013"),
        )
        for p in spec.space.parameters
    ]
    heads = ("Setting", "Values", "Reason", "Condition")
    extra = [el("li", el("code", clean(c))) for c in spec.space.constraints]
    return join(
        el("h3", "Varied settings" if spec.kind is Kind.SWEEP else "Search space"),
        plain_table("Search space", heads, rows),
        el("p", "Every configuration satisfies:") if extra else None,
        el("ul", extra) if extra else None,
        named,
    )


def _named_table(spec: StudySpec) -> Html | None:
    """Return the named configurations with their settings."""
    if not spec.space.named_configurations:
        return None
    rows = [
        el(
            "tr",
            el("th", el("bdi", clean(named.name)), scope="row"),
            el("td", el("bdi", clean(str(named.configuration))), class_="values"),
        )
        for named in spec.space.named_configurations
    ]
    return join(
        el("h3", "Named configurations"),
        plain_table("Named configurations", ("Name", "Settings"), rows),
    )


def _left_out_words(report: ReportInput) -> str | None:
    """Return the number of left-out launches and the threshold."""
    lost = sum(not report.counts(sample) for sample in report.samples)
    if not lost or report.spec.disturbed_above is None:
        return None
    return (
        f"{show_count(lost, 'launch', 'launches')} in {show_count(len(report.left_out), 'block')}: "
        f"other processes used more than {100 * report.spec.disturbed_above:g} % of the CPUs"
    )


def _disturbed_words(report: ReportInput) -> str | None:
    """Return the number of disturbed blocks in the figures."""
    found = report.conclusion
    if found is None or not mostly_disturbed(found):
        return None
    return (
        f"{found.disturbed_blocks:,} of {show_count(found.blocks, 'block')}, too many to leave "
        f"out{clean(disturbers_words(found.disturbers))}"
    )


def _evidence_table(evidence: Sequence[EvidenceTally], of: str = "") -> Html | None:
    if not evidence:
        return None
    rows = [
        el(
            "tr",
            el("th", el("bdi", e.label), scope="row"),
            el("td", f"{e.samples:,}", class_="num"),
            el("td", e.shown(e.median), class_="num"),
            el("td", e.shown(e.highest), class_="num"),
            el("td", "outside" if e.external else "the configuration"),
            el("td", shorten(clean(e.note), 160) if e.note else "\u2013"),
        )
        for e in evidence
    ]
    heads = ("Evidence", "Launches", "Median", "Highest", "Cause", "Note")
    title = f"Evidence{of}"
    return join(el("h3", title), plain_table(f"Evidence{of}", heads, rows, (1, 2, 3)))


def _strata_table(report: ReportInput) -> Html | None:
    if len(report.strata) < 2:
        return None
    rows = [
        el(
            "tr",
            el("th", str(s.number), scope="row"),
            el("td", clean(s.kernel)),
            el("td", format_list(s.cpus)),
            el("td", clean(s.assay_version)),
            el("td", clean(s.program_digest or "\u2013")),
        )
        for s in report.strata
    ]
    heads = ("Stratum", "Kernel", "CPUs", "assay", "Program")
    return join(el("h3", "Strata"), plain_table("Strata", heads, rows))
