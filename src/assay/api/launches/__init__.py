"""Single launches: execution of ``RunRequest``."""
