#!/bin/sh
# Runs arenas from nothing to their finals, one core each, and keeps what has finished: experiments/arenas/run.sh glyphs icons
# It can be stopped at any time and started again. Records go to runs/arenas/NAME and, in small, to experiments/results/arenas/NAME.
set -eu
root=$(CDPATH= cd -- "$(dirname -- "$0")/../.." && pwd)
cd "$root"
python=${PYTHON:-python}
for name in "$@"; do
    files=experiments/arenas/$name
    runs=runs/arenas/$name
    kept=experiments/results/arenas/$name
    # All methods once, then all methods again: what is there when time ends is there for all.
    "$python" -m dmlplayground tune "$files/search.yaml" --store "$runs/search" --workers "${WORKERS:-1}"
    "$python" experiments/results/keep.py "$runs/search" "$kept/search"
    "$python" -m dmlplayground sweep "$files/finals.yaml" --store "$runs/finals" --workers "${WORKERS:-1}"
    "$python" experiments/results/keep.py "$runs/finals" "$kept/finals"
done
