"""Claims: effects with intervals from paired observations, and reasons to withhold them."""
