"""The catalogue: reference workloads that show what a setting or a way to write a loop does."""
