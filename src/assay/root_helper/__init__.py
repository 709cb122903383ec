"""Root helper: the process that keeps the rights of root under sudo and acts for assay."""
