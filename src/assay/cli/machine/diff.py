"""``assay machine diff``: differences of two machines, or of one machine at two times."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path

from assay.api.composition import opened_store
from assay.cli.arguments.common import common_options
from assay.cli.arguments.machine import diff_request
from assay.cli.documents.machine import MachineDiffAnswer, MachineDifference
from assay.cli.machine.roots import read_described, root_of
from assay.cli.parsing.parser import Parsed
from assay.cli.show.json_output import print_json
from assay.cli.show.layout import width_of, wrapped
from assay.errors import InvalidInputError
from assay.machine.cpulist import format_list
from assay.machine.differences import ComparedMachine, Difference, differences
from assay.machine.document import machine_in
from assay.machine.snapshot.recording import record
from assay.records import to_builtins
from assay.untrusted import clean

LIVE = "live"


def run(parsed: Parsed) -> int:
    """Print the differences; a single machine is compared with the running one.

    Raises:
        InvalidInputError: a word is missing, or is neither a snapshot nor a study.
        NotPossibleError: one of them cannot be read.
    """
    request, options = diff_request(parsed), common_options(parsed)
    names = [request.a, request.b]
    a, b = (_machine(name, request.root, options.db) for name in names)
    found = differences(a, b)
    if options.json:
        answer = MachineDiffAnswer(a=names[0], b=names[1], differences=tuple(map(_entry, found)))
        print_json(to_builtins(answer))
        return 0
    lines = map(clean, _lines(found, names))
    print("\n".join(wrapped(lines, width_of(sys.stdout))))
    return 0


def _machine(name: str, live_root: str | None, db: str | None) -> ComparedMachine:
    if name != LIVE and not Path(name).exists():
        return _machine_of_study(name, db)
    with root_of(live_root if name == LIVE else name) as root:
        machine, inventory = read_described(root)
        return ComparedMachine(machine, inventory, record(root).configuration)


def _machine_of_study(name: str, db: str | None) -> ComparedMachine:
    if os.sep in name or ".tar" in name:
        raise InvalidInputError(
            f"There is no file or folder {name}.", "Name a snapshot or a study."
        )
    try:
        with opened_store(db, create=False) as store:
            strata = store.strata(store.find(name))
    except InvalidInputError as error:
        raise InvalidInputError(
            f"{name!r} is neither a snapshot nor a study: {error.cause}",
            "Name a file of `assay machine snapshot`, a study, or live.",
        ) from error
    machine = machine_in(strata[-1].host) if strata else None
    if machine is None:
        raise InvalidInputError(
            f"The study {name} contains no description of its machine.", "Name another one."
        )
    return ComparedMachine(machine)


def _entry(one: Difference) -> MachineDifference:
    return MachineDifference(
        subject=one.subject, path=one.path, a=one.a, b=one.b, numbers=tuple(one.numbers)
    )


def _lines(found: tuple[Difference, ...], names: list[str]) -> Iterator[str]:
    if not found:
        yield f"{names[0]} and {names[1]} have no lasting differences."
        return
    yield f"{names[0]} -> {names[1]}"
    for subject, alike in groupby(found, key=lambda one: one.subject):
        yield subject
        for one in alike:
            numbers = f" ({format_list(one.numbers)})" if one.numbers else ""
            yield f"  {one.path}{numbers}: {_value(one.a)} -> {_value(one.b)}"


def _value(text: str | None) -> str:
    return "-" if text is None else " ".join(text.split()) or "(empty)"
