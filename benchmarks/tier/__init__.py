"""Programs whose data exceed memory: `assay tier`, swap, and files that are mapped.

A memory control group limits what a program may hold. Each round runs every way one after another,
in an order that is drawn anew; the device itself (O_DIRECT, 2 MiB, 8 at a time) is one of them. The
kernel `traversal` of the catalogue goes through an array in different orders; every result is held
against the right one. Rates are bytes of the array over the time of one pass. A trace that is
replayed was recorded right before, by a run that is not timed.
"""
