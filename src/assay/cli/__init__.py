"""The command line: parsing and showing; no logic beyond that."""
