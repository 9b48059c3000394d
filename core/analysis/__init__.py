"""The analyses: each is one file, or one folder with a module `analysis`.

Importing this package registers them all. Other folders hold what several analyses, or the parts of
one, share.
"""

from importlib import import_module
from importlib.util import find_spec
from pkgutil import iter_modules


def register_all() -> None:
    """Import every analysis in the folders of this package, which registers those that are new."""
    for module in iter_modules(__path__):
        name = f"{__name__}.{module.name}"
        if not module.ispkg:
            import_module(name)
        elif find_spec(f"{name}.analysis"):
            import_module(f"{name}.analysis")


register_all()
