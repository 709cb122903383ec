"""The actions of ``assay tier``."""
