"""The actions of ``assay machine``, a module for each: ``run(arguments)`` gives the exit status."""
