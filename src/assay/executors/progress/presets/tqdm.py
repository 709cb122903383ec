"""Progress bars of tqdm.

The printed rate is an exponential mean, and turns from ``it/s`` into ``s/it`` for slow steps.
Therefore steps and times count.
"""

from __future__ import annotations

from assay.executors.progress.presets.bars import BarReader
from assay.executors.progress.presets.preset import Preset

PRESET = Preset(
    name="tqdm",
    reader=BarReader,
    advice="tqdm prints its bars on standard error unless TQDM_DISABLE is set.",
)
"""Format of tqdm 4."""
