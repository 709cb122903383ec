"""Time until a program starts under assay, and cost of a full plan in the launcher.

    python -m benchmarks.start                  some minutes; result as JSON and Markdown
    python -m benchmarks.start --write          the same, into docs/benchmarks
    chrt -f 10 python -m benchmarks.start ...   with priority over other processes (as root)
    python -m benchmarks.start --smoke          smoke test with a launch or two of everything

The started program records its first moment, which is compared with the moment before the spawn of
the command. Each round launches all commands interleaved, in random order.
"""
