"""``assay partition create``: reserves CPUs and memory."""

from __future__ import annotations

import os
import sys
from collections import Counter
from collections.abc import Sequence

from assay.cli.arguments.common import CommonOptions, common_options
from assay.cli.arguments.partition import create_request
from assay.cli.documents.partition import PartitionCreateAnswer
from assay.cli.parsing.parser import Parsed
from assay.cli.partition.interruption import reporting_interruption
from assay.cli.partition.rendering import (
    boot_lines,
    described_partition,
    partition_lines,
    steered_kernel_work,
    steering_lines,
)
from assay.cli.process.termination import terminate_in_order
from assay.cli.show.json_output import print_json
from assay.cli.show.layout import width_of, wrapped
from assay.host.host import LiveHost
from assay.host.journal import PARTITIONS_OWNER, read_entries
from assay.machine.boot import BOOT_ID
from assay.machine.reader import read_machine
from assay.partition.kernel_work import KernelWorkKind, kernel_work_kind
from assay.partition.lifecycle import (
    CreatedPartition,
    PartitionHost,
    PartitionRequest,
    create_partition,
    plan_partition,
)
from assay.partition.reconciliation import additional_actions
from assay.partition.registry import Partition, active_partitions
from assay.partition.status import read_kernel_work
from assay.records import ControlGroup, HostAction, to_builtins
from assay.untrusted import clean

_KERNEL_WORK: dict[KernelWorkKind, str] = {
    "balancer": "daemon that moves interrupts (irqbalance)",
    "interrupts": "interrupts",
    "workqueues": "masks of kernel work",
    "threads": "kernel threads",
}


def run(parsed: Parsed) -> int:
    """Create a partition, or print the planned changes.

    Raises:
        InvalidInputError: the request is invalid on this machine.
        NotPossibleError: the machine, its current state or the user's rights do not allow it.
    """
    request, options = create_request(parsed), common_options(parsed)
    place = PartitionHost(os.environ, request.wait_s)
    if request.dry_run:
        _show_planned(request.partition, place, json=options.json)
        return 0
    terminate_in_order()
    with reporting_interruption(request.partition.name):
        _show_created(create_partition(request.partition, place), options)
    return 0


def _show_created(created: CreatedPartition, options: CommonOptions) -> None:
    found = read_kernel_work(LiveHost(), os.environ)
    made = created.partition
    if options.json:
        answer = PartitionCreateAnswer(
            partition=described_partition(made), steered=steered_kernel_work(found)
        )
        print_json(to_builtins(answer))
        return
    lines = [*partition_lines(made)]
    if not options.quiet:
        lines += [f"  {line}" for line in steering_lines(found, verbose=options.verbose)]
        lines += boot_lines(made)
        lines.append(f"It exists until the next boot or `assay partition delete {made.name}`.")
    _print(lines)


def _show_planned(request: PartitionRequest, place: PartitionHost, *, json: bool) -> None:
    """Print the planned changes; needs no root."""
    host, machine = LiveHost(), read_machine()
    made = plan_partition(request, machine, place)
    others = active_partitions(os.environ, host.read(BOOT_ID))
    entries = [entry for entry in read_entries() if entry.note.owner == PARTITIONS_OWNER]
    actions = additional_actions(host, made, others, entries, machine)
    if json:
        answer = PartitionCreateAnswer(
            partition=described_partition(made), would=tuple(action.path for action in actions)
        )
        print_json(to_builtins(answer))
    else:
        lines = [*partition_lines(made), *_would(actions, made), *boot_lines(made)]
        _print([*lines, "This dry run changed nothing."])


def _would(actions: Sequence[HostAction], made: Partition) -> list[str]:
    lines = [f"  would create {group.path}" for group in made.groups]
    others = [a for a in actions if isinstance(a, ControlGroup) and a.gathers]
    lines += [f"  would move all programs into {group.path}" for group in others]
    counted = Counter(kind for kind in map(kernel_work_kind, actions) if kind is not None)
    lines += [f"  would keep away: {count} {_KERNEL_WORK[kind]}" for kind, count in counted.items()]
    rest = [a for a in actions if kernel_work_kind(a) is None and not isinstance(a, ControlGroup)]
    lines += [f"  would write {action.path}" for action in rest]
    return [*lines, "  would start its broker"] if made.broker else lines


def _print(lines: Sequence[str]) -> None:
    print("\n".join(wrapped(map(clean, lines), width_of(sys.stdout))))
