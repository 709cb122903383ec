"""What a warm start is worth, and what it costs where the earlier study misleads.

Recorded spaces stand for programs, as in [search](search.md). The earlier study had 50 launches
of the same table with another default, another seed and other noise (*warm*); of a table in which
each value of each parameter makes a difference of its own besides, as another input of the program
would, with a correlation of about 0.7 (*altered*); or of the same table with all values turned
round, so that its best was the worst (*misled*). Each search has the same launches as one
without an earlier study (*cold*), and confirms what it found out of them.
"""
