"""The cost and the accuracy of measuring by assay, beside other tools.

    python -m benchmarks.overhead                  all parts; results as JSON and Markdown
    python -m benchmarks.overhead --part timing    this part alone; repeatable
    python -m benchmarks.overhead --resume         only the parts that have no result yet
    python -m benchmarks.overhead --write          results into docs/benchmarks
    python -m benchmarks.overhead --smoke          a launch or two of everything: does it still run?

Each part is measured by itself and has a file of its own, so that a run can be stopped between two.
A part consists of visits: a few launches of one case by one tool. They are made in rounds, each
round in a random order, so that changes on the machine meet all tools alike.
"""
