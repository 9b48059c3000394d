"""One file per analysis. Importing this package imports every sibling, which registers them.

The folders hold what several analyses, or the parts of one, share.
"""

from importlib import import_module
from pkgutil import iter_modules

for _module in iter_modules(__path__):
    if not _module.ispkg:
        import_module(f"{__name__}.{_module.name}")
