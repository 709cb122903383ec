"""``assay machine show``: description of a machine as text, JSON or a drawing."""

from __future__ import annotations

import sys

from assay.bundle.files import replace_atomically
from assay.cli.arguments.common import common_options
from assay.cli.arguments.machine import description_path, show_request
from assay.cli.machine.lines import TITLE, machine_lines
from assay.cli.machine.partition_warning import warn_of_partitions
from assay.cli.machine.roots import read_described, root_of
from assay.cli.parsing.parser import Parsed
from assay.cli.show.json_output import json_text, print_json
from assay.cli.show.layout import width_of, wrapped
from assay.machine.document import Machine
from assay.machine.inventory.document import Inventory
from assay.records import to_builtins
from assay.untrusted import clean


def run(parsed: Parsed) -> int:
    """Print the description, or write it to the file of ``-o``.

    Raises:
        InvalidInputError: an unknown suffix, or no recorded machine at ``--root``.
        NotPossibleError: the file cannot be written.
    """
    output = description_path(parsed)
    request, options = show_request(parsed), common_options(parsed)
    if not request.root and not options.quiet:
        warn_of_partitions()
    # The text and the drawing contain no file with the system's configuration.
    whole = options.json or (output is not None and output.suffix == ".json")
    with root_of(request.root) as root:
        machine, inventory = read_described(root, system=whole)
    if output is not None:
        content = _content(output.suffix, machine, inventory)
        with replace_atomically(output) as file:
            file.write(content.encode(errors="backslashreplace"))
    if options.json:
        print_json(_document(machine, inventory))
    elif output is None:
        lines = map(clean, machine_lines(machine, inventory, options.verbose))
        print("\n".join(wrapped(lines, width_of(sys.stdout), TITLE + 2)))
    elif not options.quiet:
        print(clean(str(output)))
    return 0


def _document(machine: Machine, inventory: Inventory) -> dict[str, object]:
    found = to_builtins(machine)
    found["flags"] = sorted(found.get("flags", ()))
    found["rights"]["capabilities"] = sorted(found["rights"].get("capabilities", ()))
    return {"machine": found, "inventory": to_builtins(inventory)}


def _content(suffix: str, machine: Machine, inventory: Inventory) -> str:
    if suffix == ".json":
        return json_text(_document(machine, inventory)) + "\n"
    if suffix == ".txt":
        return "\n".join(map(clean, machine_lines(machine, inventory, verbose=True))) + "\n"
    from assay.reporting.machine_svg import machine_svg

    return machine_svg(machine, inventory)
