"""Isolation of a program in a partition, under a competing load."""
