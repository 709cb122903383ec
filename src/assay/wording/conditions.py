"""Conditions: notes on the environment of launches that no setting controls."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from assay.machine.cpu_restriction import describe_restriction
from assay.machine.cpulist import format_list
from assay.machine.document import machine_in
from assay.machine.quota import Periods, describe_quota
from assay.records import Sample, Stratum
from assay.records.sample import OWN_AFFINITY, QUOTA_PERIODS, QUOTA_THROTTLED
from assay.settings.affinity_calls import NAME as AFFINITY_CALLS
from assay.settings.inherited import format_variables
from assay.wording.counts import launch_count

CONDITION_KINDS = frozenset((OWN_AFFINITY, QUOTA_PERIODS, QUOTA_THROTTLED))
"""Kinds of evidence on conditions: samples without them change no note."""


def condition_notes(stratum: Stratum, samples: Sequence[Sample]) -> Iterator[str]:
    """Yield notes on inherited variables, CPU masks and CPU limits of a stratum.

    Args:
        stratum: conditions of the launches.
        samples: samples of the stratum.
    """
    if stratum.inherited_variables:
        yield (
            f"every launch inherits {format_variables(stratum.inherited_variables)}; "
            "the setting inherited.NAME=unset removes one"
        )
    machine = machine_in(stratum.host)
    if machine is not None and machine.cpu_restriction is not None:
        restriction = describe_restriction(machine.cpu_restriction, machine.allowed_cpus)
        yield f"every launch is {restriction}"
    yield from _program_masks(stratum, samples)
    if machine is not None and machine.cpu_limit is not None:
        quota = describe_quota(machine.cpu_limit, _periods(samples))
        yield f"{quota}: a control group limits the CPU time of every launch"


def changed_conditions(changes: Sequence[str]) -> str:
    """Return a note on changes of the host or the program since a study ended.

    Args:
        changes: changed conditions; at least one.
    """
    return (
        f"conditions changed since the measurement: {'; '.join(changes)}. "
        "`assay study resume --new-stratum` verifies the answer"
    )


STUDY_HAD_ENDED = (
    "the study had already ended, so nothing was launched; `assay study resume` with "
    "--budget 5m continues it for that much more"
)
"""Note on a resumed study that was done."""


def resumed_note(earlier: int, more: int) -> str:
    """Return a note on the launches of a resumed study.

    Args:
        earlier: launches before it was resumed.
        more: launches since then.
    """
    if not more:
        return "the study had already reached its end, so nothing was launched"
    return f"{launch_count(more)} since the study was resumed, {launch_count(earlier)} before"


def changed_libraries(libraries: Sequence[str]) -> str:
    """Return a note on libraries that changed between launches.

    Args:
        libraries: paths of the libraries; at least one.
    """
    more = f" and {len(libraries) - 1} more" if len(libraries) > 1 else ""
    return (
        f"some launches ran before a change of {libraries[0]}{more}, which the program loads at "
        "run time; `assay study resume --new-stratum` measures separately from them"
    )


def _periods(samples: Sequence[Sample]) -> Periods | None:
    """Return the periods of a quota of CPU time, summed over all launches."""
    sums = dict.fromkeys((QUOTA_PERIODS, QUOTA_THROTTLED), 0.0)
    seen = False
    for piece in (piece for sample in samples for piece in sample.evidence):
        if piece.kind in sums and piece.value is not None:
            sums[piece.kind] += piece.value
            seen = True
    return Periods(int(sums[QUOTA_PERIODS]), int(sums[QUOTA_THROTTLED])) if seen else None


def _program_masks(stratum: Stratum, samples: Sequence[Sample]) -> Iterator[str]:
    """Yield the CPU mask that the program, or a launcher in its command, set in the default."""
    masks = [
        piece.note
        for sample in samples
        if not sample.launch.configuration and sample.launch.cpu_slot is None
        for piece in sample.evidence
        if piece.kind == OWN_AFFINITY and piece.note
    ]
    if not masks:
        return
    mask = masks[-1]
    noun = "CPUs" if "," in mask or "-" in mask else "CPU"
    yield (
        f"the program restricts itself to {noun} {mask} of {format_list(stratum.cpus)}: "
        f"{AFFINITY_CALLS}=ignored lifts the mask, as does --bind-to none of Open MPI's mpirun"
    )
