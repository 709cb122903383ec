"""All known formats of output, by name."""

from __future__ import annotations

from assay.errors import InvalidInputError, nearest
from assay.executors.progress.presets import (
    gromacs,
    huggingface,
    keras,
    lammps,
    lightning,
    tqdm,
)
from assay.executors.progress.presets.preset import Preset

PRESETS: dict[str, Preset] = {
    module.PRESET.name: module.PRESET
    for module in (tqdm, keras, lightning, huggingface, lammps, gromacs)
}
"""Known formats by name."""


def preset_named(name: str) -> Preset:
    """Return a known format.

    Args:
        name: name of the format.

    Raises:
        InvalidInputError: the name is unknown.
    """
    found = PRESETS.get(name)
    if found is None:
        near = nearest(name, tuple(PRESETS))
        raise InvalidInputError(
            f"Unknown format of progress: {name!r}.",
            (f"Did you mean {near}? " if near else "")
            + f"Use one of {', '.join(PRESETS)}, or NAME=REGEX.",
        )
    return found
