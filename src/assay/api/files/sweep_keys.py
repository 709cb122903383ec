"""Keys that a sweep file does not have, although a user may expect them."""

from __future__ import annotations

from assay.api.files.toml_file import TomlFile

FIDELITY = "fidelity"
TABLES = ("workload", "design", "study")
"""Tables in which a user may write the fidelity."""


def demand_no_fidelity(file: TomlFile) -> None:
    """Raise on a fidelity: all cells of a sweep are compared, so it is a setting like others.

    Raises:
        InvalidInputError: the file has such a key; names its line and the place of the setting.
    """
    tables = ((), *((name,) for name in TABLES))
    for key in tables:
        table = file.content if not key else file.content.get(key[0])
        if isinstance(table, dict) and FIDELITY in table:
            raise file.error(
                (*key, FIDELITY),
                "A sweep has no fidelity: it compares all of its cells.",
                'Vary it as a setting: write "arg.steps" = [20, 200] under [settings].',
            )
