"""What the search for a model of ordered answers came to, in sentences."""

from __future__ import annotations

from core.psychometrics.ordered.wlsmv_fit import WeightedFit

_FEW_ROWS = 200


def search_notes(fit: WeightedFit) -> list[str]:
    """Whether the search settled and the parameters are determined."""
    found: list[str] = []
    if not fit.converged:
        found.append(
            "The search did not converge: the estimates are where it stopped, not a solution. "
            "Simplify the model or use more rows."
        )
    if fit.undetermined:
        names = [
            f"{p.left} {p.op} {p.right}"
            for p in fit.structure.table.parameters
            if p.free in fit.undetermined
        ]
        found.append(
            "The model is not identified: other values of these parameters fit as well: "
            f"{', '.join(names)}. There are no standard errors and tests; fix one of them."
        )
    if fit.df == 0:
        found.append("The model has no degrees of freedom, so its fit cannot be tested.")
    if fit.n <= len(fit.polychoric.names):
        found.append(
            f"{fit.n} rows for {len(fit.polychoric.names)} items: the fit cannot be tested with no "
            "more rows than items."
        )
    elif fit.n < _FEW_ROWS:
        found.append(
            f"{fit.n} rows are few for this estimator; below {_FEW_ROWS} its tests and standard "
            "errors are rough."
        )
    return found
