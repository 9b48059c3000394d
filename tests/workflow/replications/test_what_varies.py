"""What varies in the answers and not in print is set apart, or refused, and can be filtered."""

from __future__ import annotations

from itertools import product

import pandas as pd
import pytest

from core.__main__ import main
from core.errors import NotEnoughData
from core.workflow.answers import imports
from core.workflow.replications import comparing
from core.workflow.replications.tables import PUBLISHED_TABLES, published_table

INCONSISTENT = {"a": 3, "b": 1}
"""How many of ten words each template asks for get another answer the second time."""


def words(templates="ab", contexts=("",)):
    """Answers to ten words, twice, as a file."""
    rows = [
        (
            "gpt-4o",
            "en",
            template,
            context,
            f"w{item}",
            f"word {item}",
            "comedy_tragedy",
            repetition,
            "tragedy" if repetition == 2 and item < INCONSISTENT[template] else "comedy",
        )
        for template, context, item, repetition in product(templates, contexts, range(10), (1, 2))
    ]
    names = [
        "model",
        "language",
        "template",
        "context",
        "item",
        "text",
        "format",
        "repetition",
        "answer",
    ]
    return pd.DataFrame(rows, columns=names).to_csv(index=False).encode()


def consistencies(found):
    """The user's consistency by what it is of."""
    frame = found.table.frame.query("quantity == 'Consistency'")
    return dict(zip(frame["yours_of"], frame["yours"], strict=True))


@pytest.fixture
def study(workspace):
    imports.import_tidy(workspace, "words.csv", words(), study="words")
    return workspace


def test_templates_stand_apart_beside_the_printed_number(study):
    found = comparing.replicate(study, published_table("csi_scores"), ["words"])
    own = consistencies(found)
    assert {name.rpartition(" · ")[2]: value for name, value in own.items()} == {
        "template a": pytest.approx(0.7),
        "template b": pytest.approx(0.9),
    }


def test_a_filter_leaves_one_of_them(study):
    table = published_table("csi_scores")
    found = comparing.replicate(study, table, ["words"], where={"template": ["b"]})
    (own,) = consistencies(found).values()
    assert own == pytest.approx(0.9)


def test_the_command_line_filters_and_passes_options(study, tmp_path, capsys):
    study.close()
    out = tmp_path / "rates.csv"
    call = ["replicate", "csi_scores", "--study", "words", "--out", str(out)]
    assert main([*call, "--where", "template=a", "--option", "missing=available"]) == 0
    frame = pd.read_csv(out).query("quantity == 'Consistency'")
    assert frame["yours"].tolist() == [pytest.approx(0.7)]
    assert "counts on the tests that it has" in capsys.readouterr().err
    assert main([*call, "--option", "missing=some"]) != 0


def test_many_levels_are_refused_with_the_way_out(workspace):
    data = words("a", [f"c{number}" for number in range(13)])
    imports.import_tidy(workspace, "words.csv", data, study="words")
    found = comparing.replicate(workspace, published_table("csi_scores"), ["words"])
    assert found.table.frame["yours"].isna().all()
    (remark,) = found.table.frame["remark"].unique()
    assert "13 contexts" in remark
    assert "by a filter" in remark


def test_a_filter_that_leaves_out_what_was_printed_is_refused(study):
    table = published_table("asi_score")
    found = comparing.requests(study, table, ["words"], where={"form": ["alternate"]})
    assert all(isinstance(request, NotEnoughData) for request in found.values())


def test_every_option_of_the_analyses_is_passed(study):
    table = published_table("asi_validity")
    names = {option.name for option in comparing.options_of(table)}
    assert {"convergent", "texts", "lists", "descriptor", "first", "resamples"} <= names
    typed = {"convergent": "companion", "descriptor": "gender", "resamples": "150"}
    options = comparing.parsed_options(table, {**typed, "texts": ""})
    for request in comparing.requests(study, table, ["words"], options).values():
        assert {name: request.options[name] for name in typed} == {**typed, "resamples": 150}
        assert "texts" not in request.options
    with pytest.raises(NotEnoughData, match="The table has no option 'convergent'"):
        comparing.parsed_options(published_table("asi_score"), {"convergent": "companion"})


@pytest.mark.parametrize("table", PUBLISHED_TABLES, ids=lambda table: table.code)
def test_what_a_table_sets_is_no_option_of_the_user(table):
    names = {option.name for option in comparing.options_of(table)}
    assert not names & {"by", *(name for place in table.places for name in place.options)}
