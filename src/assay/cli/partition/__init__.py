"""The actions of ``assay partition``, a module for each."""
