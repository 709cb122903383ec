"""Hooks: commands of the user that run before, between and after launches."""
