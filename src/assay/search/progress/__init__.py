"""Launches that assay ends itself: their steady parts, and the rules that end them."""
