#!/bin/sh
# Sets up an environment in .venv of this checkout and runs the tests in it; from any folder, as often as you like.
# Arguments go to pytest: tests/run.sh -k losses
set -eu
root=$(CDPATH= cd -- "$(dirname -- "$0")/.." && pwd)
. "$root/scripts/environment.sh"
prepare cpu,test

say "Running the tests"
export OMP_NUM_THREADS=1 # pytest uses a process a core
export PYTHONDONTWRITEBYTECODE= # every command that a test starts would compile the package anew
cd "$root"
"$python" -m pytest -q -n auto --dist worksteal "$@"
