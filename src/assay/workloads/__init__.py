"""Catalogue of reference workloads, which show the effect of settings and optimisations."""
