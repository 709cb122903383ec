"""Parts: the sections of the page, each from data to HTML."""
