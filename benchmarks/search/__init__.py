"""How good what a search recommends is, after how many launches, beside other people's optimisers.

Recorded spaces stand for programs (`python -m assay.search.replay`): a launch takes what was
recorded, with noise. Regret is how much worse the recommended configuration truly is than the best
of its table. Every method has the same launches; assay pays its confirmation out of them, and
recommends the default where it could not show a gain, while the others name the best they saw.
"""
