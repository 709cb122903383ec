"""From a configuration to a launched process: planner, launcher's document, driver, script."""
