"""Changes of the system: recorded in a journal, read back, and undone even if assay is killed."""
