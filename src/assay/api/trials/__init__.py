"""Ask-and-tell sessions: trials within the user's own process."""
