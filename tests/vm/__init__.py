"""Tests that boot a guest: see README.md."""
