"""Statistics: pure functions on numbers; no input or output, no clock, no SciPy.

Import from the module that defines a name. These load NumPy, for whole matrices: ``elimination``,
``ranks``, ``resample``, ``peeking``, and ``block_order.swapped_blocks``.

- ``interval``: confidence interval, possibly open-ended
- ``quantile``: quantiles by linear interpolation
- ``confidence_sequence``: interval of a mean, valid at every interim analysis
- ``median``: interval of a median, valid at every interim analysis, values possibly censored
- ``planned_analysis``: interval of a mean at one analysis that is fixed in advance
- ``paired``: paired effect of B against A over blocks
- ``undisturbed``: effect over undisturbed blocks and over all blocks
- ``occasions``: effect of B against A, each measured on separate occasions
- ``verdict``: classification of an effect
- ``share``: confidence sequence of a proportion
- ``smallest_count``: smallest number of observations that meets a condition
- ``spread``: ratio of the spreads of two arms
- ``modes``: detection of two groups of launches, and figures correlated with them
- ``summary``, ``shift``: descriptive statistics shown beside an effect
- ``ranks``: tests that use only the order of the values
- ``batch_means``: dependence of values on earlier ones
- ``drift``: change of a series from its first third to its last
- ``correlated_load``: whether the load of other processes is correlated with the arms
- ``block_order``: launch order within a block
- ``elimination``: arms that leave a race
- ``resample``, ``peeking``: studies resampled from one recording, and their verdicts with an
  interim analysis after every block
"""
