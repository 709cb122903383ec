"""Pictures: static SVG drawn by Matplotlib, which is imported late."""
