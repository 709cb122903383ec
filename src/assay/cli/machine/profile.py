"""Table ``[set]`` of a profile, which ``assay machine apply`` applies."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from assay.api.files.toml_file import TomlFile, read_toml
from assay.cli.machine.profile_file import FOLDER, profile_path
from assay.errors import InvalidInputError, NotPossibleError
from assay.machine.document import Machine
from assay.records import Configuration, Scope, Value
from assay.settings.registry import Registry

_TABLE = "set"


def settings_of(word: str, registry: Registry, machine: Machine) -> Configuration:
    """Return the settings of a profile.

    Args:
        word: name of a built-in profile, or path of a file.
        registry: registry of the settings.
        machine: machine that the profile is applied to.

    Raises:
        InvalidInputError: the profile is unknown, or contains an invalid setting or value.
        NotPossibleError: users other than root may write the file.
    """
    path = profile_path(word)
    if path.parent != FOLDER:
        _demand_own(path)
    file = read_toml(str(path))
    return Configuration(
        {name: _value(file, name, value, registry, machine) for name, value in _table(file).items()}
    )


def place_of(word: str, name: str) -> str:
    """Return the file, line and column of a setting; of built-in profiles their name."""
    path = profile_path(word)
    return word if path.parent == FOLDER else read_toml(str(path)).place((_TABLE, name))


def _table(file: TomlFile) -> dict[str, object]:
    table = file.content.get(_TABLE, {})
    if not isinstance(table, dict) or not table:
        raise file.error(
            (_TABLE,), "The table is missing or empty.", 'Write [set], "vm.thp" = "never".'
        )
    return table


def _value(file: TomlFile, name: str, value: object, registry: Registry, machine: Machine) -> Value:
    with file.at(_TABLE, name):
        if registry.get(name).scope is not Scope.SYSTEM:
            raise InvalidInputError(
                f"{name} belongs to a program, not to the machine.",
                f"Write it in a command: assay run {name}=VALUE -- ./app.",
            )
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        raise file.error((_TABLE, name), f"{name} takes a number or a text.")
    return value


def _demand_own(path: Path) -> None:
    """Raise an error on a file that other users can write, since root applies its contents.

    Raises:
        NotPossibleError: another user owns the file or can write it.
    """
    try:
        found = path.stat()
    except OSError:
        return  # reading the file reports it
    foreign = found.st_uid not in (0, os.geteuid())
    if foreign or found.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        raise NotPossibleError(
            f"Other users may write {path}, and root would apply it.",
            "Let root own it: chown root, chmod 644.",
        )
