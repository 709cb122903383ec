"""Actions of ``assay tier``."""
