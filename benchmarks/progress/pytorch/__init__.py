"""Tuning of a PyTorch training loop within minutes, by the speed that it prints."""
