"""assay: an open performance laboratory for Linux."""

__version__ = "0.1.0"
