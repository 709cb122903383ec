"""Arguments: readers that turn a parsed command line into a typed request.

Only these modules and the parser read an ``argparse.Namespace``. A module reads one group of
options, which several verbs share, or the options of one verb.
"""
