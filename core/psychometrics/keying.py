"""Items that load against the others of their factor, as items keyed the wrong way do."""

from __future__ import annotations

from collections.abc import Sequence

LEAST_LOADING = 0.1  # smaller ones say nothing of a direction


def contrary_items(
    names: Sequence[str], loadings: Sequence[float], least: float = LEAST_LOADING
) -> list[int]:
    """Places of the items whose loading has the other sign than most of their factor.

    Parameters
    ----------
    names : p names
        The items of one factor or scale.
    loadings : p numbers
        Of these items on the factor; NaN and sizes below `least` are passed over.
    least : float
        The smallest size that counts.

    Notes
    -----
    Where as many items have either sign, those that load negatively.
    """
    clear = [place for place in range(len(names)) if abs(loadings[place]) >= least]
    negative = [place for place in clear if loadings[place] < 0]
    positive = [place for place in clear if loadings[place] > 0]
    return positive if len(negative) > len(positive) else negative


def keying_note(factor: str, names: Sequence[str], loadings: Sequence[float]) -> str:
    """The sentence that names the items, with their loadings."""
    listed = ", ".join(f"{name} ({own:.2f})" for name, own in zip(names, loadings, strict=True))
    return f"Against the other items of {factor} load: {listed}; check their keying."
