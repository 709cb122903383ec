"""The actions of ``assay case``."""
