"""Root helper: the process that keeps root rights under sudo and acts for assay."""
