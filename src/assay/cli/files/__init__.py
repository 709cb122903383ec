"""Parsers of files that users write; errors name the line and column."""
