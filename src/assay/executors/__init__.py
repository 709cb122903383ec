"""Executors, and the judging of what they bring back."""
