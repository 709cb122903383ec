"""Error rates of verdicts: simulated and recorded noise, under the rules of assay and other tools.

python -m benchmarks.verdicts               all tables, 10,000 studies a row
python -m benchmarks.verdicts --quick       few studies: does it still run?
python -m benchmarks.verdicts --write       the tables go into docs/explanation/error-rates.md
python -m benchmarks.verdicts --levels      the levels in assay.stats.confidence_sequence

All follows from the seed.
"""
