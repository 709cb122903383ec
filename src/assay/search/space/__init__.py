"""Search space: configurations, their conditions and constraints, and experimental designs."""
