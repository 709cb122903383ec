"""Evidence from the record of the launcher: conditions, resources and the end of a launch."""

from __future__ import annotations

from assay.executors.outcome import describe_exit
from assay.machine.cpulist import format_list, show_numbers
from assay.records import Counter, Evidence, InstanceFacts, ReadBack, RunFacts
from assay.records.facts import HostActivity, Termination
from assay.records.sample import (
    KILLED_AFTER,
    OWN_AFFINITY,
    REMAINING_PROCESSES,
    STOP_FAILED,
    TERMINATION,
)
from assay.settings.evidence import observed_mask


def launch_evidence(facts: RunFacts, foreign_s: float | None) -> list[Evidence]:
    """Return the evidence of a launch; missing readings are omitted."""
    found = [
        *(_host_evidence(facts.host, foreign_s) if facts.host is not None else ()),
        _evidence_of("run_queue_wait", facts.run_queue_wait_s, "s"),
        _evidence_of("migrations", facts.migrations),
        _evidence_of("involuntary_switches", facts.involuntary_switches),
        _evidence_of("voluntary_switches", facts.voluntary_switches),
        _evidence_of("major_faults", facts.major_faults),
        _evidence_of("minor_faults", facts.minor_faults),
        _evidence_of("throttled", facts.throttled_s, "s"),
        _evidence_of("stopped", facts.stopped_s, "s", external=True),
        _evidence_of("energy", facts.energy_j, "J", note=facts.energy_scope),
        _evidence_of(
            REMAINING_PROCESSES,
            facts.containment.remaining_processes or None,
            "processes",
            note="\n".join(facts.containment.remaining_process_names) or None,
        ),
        _evidence_of(
            "surviving_processes", facts.containment.surviving_processes or None, "processes"
        ),
        *(_termination_evidence(facts.graceful_stop) if facts.graceful_stop is not None else ()),
    ]
    found += [_counter_evidence(name, counter) for name, counter in facts.counters.items()]
    found += [_evidence_of(f"pressure.{k}", v, "s") for k, v in (facts.pressure or {}).items()]
    if facts.readback is not None:
        found += _memory_evidence(facts.readback)
        found.append(_evidence_of("threads_peak", facts.readback.threads_peak))
        mask = observed_mask(facts)
        if mask and facts.host is not None and len(mask) < (facts.host.cpus or 0):
            found.append(_evidence_of(OWN_AFFINITY, len(mask), "CPUs", note=format_list(mask)))
    found += [_instance_evidence(place, one) for place, one in enumerate(facts.instances)]
    containment = f"{facts.containment.mode}, {facts.containment.guarantee}"
    known = [piece for piece in found if piece is not None]
    return [*known, Evidence(kind="containment", note=containment)]


def _termination_evidence(termination: Termination) -> list[Evidence | None]:
    """Return the time that a launch took to end on request, and a failure of the stop command."""
    failed = termination.signal or termination.exit_status
    how = describe_exit(termination.exit_status, termination.signal) if failed else None
    return [
        _evidence_of(TERMINATION, termination.duration_s, "s", note=termination.method),
        _evidence_of(
            KILLED_AFTER,
            termination.duration_s if termination.killed else None,
            "s",
            note=termination.method,
        ),
        None if how is None else Evidence(kind=STOP_FAILED, note=how),
    ]


def _instance_evidence(place: int, instance: InstanceFacts) -> Evidence:
    """Return the wall time of one of several instances, with its CPUs."""
    on = f"on {show_numbers('CPU', instance.cpus)}" if instance.cpus else None
    return Evidence(kind=f"instance.{place}", value=instance.wall_s, unit="s", note=on)


def _host_evidence(host: HostActivity, foreign_s: float | None) -> list[Evidence | None]:
    """Return the conditions on the host; only the first two certainly have external causes."""
    return [
        _evidence_of("steal", host.steal_s, "s", external=True),
        _evidence_of("foreign_load", foreign_s, "s", external=True),
        _evidence_of("host_cpus", host.cpus),
        _evidence_of("swap_in", host.swap_in_pages, "pages"),
        _evidence_of("swap_out", host.swap_out_pages, "pages"),
        _evidence_of("throttle_events", host.throttle_events, "events"),
        _evidence_of("frequency_ratio", host.frequency_ratio),
        Evidence(kind="clock_source", note=host.clock_source) if host.clock_source else None,
    ]


def foreign_load_s(host: HostActivity, own_s: float, hooked_s: float = 0.0) -> float | None:
    """Return the CPU time that other processes used on the CPUs of the launch.

    Processes of hooks are excluded as far as possible, since part of their work may have run on
    other CPUs.

    Launcher and assay may have run on other CPUs of the host, so that the result may be slightly
    too low. Parallel launches and their launchers run on other CPUs and are not included. The
    kernel counts busy time in ticks, so that the value of a short launch may be negative. It is
    kept, so that the sum over many launches is correct.
    """
    if host.busy_s is None or host.process_tree_cpu_s is None:
        return None
    found_s = host.busy_s - host.process_tree_cpu_s - (host.launcher_cpu_s or 0.0) - own_s
    return max(min(found_s, 0.0), found_s - hooked_s)


def _counter_evidence(name: str, counter: Counter) -> Evidence:
    notes = ["user mode only"] if counter.scope == "user" else []
    if counter.scaled:
        # With several core types, part of the remaining time was on another type.
        whole = "." not in name and counter.enabled_s > 0.0
        share = f" from {counter.running_s / counter.enabled_s:.0%} of the time" if whole else ""
        notes.append(f"scaled{share}")
    unit = "s" if name.endswith("_s") else ""
    note = ", ".join(notes) or None
    return Evidence(kind=f"counter.{name}", value=counter.value, unit=unit, note=note)


def _memory_evidence(seen: ReadBack) -> list[Evidence | None]:
    """Return the placement of memory, and its page sizes."""
    return [
        _evidence_of("anon_huge", seen.anon_huge_bytes, "bytes"),
        *(_evidence_of(f"page_size.{k}", v, "bytes") for k, v in (seen.page_bytes or {}).items()),
        *(_evidence_of(f"node.{k}", v, "pages") for k, v in (seen.numa_pages or {}).items()),
    ]


def _evidence_of(
    kind: str,
    value: float | None,
    unit: str = "",
    *,
    external: bool = False,
    note: str | None = None,
) -> Evidence | None:
    """Return evidence with a value; ``None`` without a value."""
    if value is None:
        return None
    return Evidence(kind=kind, value=float(value), unit=unit, external=external, note=note)
