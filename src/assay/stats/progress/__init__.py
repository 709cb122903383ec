"""Statistics of values that a program reports while it runs.

``reports`` holds the reports of a launch as arrays. ``periods`` finds periodic dips, ``warm_up``
the end of the warm-up, and ``steady`` the steady part; ``value`` is its value. ``launch_length``
chooses the length of launches, ``end`` decides when a running launch ends, and ``early_stop`` when
it is plainly worse than the incumbent. ``fidelity`` compares levels of fidelity; ``derived``
computes metrics such as the time to a loss.
"""
