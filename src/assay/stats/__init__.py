"""Statistics: pure functions on numbers; no input or output, no clock, no SciPy.

One noun in each module; import from the module that holds it. Only ``eliminate`` needs NumPy.

- ``interval``: a closed interval, possibly open-ended
- ``sequence``: interval of a mean, valid at every look
- ``median``: interval of a median, valid at every look, values possibly censored
- ``paired``: the effect of B against A over blocks
- ``verdict``: what an effect shows, in one word and in one sentence
- ``summary``, ``shift``: what to show beside it
- ``eliminate``: which arms leave a race
"""
