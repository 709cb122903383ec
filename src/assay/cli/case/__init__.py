"""Actions of ``assay case``."""
