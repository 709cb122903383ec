"""Two conditions that were measured apart, compared: no I/O, no clock."""
