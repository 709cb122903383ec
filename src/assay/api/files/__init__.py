"""Files that users write: spaces and sweeps."""
