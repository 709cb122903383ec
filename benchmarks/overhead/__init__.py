"""Cost and accuracy of measuring with assay, compared with other tools.

    python -m benchmarks.overhead                  all parts; results as JSON and Markdown
    python -m benchmarks.overhead --part timing    this part only; repeatable
    python -m benchmarks.overhead --resume         only parts without a result
    python -m benchmarks.overhead --write          results into docs/benchmarks
    python -m benchmarks.overhead --smoke          smoke test with a launch or two of everything

Each part is measured separately and has its own file, so that a run can be stopped between parts.
A part consists of visits, which are a few launches of one case by one tool. Each round makes all
visits in random order, so that changes of the machine affect all tools.
"""
