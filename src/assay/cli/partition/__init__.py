"""Actions of ``assay partition``, a module for each."""
