"""One module for each revision; what is released is never edited."""
