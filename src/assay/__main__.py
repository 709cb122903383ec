"""``python -m assay``."""

from assay.cli.main import entry

entry()
