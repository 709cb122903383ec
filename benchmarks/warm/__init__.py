"""Benefit of a warm start, and its cost if the earlier study misleads.

Recorded spaces stand for programs, as in [search](search.md). The earlier study had 50 launches
of the same table with another default, another seed and other noise (*warm*); of a table in which
each value of each parameter has an additional effect, as with another input of the program, at a
correlation of about 0.7 (*altered*); or of the same table with all values reversed, so that its
best was the worst (*misled*). Each search has the same launches as one
without an earlier study (*cold*), which include its confirmation.
"""
