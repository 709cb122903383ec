"""Statistics: pure functions on numbers; no input or output, no clock, no SciPy.

One noun in each module; import from the module that holds it. NumPy is loaded where whole matrices
are worked on: ``eliminate``, ``resample``, ``peeking``, and ``swapped`` of ``order``.

- ``interval``: a closed interval, possibly open-ended
- ``quantile``: by linear interpolation
- ``sequence``: interval of a mean, valid at every look
- ``median``: interval of a median, valid at every look, values possibly censored
- ``paired``: the effect of B against A over blocks
- ``occasions``: the effect of B against A where each has an occasion of its own
- ``verdict``: what an effect shows, in one word
- ``spread``: how much more one arm varies than another
- ``modes``: whether launches fall into two groups, and what goes along with them
- ``summary``, ``shift``: what to show beside an effect
- ``drift``: how values move from the beginning of a series to its end
- ``order``: who runs when within a block
- ``eliminate``: which arms leave a race
- ``resample``, ``peeking``: new studies out of one recording, and how they end under every look
"""
