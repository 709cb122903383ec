"""Length of launches, warm-up and early stops, on simulated jobs."""
