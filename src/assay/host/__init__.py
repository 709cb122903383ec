"""System settings: applied with a journal, read back, and put back whatever becomes of assay."""
