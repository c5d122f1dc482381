#!/bin/sh
# Sets up an environment in .venv of this checkout, then trains and compares every method for a few minutes; from any
# folder, as often as you like. Arguments go to `dmlplayground sweep`: experiments/quickstart.sh --dry-run
set -eu
root=$(CDPATH= cd -- "$(dirname -- "$0")/.." && pwd)
. "$root/scripts/environment.sh"
prepare cpu

say "dmlplayground sweep quickstart $*"
exec "$python" -m dmlplayground sweep "$root/experiments/quickstart.yaml" "$@"
