"""# How good and how honest a recommendation is

Simulated spaces with known effects: 20 settings of two to four values, of which none, one or two
matter, alone, added, or with an interaction. Launches have log-normal noise of 5 %.
"""
