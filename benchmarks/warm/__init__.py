"""Benefit of a warm start, and its cost if the earlier study misleads.

Recorded spaces stand for programs, as in [search](search.md). The earlier study had 50 launches, of
one of three tables:

- *warm*: the same table with another default, another seed and other noise;
- *altered*: a table in which each value of each parameter has an additional effect, as with another
  input of the program, at a correlation of about 0.7;
- *misled*: the same table with all values reversed, so that its best was the worst.

Each search has the same launches as one without an earlier study (*cold*), which include its
confirmation.
"""
