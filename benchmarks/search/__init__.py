"""Quality of a search's recommendation by number of launches, compared with other optimisers.

Recorded spaces stand for programs (`python -m assay.testing.replay`): a launch takes the recorded
time, with noise. Regret is the true loss of the recommended configuration against the best of its
table. Every method has the same number of launches, searches with the same seeds and launches the
default first.

Replicates and proofs of assay count as launches, and its recommendation counts even without proof.
A peer recommends the best value that it observed, and gets the better of two encodings of the
columns for each number of launches.
"""
