"""Studies: coordination of a race, an executor and a store."""
