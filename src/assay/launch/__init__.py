"""Launch one process tree: plan of a configuration, document, driver of the launcher, script."""
