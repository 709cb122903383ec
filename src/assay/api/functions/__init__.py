"""Public functions, and the conversion of their arguments to typed requests."""
