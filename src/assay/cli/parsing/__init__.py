"""Parsing: verbs, options and their help. Imports nothing but argparse."""
