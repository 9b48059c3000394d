"""Designs of published studies, to be asked with question banks of our own."""

from __future__ import annotations

from dataclasses import dataclass

from core.domain.study import Design

PERSONAS = "Personas (60)"
CONVERSATIONS = "Conversations (30 English, first exchange)"
"""Sets of contexts that presets need; core.workflow.presets reads them from their files."""

_BRANDS = ("Apple", "Samsung", "Huawei")
_OWN_ITEMS = (
    "The items are our own in the same structure, so figures are not comparable with the published."
)


@dataclass(frozen=True)
class Preset:
    """A published design. `differs` says in whole sentences what is not as it was published.

    `contexts` names one of the sets above; its contexts are no part of `design`, whose study is
    the code of the preset. `small` is how many items the short variant asks.
    """

    title: str
    sentence: str
    source: str
    differs: tuple[str, ...]
    design: Design
    contexts: str = ""
    small: int = 10

    @property
    def code(self) -> str:
        """Its name in lists and the first name of a study made from it."""
        return self.design.study


_BRAND = "Sánchez Salazar (2024), MSc thesis, Universitat de Barcelona"
_BRAND_DIFFERS = (
    _OWN_ITEMS,
    "One wording of the instructions serves all formats.",
    "Unusable replies are asked for again five times at most; the study went on until one was "
    "usable. The first replies are kept and counted.",
    "The study also set top_p to 0.95 and 1,000 tokens a reply: set both at the respondent, with "
    "more tokens where replies end early.",
)
_SCALE = "Jung (2025), MSc thesis, University of Mannheim"
_SCALE_OWN_ITEMS = "The 22 statements are our own on another subject, with two subscales of 11."
_SCALE_CROSSING = (
    "Forms and option orders are crossed, so the alternate form also comes in random order; the "
    "study varied one at a time."
)
_WORDS = "Core Sentiment Inventory, anonymous submission to ACL"
_WORDS_DIFFERS = (
    "The words come from another count of frequencies, and names and coarse words are left out.",
    "The instructions are in the language of the words; the study also crossed the two.",
    "The stories by which the study tested validity are not part of this design.",
)
_SENTENCE_OF_WORDS = (
    "5,000 frequent {language} words, thirty in a call, are each put to comedy or tragedy, twice "
    "among other neighbors."
)


def _words(code: str, language: str, name: str) -> Preset:
    return Preset(
        f"Words by first reaction, {name}",
        _SENTENCE_OF_WORDS.format(language=name),
        _WORDS,
        _WORDS_DIFFERS,
        Design(
            code, f"words_{language}_5000", (), (language,), formats=("comedy_tragedy",),
            templates=("association",), temperatures=(0.0,), repetitions=2, items_per_call=30,
            item_order="shuffled",
        ),
        small=60,
    )  # fmt: skip


PRESETS = (
    Preset(
        "Image of a brand in four formats",
        "What a model thinks of each brand, whether it says so again, and whether the answer "
        "format changes it.",
        _BRAND,
        _BRAND_DIFFERS,
        Design(
            "brand_image", "brand_100", (),
            formats=("yes_no", "a_b", "likert_4", "likert_5"), templates=("question",),
            entities=_BRANDS, temperatures=(1.0,), repetitions=30, items_per_call=0, ask_again=5,
        ),
    ),
    Preset(
        "Which of two brands is preferred",
        "Every two brands compared in five formats; half of the repetitions name the second one "
        "first.",
        _BRAND,
        _BRAND_DIFFERS,
        Design(
            "brand_preference", "brand_100_preference", (),
            formats=("name_entity", "yes_no", "a_b", "likert_4", "likert_5"),
            templates=("question",), pairs=(_BRANDS[:2], _BRANDS[::2], _BRANDS[1:]),
            swap_halves=True, temperatures=(1.0,), repetitions=30, items_per_call=0, ask_again=5,
        ),
    ),
    Preset(
        "Reliability of a scale, by personas",
        "An attitude scale and its alternate form, with options in fixed and in random order; "
        "every persona counts as one person.",
        _SCALE,
        (_SCALE_OWN_ITEMS, "60 personas of our own instead of 296.", _SCALE_CROSSING),
        Design(
            "scale_personas", "attitude_22", (), forms=("original", "alternate"),
            label_orders=("as_is", "random"), temperatures=(0.0,),
        ),
        PERSONAS,
    ),
    Preset(
        "Reliability of a scale, by conversations",
        "The same scale after an earlier conversation; every conversation counts as one person.",
        _SCALE,
        (
            _SCALE_OWN_ITEMS,
            "30 short conversations of our own instead of 300 from a public collection.",
            _SCALE_CROSSING,
            "The ablation is not included: it needs conversations rewritten toward the attitude.",
        ),
        Design(
            "scale_conversations", "attitude_22", (), forms=("original", "alternate"),
            templates=("conversation",), label_orders=("as_is", "random"), temperatures=(0.0,),
        ),
        CONVERSATIONS,
    ),
    Preset(
        "Companion scale for convergence",
        "A second, shorter scale for the same personas, to see whether both scores rise together.",
        _SCALE,
        (
            "The 8 statements are our own, set beside our 22.",
            "60 personas of our own instead of 296.",
        ),
        Design("scale_companion", "attitude_companion_8", (), temperatures=(0.0,)),
        PERSONAS,
        small=4,
    ),
    Preset(
        "Opinions by yes or no, in six languages",
        "Which opinions a model holds, how firmly, and in which language: ten rounds, each in an "
        "order of its own. The second phase, with a user of the opposite opinion, is planned "
        "once this one is answered.",
        "Hirose & Uchida (2025), arXiv:2505.12183",
        (
            "60 questions of our own (15 of them in both directions) instead of 436.",
            "Six languages instead of four (Japanese, English, Spanish, French).",
            "Temperature 1 is our choice.",
        ),
        Design(
            "opinions_six_languages", "debates_60", (), ("en", "es", "fr", "de", "ja", "zh"),
            templates=("question",), temperatures=(1.0,), repetitions=10, item_order="shuffled",
        ),
    ),
    _words("words_english", "en", "English"),
    _words("words_chinese", "zh", "Chinese"),
    Preset(
        "Reliable political stances",
        "On which statements a stance holds under paraphrase, negation, the opposite, inverted "
        "labels and other instructions, each asked thirty times.",
        "Ceron et al. (2024), doi:10.1162/tacl_a_00710",
        (
            "60 statements of our own, with invented parties, instead of 239 from voting advice.",
            "One pair of labels for all templates; the study gave each template a pair of its own. "
            "The bank has other pairs: choose them as further answer formats.",
            "Temperature 1 is our choice; the study drew by top-p, which is set at the respondent.",
        ),
        Design(
            "policy_stances", "policy_60", (), formats=("agree_disagree",),
            forms=(
                "original", "paraphrase_1", "paraphrase_2", "paraphrase_3", "negation", "opposite",
            ),
            templates=(
                "personal_1", "personal_2", "personal_3",
                "impersonal_1", "impersonal_2", "impersonal_3",
            ),
            label_orders=("as_is", "inverted"), temperatures=(1.0,), repetitions=30,
        ),
    ),
)  # fmt: skip
"""Every preset, in the order a page lists them."""
