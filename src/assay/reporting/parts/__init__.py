"""Parts: sections of the page, from data to HTML."""
