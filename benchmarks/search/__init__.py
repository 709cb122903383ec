"""How good the recommendation of a search is, after how many launches, beside other optimisers.

Recorded spaces stand for programs (`python -m assay.testing.replay`): a launch takes the time that
was recorded, with noise. Regret is how much worse the recommended configuration truly is than the
best of its table. Every method has the same number of launches, searches with the same seeds and
launches the default first. assay pays replicates and proofs out of its launches, and its
recommendation counts whether it is proven or not. A peer recommends the best value that it
observed, and gets the better of two encodings of the columns for each number of launches.
"""
