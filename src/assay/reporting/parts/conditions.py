"""Conditions: the noise floor and the machine."""

from __future__ import annotations

from assay.machine.cpulist import format_list
from assay.machine.document import Machine
from assay.machine.quota import describe_quota
from assay.records import Kind
from assay.reporting.formatting import change, change_interval
from assay.reporting.inputs import ReportInput
from assay.reporting.markup import Html, el, join
from assay.reporting.noise_floor import NoiseFigure
from assay.reporting.parts.common import definitions
from assay.units import show_bytes, show_count
from assay.untrusted import clean

_NO_NULL = "not measured in this study (option --null)"


def noise(
    report: ReportInput,
    figure: NoiseFigure | None,
    chart: Html | None,
    machine_floor: tuple[str, str] | None = None,
) -> Html:
    """Return the variation of the machine.

    Args:
        report: input of the report.
        figure: data from the launches of the study.
        chart: picture of them.
        machine_floor: calibrated noise floor, if the study did not run identical arms.
    """
    if figure is None:
        few = "fewer than two launches of the baseline have a value"
        lost = f"{few} and are undisturbed" if report.left_out else few
        return el("p", f"Unknown: {lost}.")
    facts: list[tuple[str, str]] = []
    if figure.floor is not None:
        facts.append(
            (
                "Two identical arms differ by",
                f"{change(figure.floor.ratio)} ({change_interval(figure.floor.ci)}; "
                f"{show_count(figure.floor.blocks, 'pair')})",
            )
        )
    elif machine_floor is not None:
        facts.append(machine_floor)
    else:
        ran = report.spec.null or report.spec.kind is Kind.CALIBRATE
        few = "no interval: too few complete blocks" if ran else _NO_NULL
        facts.append(("Two identical arms", few))
    if figure.spread_percent is not None:
        facts.append((f"Spread of {figure.baseline} (sd / mean)", f"{figure.spread_percent:.2f} %"))
    if figure.drift_percent is not None:
        drift = change(1 + figure.drift_percent / 100)
        facts.append(("Drift, last third against first", drift))
    facts.append(("Margin of equivalence", f"within {figure.margin * 100:g} %"))
    if figure.beyond:
        facts.append(("Outside the axis", _beyond(figure)))
    return join(definitions(facts), chart)


def _beyond(figure: NoiseFigure) -> str:
    """Return the meaning of the triangles at the edge."""
    ratios = sorted(1 + percent / 100 for percent in figure.beyond)
    several = len(ratios) > 1
    reach = change_interval((ratios[0], ratios[-1])) if several else change(ratios[0])
    number = show_count(len(ratios), "launch", "launches")
    return f"{number} (triangles at the edge): {reach}"


def machine(report: ReportInput) -> Html:
    """Return the machine of the study."""
    if report.machine is None:
        facts = [("Processor", clean(s.model)) for s in report.strata[-1:] if s.model]
        facts += [("Kernel", clean(s.kernel)) for s in report.strata[-1:]]
        return join(definitions(facts), el("p", "The store contains no machine document."))
    m = report.machine
    facts = [
        ("Processor", clean(m.model)),
        ("CPUs", _cpus(m)),
        *([("CPU time", describe_quota(m.cpu_limit, None))] if m.cpu_limit is not None else []),
        ("Memory", _memory(m)),
        ("Kernel", f"{clean(m.kernel)} ({clean(m.arch)})"),
        ("Virtual", f"yes, under {clean(m.hypervisor)}" if m.hypervisor else "no"),
        ("Control groups", clean(m.cgroup)),
        ("Transparent huge pages", clean(m.huge_pages.enabled or "not in this kernel")),
        ("Privileges", "root" if m.rights.uid == 0 else "unprivileged user"),
    ]
    state = [(clean(name), clean(value)) for name, value in sorted(m.default_state.items())]
    flags = " ".join(clean(flag) for flag in sorted(m.flags))
    return join(
        definitions(facts),
        el("details", el("summary", "Default state of the machine"), definitions(state))
        if state
        else None,
        el("details", el("summary", f"Processor features ({len(m.flags)})"), el("p", flags))
        if flags
        else None,
    )


def _cpus(m: Machine) -> str:
    usable = format_list(m.allowed_cpus)
    nodes = show_count(len(m.nodes), "NUMA node")
    cores = len({cpu.core for cpu in m.cpus})
    return (
        f"{show_count(len(m.cpus), 'CPU')} on {show_count(cores, 'core')}, {nodes}; "
        f"assay may use {usable or 'none'}"
    )


def _memory(m: Machine) -> str:
    whole = show_bytes(m.memory_bytes)
    if m.memory_limit_bytes is None:
        return whole
    return f"{whole}, limited by the control group to {show_bytes(m.memory_limit_bytes)}"
