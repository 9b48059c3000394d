"""The analyses: each is one file, or one folder with a module `analysis`.

Importing this package registers them all, and those of installed packages that name a module in the
entry point group `inkblot.analyses`. Other folders hold what several analyses, or the parts of one,
share.
"""

import logging
from importlib import import_module
from importlib.metadata import entry_points
from importlib.util import find_spec
from pkgutil import iter_modules

GROUP = "inkblot.analyses"
_log = logging.getLogger(__name__)


def register_all() -> None:
    """Import every analysis in the folders of this package, which registers those that are new."""
    for module in iter_modules(__path__):
        name = f"{__name__}.{module.name}"
        if not module.ispkg:
            import_module(name)
        elif find_spec(f"{name}.analysis"):
            import_module(f"{name}.analysis")


def register_installed() -> None:
    """Import the analyses of installed packages; one that cannot be imported harms no other."""
    for entry in sorted(entry_points(group=GROUP), key=lambda entry: entry.name):
        try:
            entry.load()
        except Exception as error:  # noqa: BLE001  # another's code, with faults of any kind
            why = f"{type(error).__name__}: {error}"
            _log.warning("the analysis %s cannot be loaded: %s", entry.name, why)


register_all()
register_installed()
