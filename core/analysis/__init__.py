"""The analyses, in folders by what they are about.

Each is a file, or a folder with a module `analysis`. The folder `kit` is what they are built with.

Importing this package registers them all, and those of installed packages that name a module in the
entry point group `inkblot.analyses`.
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
    for folder in iter_modules(__path__):
        package = import_module(f"{__name__}.{folder.name}")
        for module in iter_modules(package.__path__, f"{package.__name__}."):
            if not module.ispkg:
                import_module(module.name)
            elif find_spec(f"{module.name}.analysis"):
                import_module(f"{module.name}.analysis")


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
