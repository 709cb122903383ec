"""Quality and error rates of recommendations, by studies of simulated and recorded spaces."""
