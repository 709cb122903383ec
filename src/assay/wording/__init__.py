"""Wording: sentences of verdicts, notes, endings and objections, from records and plain values.

Import from the module of the topic:

- ``sentence``: verdicts, effects and intervals of claims
- ``recommendation``: answers of a search without a claim
- ``requirement``, ``front``, ``sweep``, ``occasions``, ``calibration``: answers by kind of study
- ``endings``: reasons why a study ended
- ``notes``, ``launch_notes``, ``conditions``, ``suspect``, ``noise_floor``, ``boots``: limits of an
  answer
- ``objections``, ``disturbance``: reasons why a claim has no verdict
- ``failure``, ``gate``, ``proof``, ``warm_start``, ``space``, ``kernels``, ``revisions``: further
  topics
- ``report``: head of a report
- ``counts``: numbers of blocks and launches
"""
