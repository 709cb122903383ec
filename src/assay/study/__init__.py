"""Studies: a race, an executor and a store at work together."""
