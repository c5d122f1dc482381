#!/bin/sh
# Builds the documentation, and the wheel with it inside, into dist/. PYTHON=/path/to/python3 has the extra docs installed
# (default: that of .venv). Arguments go to pip.
set -eu
cd "$(dirname -- "$0")/.."
python=${PYTHON:-.venv/bin/python}
"$python" -m mkdocs build --quiet --strict
"$python" -m pip wheel --quiet --no-deps --wheel-dir dist "$@" .
ls dist/*.whl
