"""What a partition keeps away from a program, under a competing load.

Each round measures the same CPU in each way, one after another, in an order that is drawn anew:
a loop of fixed work (`assay-noise fwq`) shows what each portion took beyond the fastest, and a
real program (`xz`) is run a few times. The load (`stress-ng`, as many workers as there are CPUs,
bound to none) runs through all rounds. Ways: only bound to the CPU (`taskset`); with the highest
niceness (`nice -n -20`); in a real-time class (`chrt -f 10`); in a partition of assay's.
"""
