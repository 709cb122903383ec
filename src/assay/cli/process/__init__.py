"""Process: signals, streams, descriptors and rights of the command line's own process."""
