"""The built-in response formats: the same meaning in every language, names and orders filled in."""

import pytest

from core.domain.formats import BUILT_IN, LANGUAGES, TITLES, name_entities, reorder_options
from core.domain.instrument import Instrument, Item, Wording, problems


def test_every_built_in_format_has_a_title_and_is_found_by_its_own_code():
    assert list(TITLES) == list(BUILT_IN)
    assert all(code == response_format.code for code, response_format in BUILT_IN.items())


@pytest.mark.parametrize("code", BUILT_IN)
def test_a_bank_in_all_six_languages_has_no_problem_with_a_built_in_format(code):
    wordings = tuple(Wording(language, f"A text in {language}.") for language in LANGUAGES)
    bank = Instrument(
        "bank", "Bank", (Item("1", wordings),), (BUILT_IN[code],), languages=LANGUAGES
    )
    assert problems(bank) == ()


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("code", BUILT_IN)
def test_labels_of_a_format_differ_and_none_is_the_code_of_another_option(code, language):
    options = BUILT_IN[code].options
    said = [option.labels[language].casefold() for option in options]
    assert all(said)
    assert len(set(said)) == len(options)
    for option, label in zip(options, said, strict=True):
        assert label not in {other.code.casefold() for other in options if other is not option}


def test_codes_points_and_labels_of_studies_on_file_are_unchanged():
    kept = {
        "yes_no": ("yes 1 1 Yes Sí Ja", "no 0 -1 No No Nein"),
        "a_b": ("A 1 1 Yes Sí Ja", "B 0 -1 No No Nein"),
        "support_oppose": (
            "support 1 1 Support A favor Bin dafür",
            "oppose 0 -1 Oppose En contra Bin dagegen",
        ),
        "agree_disagree": (
            "agree 1 1 Agree De acuerdo Stimme zu",
            "disagree 0 -1 Disagree En desacuerdo Stimme nicht zu",
        ),
        "likert_6": (
            "0 0 -1 Strongly disagree Totalmente en desacuerdo Stimme überhaupt nicht zu",
            "1 1 -1 Somewhat disagree Bastante en desacuerdo Stimme größtenteils nicht zu",
            "2 2 -1 Slightly disagree Algo en desacuerdo Stimme eher nicht zu",
            "3 3 1 Slightly agree Algo de acuerdo Stimme eher zu",
            "4 4 1 Somewhat agree Bastante de acuerdo Stimme größtenteils zu",
            "5 5 1 Strongly agree Totalmente de acuerdo Stimme voll und ganz zu",
        ),
        "likert_7": (
            "1 1 -1 Strongly disagree Totalmente en desacuerdo Stimme überhaupt nicht zu",
            "2 2 -1 Disagree En desacuerdo Stimme nicht zu",
            "3 3 -1 Somewhat disagree Algo en desacuerdo Stimme eher nicht zu",
            "4 4 0 Neither agree nor disagree Ni de acuerdo ni en desacuerdo"
            " Stimme weder zu noch nicht zu",
            "5 5 1 Somewhat agree Algo de acuerdo Stimme eher zu",
            "6 6 1 Agree De acuerdo Stimme zu",
            "7 7 1 Strongly agree Totalmente de acuerdo Stimme voll und ganz zu",
        ),
    }
    for code, expected in kept.items():
        found = tuple(
            f"{o.code} {o.points:g} {o.stance} "
            + " ".join(o.labels[language] for language in ("en", "es", "de"))
            for o in BUILT_IN[code].options
        )
        assert found == expected
    assert [o.code for o in BUILT_IN["likert_4"].options] == ["1", "2", "3", "4"]
    assert [o.stance for o in BUILT_IN["likert_5"].options] == [-1, -1, 0, 1, 1]


def test_a_pair_gives_one_point_for_its_positive_option():
    for code in (
        "beneficial_harmful",
        "favorable_detrimental",
        "name_entity",
        "comedy_tragedy",
        "good_bad",
        "enjoyable_unpleasant",
    ):
        positive, negative = BUILT_IN[code].options
        assert (positive.points, positive.stance) == (1, 1)
        assert (negative.points, negative.stance) == (0, -1)
        if code != "name_entity":
            assert f"{positive.code}_{negative.code}" == code


def test_questions_statements_and_choices_each_take_their_own_wording():
    assert {BUILT_IN[code].mood for code in ("yes_no", "a_b")} == {"question"}
    assert {f.mood for code, f in BUILT_IN.items() if code.startswith("likert")} == {"statement"}
    assert BUILT_IN["agree_disagree"].mood == "statement"
    assert BUILT_IN["name_entity"].mood == "choice"
    assert BUILT_IN["free_text"].is_free_text


def test_names_stand_in_the_labels_and_a_name_that_looks_like_a_placeholder_is_kept():
    found = name_entities(BUILT_IN["name_entity"], "{entity_b} Ltd", "B & {entity}")
    for language in LANGUAGES:
        said = [option.labels[language] for option in found.options]
        assert said == ["{entity_b} Ltd", "B & {entity}"]
    assert [option.code for option in found.options] == ["entity", "entity_b"]


def test_names_change_nothing_in_a_format_that_does_not_ask_for_them():
    assert name_entities(BUILT_IN["likert_5"], "Alpha", "Beta") == BUILT_IN["likert_5"]


def test_options_come_in_the_order_asked_for_and_keep_their_points():
    found = reorder_options(BUILT_IN["likert_4"], ["3", "1", "4", "2"])
    assert [(option.code, option.points) for option in found.options] == [
        ("3", 3),
        ("1", 1),
        ("4", 4),
        ("2", 2),
    ]
    assert found.mood == BUILT_IN["likert_4"].mood


@pytest.mark.parametrize("codes", [["yes"], ["yes", "yes"], ["yes", "maybe"], ["yes", "no", "no"]])
def test_an_order_that_loses_or_repeats_an_option_is_refused(codes):
    with pytest.raises(ValueError, match="no order of the options"):
        reorder_options(BUILT_IN["yes_no"], codes)
