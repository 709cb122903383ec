"""Search space: configurations, their conditions and constraints, and designs over them."""
