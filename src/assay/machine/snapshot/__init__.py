"""Snapshots: a machine recorded in an archive, readable like the machine itself."""
