"""``assay partition create``: CPUs and memory set apart."""

from __future__ import annotations

import argparse
import os
import sys
from collections import Counter
from collections.abc import Sequence

from assay.cli.partition.asked import name_of, place_of, request_of
from assay.cli.partition.interrupted import told_what_stands
from assay.cli.partition.told import (
    boot_lines,
    made_document,
    made_lines,
    steer_document,
    steer_lines,
)
from assay.cli.process.ending import end_in_order
from assay.cli.show.documents import print_json
from assay.cli.show.layout import fitted, width_of
from assay.host.host import LiveHost
from assay.host.journal import PARTITIONS, entries_now
from assay.machine.boot import BOOT_ID
from assay.machine.reader import read_machine
from assay.partition.look import steers
from assay.partition.made import Made, standing
from assay.partition.make import Created, create, planned_partition
from assay.partition.settle import changed
from assay.partition.steer import Kind, kind_of
from assay.records import ControlGroup, HostAction
from assay.untrusted import clean

_AWAY: dict[Kind, str] = {
    "balancer": "daemon that moves interrupts (irqbalance)",
    "interrupts": "interrupts",
    "workqueues": "masks of kernel work",
    "threads": "kernel threads",
}


def run(arguments: argparse.Namespace) -> int:
    """Make a partition, or say what would be done.

    Raises:
        InvalidInputError: there can be no such one.
        NotPossibleError: not here, not now, or not as this user.
    """
    request = request_of(arguments)
    if arguments.dry_run:
        return _foresee(arguments)
    place = place_of(arguments)
    end_in_order()
    with told_what_stands(arguments):
        _tell(arguments, create(request, place))
    return 0


def _tell(arguments: argparse.Namespace, created: Created) -> None:
    found = steers(LiveHost(), os.environ)
    if arguments.json:
        print_json({"partition": made_document(created.made), "steered": steer_document(found)})
        return
    lines = [*made_lines(created.made)]
    if not arguments.quiet:
        lines += [f"  {line}" for line in steer_lines(found, verbose=arguments.verbose)]
        lines += boot_lines(created.made)
        lines.append(f"Until the next boot, or `assay partition delete {name_of(arguments)}`.")
    _print(lines)


def _foresee(arguments: argparse.Namespace) -> int:
    """Say what would be done; needs no root."""
    host, machine = LiveHost(), read_machine()
    made = planned_partition(request_of(arguments), machine, place_of(arguments))
    others = standing(os.environ, host.read(BOOT_ID))
    entries = [entry for entry in entries_now() if entry.note.owner == PARTITIONS]
    actions = changed(host, made, others, entries, machine)
    if arguments.json:
        print_json({"partition": made_document(made), "would": [action.path for action in actions]})
    else:
        lines = [*made_lines(made), *_would(actions, made), *boot_lines(made)]
        _print([*lines, "Nothing was changed."])
    return 0


def _would(actions: Sequence[HostAction], made: Made) -> list[str]:
    lines = [f"  would make {group.path}" for group in made.groups]
    others = [a for a in actions if isinstance(a, ControlGroup) and a.gathers]
    lines += [f"  would move all programs into {group.path}" for group in others]
    counted = Counter(kind for kind in map(kind_of, actions) if kind is not None)
    lines += [f"  would keep away: {count} {_AWAY[kind]}" for kind, count in counted.items()]
    rest = [a for a in actions if kind_of(a) is None and not isinstance(a, ControlGroup)]
    lines += [f"  would write {action.path}" for action in rest]
    return [*lines, "  would start its broker"] if made.broker else lines


def _print(lines: Sequence[str]) -> None:
    print("\n".join(fitted(map(clean, lines), width_of(sys.stdout))))
