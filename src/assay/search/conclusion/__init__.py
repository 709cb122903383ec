"""Conclusion: the verdict document of a study, from its specification and samples."""
