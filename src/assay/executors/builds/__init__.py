"""Builds: the program of each configuration, built once and cached by its inputs."""
