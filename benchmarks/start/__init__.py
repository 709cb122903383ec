"""Time until a program starts under assay, and cost of a full plan in the launcher.

    python -m benchmarks.start                  some minutes; the result as JSON and Markdown
    python -m benchmarks.start --write          the same, into docs/benchmarks
    chrt -f 10 python -m benchmarks.start ...   ahead of all that keeps the machine busy (as root)
    python -m benchmarks.start --smoke          a launch or two of everything: does it still run?

The started program records its own first moment, which is compared with the moment before the
command was spawned. All commands are launched interleaved, in a random order in each round.
"""
