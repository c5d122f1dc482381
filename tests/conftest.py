"""What all tests share: one thread a process, and NumPy prepared before anyone imports MXNet."""

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")  # read when libmxnet loads, hence above the imports

import dmlplayground  # noqa: F401
