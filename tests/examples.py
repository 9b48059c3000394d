"""How many examples a property gets whose examples take long: models fitted, numbers resampled.

All other properties follow the profile in tests/conftest.py.
"""

from hypothesis import settings

few_examples = settings(max_examples=8)
