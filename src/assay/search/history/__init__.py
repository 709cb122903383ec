"""History: the samples of a study as blocks of paired observations, and checks on them."""
