"""Quality of the configuration that a search recommends after some launches, by search method."""
