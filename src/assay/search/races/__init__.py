"""Races: the decision loops of the verbs, without I/O: which launch comes next."""
