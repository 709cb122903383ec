"""assay: an open performance laboratory for Linux."""

__version__ = "0.2.0"
