"""Several named model texts in one: each under a line `## Name`."""

from __future__ import annotations

from core.analysis.factor_models.cfa_names import ModelNames
from core.analysis.factor_models.cfa_text import typed_model
from core.psychometrics.factor_models.cfa_model import ParsedModel
from core.psychometrics.factor_models.cfa_syntax import ModelTextError

_HEAD = "##"
_REMEDY = "Head each model by a line such as: ## Two factors"


def named_models(text: str, names: ModelNames) -> dict[str, ParsedModel]:
    """The models of a text, by name, in order.

    Parameters
    ----------
    text : str
        Model texts, each headed by a line of two number signs and a name.
    names : ModelNames
        The names that items have in model texts.

    Returns
    -------
    dict
        Models by name; lines in messages count from the top of the whole text.

    Raises
    ------
    ModelTextError
        Something stands before the first heading, a name is missing or repeats, there is only one
        model, or a model cannot be read.
    """
    sections: dict[str, list[str]] = {}
    name = ""
    for number, line in enumerate(text.splitlines(), start=1):
        if line.strip().startswith(_HEAD):
            name = _new_name(line, number, sections)
            sections[name] = [""] * number
        elif name:
            sections[name].append(line)
        elif line.split("#")[0].strip():
            raise ModelTextError(
                f'Line {number} ("{line.strip()}") has no model name above.', _REMEDY
            )
    if len(sections) < 2:
        raise ModelTextError(
            f"A comparison takes two models, and there {'is one' if sections else 'is none'}.",
            _REMEDY,
        )
    return {name: _read(name, "\n".join(lines), names) for name, lines in sections.items()}


def _new_name(line: str, number: int, sections: dict[str, list[str]]) -> str:
    """The name in a heading."""
    name = line.strip().removeprefix(_HEAD).strip()
    if not name:
        raise ModelTextError(f"The model headed in line {number} has no name.", _REMEDY)
    if name in sections:
        raise ModelTextError(
            f'Two models are called "{name}" (line {number}).', "Give each a name of its own."
        )
    return name


def _read(name: str, text: str, names: ModelNames) -> ParsedModel:
    """One model; a message names it."""
    try:
        model = typed_model(text, names)
    except ModelTextError as error:
        raise ModelTextError(f'Model "{name}": {error.problem}', error.remedy) from None
    return model
