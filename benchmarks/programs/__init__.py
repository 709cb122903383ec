"""Programs: whether the settings that studies of real programs recommend matter there."""
