"""Files that users write, with the place of each error."""
