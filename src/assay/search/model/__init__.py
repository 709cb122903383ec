"""Model: the surrogate of launches, its acquisition function, and searchers that use them."""
