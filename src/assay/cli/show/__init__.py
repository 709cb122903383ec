"""Output: answers, tables and progress on a terminal, and JSON documents."""
