#!/bin/sh
# Run part of the benchmark on a machine without network, from the root of the sources:
#   sh benchmarks/search/elsewhere.sh WHEELS MODULE RESULTS [OPTION...]
# WHEELS contains wheels for that machine's Python: msgspec and threadpoolctl; for Optuna also optuna,
# alembic, SQLAlchemy, colorlog, Mako, MarkupSafe, greenlet and typing_extensions. Required on the
# machine: NumPy, SciPy, tqdm, PyYAML, packaging and, for Optuna's Gaussian process, PyTorch. MODULE is
# benchmarks.search or benchmarks.search.choices. Results are added to RESULTS. On another machine with
# the same sources, --cache RESULTS --minutes 0 makes the page from them.
set -eu
wheels=$1 module=$2 results=$3
shift 3
modules=$(mktemp -d)
for wheel in "$wheels"/*.whl; do python3 -m zipfile -e "$wheel" "$modules"; done
export PYTHONPATH="src:$modules" OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 MKL_NUM_THREADS=1
exec python3 -m "$module" --cache "$results" "$@"
