"""Studies: execution of typed requests."""
