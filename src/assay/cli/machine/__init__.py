"""Actions of ``assay machine``, a module for each."""
