"""Settings: one small module for each family, and the registry of all."""
