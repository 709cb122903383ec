"""A host's topology and state, and the requirements of programs. Reads only."""
