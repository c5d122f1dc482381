"""``python -m dmlplayground.reports.findings RESULTS FOLDER`` writes the page and its figures."""

from __future__ import annotations

import sys

from ...base.errors import UserError
from . import write

if __name__ == "__main__":
    try:
        if len(sys.argv) != 3:
            raise UserError(
                "name the folder of results and that of the page: experiments/results/equal docs."
            )
        write(*sys.argv[1:])
    except UserError as problem:
        print(f"error: {problem}", file=sys.stderr)
        sys.exit(2)
