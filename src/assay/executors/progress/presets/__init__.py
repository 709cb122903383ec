"""Known formats of output, one module for each program."""
