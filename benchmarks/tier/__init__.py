"""Programs whose data exceed memory: `assay tier`, swap, and mapped files.

A memory control group limits the memory of a program. Each round runs every way one after another,
in a new random order; the device itself (O_DIRECT, 2 MiB, 8 at a time) is one of them. The kernel
`traversal` of the catalogue goes through an array in different orders; every result is compared
with the correct one. Rates are bytes of the array over the time of one pass. A trace that is
replayed was recorded right before, by a run that is not timed.
"""
