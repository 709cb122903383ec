"""A host's topology and state, and what a program needs of it. Reads only."""
