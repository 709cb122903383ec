"""Values that a program reports while it runs: their cost, and the decisions that rest on them."""
