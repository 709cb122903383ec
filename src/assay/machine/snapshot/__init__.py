"""Snapshot: a machine recorded in an archive that reads as the machine itself did."""
