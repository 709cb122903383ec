"""The registry of settings: one small module for each family."""
