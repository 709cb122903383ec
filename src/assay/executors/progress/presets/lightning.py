"""Training bars of Lightning with ``TQDMProgressBar``."""

from __future__ import annotations

from assay.executors.progress.presets.bars import BarReader
from assay.executors.progress.presets.preset import Preset


def _is_training(name: str) -> bool:
    return name.startswith(("Epoch", "Training"))


PRESET = Preset(
    name="lightning",
    reader=lambda: BarReader(_is_training),
    advice="Pass callbacks=[TQDMProgressBar()] to the Trainer: its Rich bar prints nothing to a "
    "file before the end. Or read the file of CSVLogger with --progress-file.",
)
"""Format of Lightning 2; validation bars do not count."""
