"""Public Python API, and execution of the typed requests that the command line builds too."""
