"""Moderate assent and dissent in everyday words: "rather agree", "stimme eher zu", "比较同意"."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

_WEAK = {
    "en": ("rather", "somewhat", "slightly", "mildly", "a bit", "tend to", "lean towards"),
    "es": ("más bien", "algo", "ligeramente", "un poco"),
    "fr": ("plutôt", "légèrement", "un peu"),
    "de": ("eher", "etwas"),
    "ja": ("やや", "どちらかといえば", "どちらかと言えば", "どちらかというと", "少し"),
    "zh": ("比较", "有些", "有点", "略微", "稍微", "较", "较为"),
}
_CLEAR = {
    "en": ("mostly", "generally", "largely", "moderately"),
    "es": ("bastante",),
    "fr": ("assez", "en grande partie"),
    "de": ("größtenteils", "grösstenteils", "überwiegend", "weitgehend"),
    "ja": ("おおむね", "ある程度"),
    "zh": ("基本", "基本上", "大致"),
}
"""Still moderate, but too much for the weakest of three steps."""

_FOR = {
    "en": ("{} agree", "agree {}"),
    "es": ("{} de acuerdo",),
    "fr": ("{} d'accord",),
    "de": ("stimme {} zu", "{} stimme zu"),
    "ja": ("{}そう思う", "{}そう思います", "{}同意", "{}同意する", "{}同意します"),
    "zh": ("{}同意", "{}赞同"),
}
_AGAINST = {
    "en": ("{} disagree", "disagree {}"),
    "es": ("{} en desacuerdo",),
    "fr": ("{} pas d'accord", "{} en désaccord"),
    "de": ("stimme {} nicht zu", "lehne {} ab"),
    "ja": ("{}そう思わない", "{}そう思いません", "{}同意しない", "{}同意しません"),
    "zh": ("{}不同意", "{}不赞同"),
}
_WEAKLY_AGAINST = ("あまりそう思わない", "あまりそう思いません", "不太同意", "不太赞同")
_STEPS = frozenset({"agree", "disagree"})


def moderate(sides: Sequence[Sequence[tuple[str, str]]]) -> Iterator[tuple[str, str]]:
    """Each moderate saying with the code of the option that it means.

    `sides` are the options for and those against, each from the weakest to the strongest as code
    and English label. Of two on a side all moderate words mean the weaker; of three around a plain
    "agree" only the weak words do.
    """
    for options, frames in zip(sides, (_FOR, _AGAINST), strict=True):
        labels = [label.casefold() for _, label in options]
        if len(options) == 2 and labels[0] in _STEPS:
            tables = [_WEAK, _CLEAR]
        elif len(options) == 3 and labels[1] in _STEPS:
            tables = [_WEAK]
        else:
            continue
        code = options[0][0]
        for table in tables:
            for language, degrees in table.items():
                for frame in frames[language]:
                    yield from ((frame.format(degree), code) for degree in degrees)
        if frames is _AGAINST:
            yield from ((text, code) for text in _WEAKLY_AGAINST)
