"""Profiles as ``assay machine apply`` reads them: the table ``[set]``, a value for each setting."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from assay.cli.files.toml_file import TomlFile, read_toml
from assay.cli.machine.profile_file import FOLDER, profile_path
from assay.errors import InvalidInputError, NotPossibleError
from assay.machine.document import Machine
from assay.records import Configuration, Scope, Value
from assay.settings.registry import Registry

_TABLE = "set"


def settings_of(word: str, registry: Registry, machine: Machine) -> Configuration:
    """What a profile sets: the name of one that assay brings, or of a file.

    Raises:
        InvalidInputError: there is none, or it sets what is no system setting, or has no such
            value.
        NotPossibleError: others than root may write the file.
    """
    path = profile_path(word)
    if path.parent != FOLDER:
        _demand_own(path)
    file = read_toml(str(path))
    return Configuration(
        {name: _value(file, name, value, registry, machine) for name, value in _table(file).items()}
    )


def place_of(word: str, name: str) -> str:
    """Where a profile sets a setting: file, line and column; of assay's own profiles their name."""
    path = profile_path(word)
    return word if path.parent == FOLDER else read_toml(str(path)).place((_TABLE, name))


def _table(file: TomlFile) -> dict[str, object]:
    table = file.content.get(_TABLE, {})
    if not isinstance(table, dict) or not table:
        raise file.wrong((_TABLE,), "It sets nothing.", 'Write a table: [set], "vm.thp" = "never".')
    return table


def _value(file: TomlFile, name: str, value: object, registry: Registry, machine: Machine) -> Value:
    with file.at(_TABLE, name):
        if registry.get(name).scope is not Scope.SYSTEM:
            raise InvalidInputError(
                f"{name} belongs to a program, not to the machine.",
                "`assay run --with` and studies take it.",
            )
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        raise file.wrong((_TABLE, name), f"{name} takes a number or a text.")
    return value


def _demand_own(path: Path) -> None:
    """Refuse a file that others can write: what root does hangs on it.

    Raises:
        NotPossibleError: they can.
    """
    try:
        found = path.stat()
    except OSError:
        return  # said by whoever opens it
    foreign = found.st_uid not in (0, os.geteuid())
    if foreign or found.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        raise NotPossibleError(
            f"Others may write {path}, and root would do what it says.",
            "Make it root's own (chown root, chmod 644).",
        )
