"""Isolation of a program in a partition, under a competing load.

Each round measures the same CPU in each way, one after another, in a new random order. A loop of
fixed work (`assay-noise fwq`) shows the excess time of each portion over the fastest, and a real
program (`xz`) is run a few times. The load (`stress-ng`, as many workers as there are CPUs, bound
to none) runs through all rounds. Ways: only bound to the CPU (`taskset`); with the highest
niceness (`nice -n -20`); in a real-time class (`chrt -f 10`); in a partition of assay's.
"""
