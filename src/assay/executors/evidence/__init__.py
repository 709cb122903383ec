"""Evidence: observations kept with a sample that notes and verdicts rest on."""
