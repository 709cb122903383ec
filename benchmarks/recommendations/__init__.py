"""# Quality and error rates of recommendations

Simulated spaces with known effects: 20 settings of two to four values, of which none, one or two
matter, alone (*one*), added (*sum*), or with an interaction (*pair*). Launches have log-normal
noise of 5 %. Effects are 15 to 40 % at 12 launches, 8 to 40 % at 25, and 5 to 40 % at 50.

Recorded spaces (*tables*) with noise of several kinds, and a default that is drawn at random, the
median, or one of the best tenth of the space.
"""
