"""Effect of the settings that studies of real programs recommend."""
