"""Statistics: pure functions on numbers; no input or output, no clock, no SciPy.

Import from the module that defines a name. These load NumPy, for whole matrices: ``elimination``,
``resample``, ``peeking``, and ``block_order.swapped_blocks``.

- ``interval``: a closed interval, possibly open-ended
- ``quantile``: by linear interpolation
- ``confidence_sequence``: interval of a mean, valid at every interim analysis
- ``median``: interval of a median, valid at every interim analysis, values possibly censored
- ``planned_analysis``: interval of a mean at one analysis that is fixed in advance
- ``paired``: paired effect of B against A over blocks
- ``undisturbed``: effect over undisturbed blocks and over all blocks
- ``occasions``: effect of B against A, each measured on separate occasions
- ``verdict``: classification of an effect
- ``spread``: ratio of the spreads of two arms
- ``modes``: detection of two groups of launches, and figures correlated with them
- ``summary``, ``shift``: descriptive statistics shown beside an effect
- ``drift``: change of a series from its first third to its last
- ``correlated_load``: whether the load of other processes is correlated with the arms
- ``block_order``: launch order within a block
- ``elimination``: arms that leave a race
- ``resample``, ``peeking``: studies resampled from one recording, and their verdicts with an
  interim analysis after every block
"""
