"""What assay's measuring costs, and how true it is, beside other tools.

    python -m benchmarks.overhead               some minutes; the result as JSON and Markdown
    python -m benchmarks.overhead --write       the same, into docs/benchmarks
    python -m benchmarks.overhead --smoke       a launch or two of everything: does it still run?

Each part (`cost`, `timing`, `memory`, `killing`, `output`, `startup`) gives visits: a few launches
of one case by one tool. The visits of all parts are made in rounds, each round in a random order
of its own, so that what changes on the machine meanwhile meets all tools alike.
"""
