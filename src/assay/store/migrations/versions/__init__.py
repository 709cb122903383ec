"""One module for each revision; released revisions are never edited."""
