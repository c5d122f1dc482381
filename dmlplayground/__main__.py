"""``python -m dmlplayground`` is the command ``dmlplayground``."""

import sys

from .cli import main

sys.exit(main())
