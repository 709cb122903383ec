"""Typed requests: one for each operation of assay, built by the command line and by programs.

A request holds values, never texts of options: times in seconds, sizes in bytes, shares as
fractions. Settings remain text, because their values depend on the machine that they are applied
to. Invalid values raise ``InvalidInputError`` when the request is made.
"""
