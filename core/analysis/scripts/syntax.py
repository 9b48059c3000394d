"""Scripts in R and Python that compute a result anew, with their data, for whoever wants to check.

An analysis offers them through `scripts=` of `@analysis`: a function with its own signature that
returns files. The writers are here:

- `cfa_files`: factor models, with lavaan and semopy;
- `invariance_files`: steps of measurement invariance, with lavaan;
- `reliability_files`: alpha, stratified alpha, omega, split-half, with psych, lavaan and numpy;
- `item_files`: discrimination and alpha without each item, with psych and numpy.

Every writer gives `data.csv` and scripts that read it from their own folder. Names that users
typed stay data everywhere (`syntax_text`).
"""

from core.analysis.scripts.syntax_cfa import SyntaxGroup, cfa_files
from core.analysis.scripts.syntax_invariance import LevelGroup, invariance_files
from core.analysis.scripts.syntax_scales import (
    ScaleGroup,
    item_files,
    reliability_files,
    scale_groups,
)

__all__ = [
    "LevelGroup",
    "ScaleGroup",
    "SyntaxGroup",
    "cfa_files",
    "invariance_files",
    "item_files",
    "reliability_files",
    "scale_groups",
]
