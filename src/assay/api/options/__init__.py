"""Values of options: parsers of their texts."""
