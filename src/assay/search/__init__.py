"""The decision loop without I/O: spaces, searchers, races."""
