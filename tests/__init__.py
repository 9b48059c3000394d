"""Tests, with one thread of linear algebra, as start.py runs them and the app."""

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
