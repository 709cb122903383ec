"""Parser of command lines: verbs, options and their help. Imports nothing but argparse."""
