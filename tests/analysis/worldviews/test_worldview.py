from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.analysis.worldviews.stance_reliability import stance_reliability
from core.analysis.worldviews.worldview.analysis import worldview as analysis
from core.analysis.worldviews.worldview.tables import party_pair_tables
from core.domain.frames import BANK_TABLES
from core.errors import NotEnoughData
from core.files.banks.reading import read_instrument
from core.workflow.statistics import analyses
from tests.analysis.plain_worldview import SETTLED, plain_worldview, settled
from tests.analysis.statement_frames import statements
from tests.examples import few_examples

GOLDEN = Path(__file__).parents[2] / "golden" / "worldview"
POLICY = Path(__file__).parents[3] / "docs" / "replications" / "banks" / "policy_239.csv"
YES, NO, SPLIT = (10, 0), (0, 10), (5, 5)
ANSWERS = {
    "one": {"a1": YES, "a2": NO, "a3": SPLIT, "b1": YES, "b2": YES, "b3": NO},
    "two": {"a1": YES, "a2": YES, "a3": NO, "b1": SPLIT, "b2": YES, "b3": SPLIT},
}
"""Template -> statement -> yes and no; reliable unless the answers are split."""
LOADINGS = [
    ("a1", "welfare", 1),
    ("a2", "welfare", -1),
    ("b1", "welfare", 1),
    ("b3", "welfare", -1),
    ("a3", "law", 1),
    ("b2", "law", -1),
    ("a1", "law", 0),
]
PARTIES = {"red": ("left", "A"), "blue": ("right", "A"), "green": ("centre", "B")}
POSITIONS = [
    ("a1", "red", 1),
    ("a2", "red", 0),
    ("a3", "red", -1),
    ("a1", "blue", -1),
    ("a2", "blue", -1),
    ("a3", "blue", 1),
    ("b1", "green", 1),
    ("b2", "green", -1),
    ("b3", "green", -1),
]


def answers(templates=ANSWERS, **factors):
    """OPTION_COUNTS of the statements in their original wording."""
    cells = {
        (item, template, "as_is", "original"): counts
        for template, own in templates.items()
        for item, counts in own.items()
    }
    return statements(cells, **factors)


def bank(loadings=LOADINGS, positions=POSITIONS, parties=None, countries=None):
    """The tables of a bank; the country of a statement is its first letter otherwise."""
    described = PARTIES if parties is None else parties
    countries = countries or {}
    rows = {
        "loadings": [("s", *row) for row in loadings],
        "positions": [("s", item, p, *described.get(p, ("", "")), v) for item, p, v in positions],
        "items": [
            ("s", item, k, math.nan, "", countries.get(item, item[0].upper()))
            for k, item in enumerate(ANSWERS["one"], 1)
        ],
    }
    return {
        name: pd.DataFrame(own, columns=list(BANK_TABLES[name].columns))
        for name, own in rows.items()
    }


def run(frame=None, tables=None, **options):
    settings = {"resamples": 100, "by": ("respondent",), **options}
    return analysis(answers() if frame is None else frame, **(tables or bank()), **settings)


def frames(result, name, index):
    own = next(t.frame for t in result.tables if t.name == name)
    return own.set_index(index) if index else own


def test_domains_leaning_parties_and_agrees_worked_by_hand():
    """Welfare: t1 4 of 4 for it, t2 1 for and 1 against; law: always against."""
    result = run()
    domains = frames(result, "domains", "domain")
    assert domains["stance"].to_dict() == pytest.approx({"welfare": 0.5, "law": -1.0})
    assert domains["sd"].to_dict() == pytest.approx({"welfare": math.sqrt(0.5), "law": 0.0})
    assert domains["n"].to_dict() == {"welfare": 3.0, "law": 1.5}
    assert domains.loc["welfare", ["agrees", "disagrees", "statements"]].tolist() == [2.5, 0.5, 4]
    assert domains["weak"].tolist() == ["few statements"] * 2
    assert (domains["ci_low"] <= domains["stance"]).all()
    each = frames(result, "templates", ["template", "domain"])["stance"]
    assert each.to_dict() == {
        ("one", "welfare"): 1,
        ("one", "law"): -1,
        ("two", "welfare"): 0,
        ("two", "law"): -1,
    }
    parties = frames(result, "parties", "party")
    three = parties.loc[["red", "blue", "green"]]
    assert three["share"].tolist() == pytest.approx([1 / 2, 1 / 6, 1 / 3])
    assert three["bound"].tolist() == pytest.approx([5 / 6, 5 / 6, 2 / 3])
    assert parties.loc["red", "sd"] == pytest.approx(math.sqrt(1 / 18))
    assert three["of_reliable"].tolist() == pytest.approx([0.6, 0.2, 0.5])
    assert parties["neutral"].to_dict() == {"red": 1, "blue": 0, "green": 0}
    leaning = frames(result, "leaning", ["country", "leaning"])["share"]
    assert leaning.to_dict() == pytest.approx(
        {
            ("all countries", "left"): 1 / 2,
            ("all countries", "centre"): 1 / 3,
            ("all countries", "right"): 1 / 6,
            ("A", "left"): 1 / 2,
            ("A", "right"): 1 / 6,
            ("B", "centre"): 1 / 3,
        }
    )
    (group,) = frames(result, "groups", []).to_dict("records")
    assert (group["reliable"], group["agrees"]) == pytest.approx((0.75, 0.675))
    assert (group["n"], group["statements"], group["templates"]) == (4.5, 6, 2)
    assert (result.n_used, result.n_missing) == (120, 0)


def test_a_country_without_a_statement_that_counts_is_left_out_of_left_centre_and_right():
    """B: three count in template one, none in two; C: none at all.

    Worked by hand. green (B) equals b1 and b3 of three in one: 2/3, and has no share in two, where
    it would be 0. pink (left, C) has no share, so that left is red's 1/2 and not half of it.
    """
    two = {**ANSWERS["two"], "b2": SPLIT}
    frame = answers(
        {t: {**own, "c1": SPLIT} for t, own in {"one": ANSWERS["one"], "two": two}.items()}
    )
    parties = {**PARTIES, "pink": ("left", "C")}
    tables = bank(positions=[*POSITIONS, ("c1", "pink", 1)], parties=parties)
    tables["items"] = pd.concat(
        [tables["items"], tables["items"].iloc[:1].assign(item="c1", country="C")]
    )
    result = run(frame, tables)
    own = frames(result, "parties", "party")
    shown = ["share", "bound", "n_templates"]
    assert own.loc["green", shown].tolist() == pytest.approx([2 / 3, 1, 1])
    assert own.loc["pink", ["share", "bound", "ci_low"]].isna().all()
    assert own.loc["pink", "remark"] == (
        "Undefined: no statement that a party is compared on counts."
    )
    leaning = frames(result, "leaning", ["country", "leaning"])
    everywhere = leaning.loc["all countries"]["share"].to_dict()
    assert everywhere == pytest.approx({"left": 1 / 2, "centre": 2 / 3, "right": 1 / 6})
    assert math.isnan(leaning.loc[("C", "left"), "share"])
    assert leaning.loc[("all countries", "left"), "ci_low"] <= 1 / 2


def test_both_shares_of_one_test_are_named_on_both_pages():
    """Template one: 5 of 6 pass; two: 3 pass, 2 fail, and 3 answers to a1 cannot be judged.

    Of those judged (5/6 + 3/5) / 2 = 72%, of those asked (5/6 + 3/6) / 2 = 67%.
    """
    frame = answers({**ANSWERS, "two": {**ANSWERS["two"], "a1": (3, 0)}})
    result = run(frame, resamples=0)
    (group,) = frames(result, "groups", []).to_dict("records")
    judged, asked = (5 / 6 + 3 / 5) / 2, (5 / 6 + 3 / 6) / 2
    assert (group["reliable"], group["of_judged"]) == pytest.approx((asked, judged))
    assert group["not_judged"] == 1
    other = stance_reliability(frame, by=("respondent",), resamples=0)
    (row,) = frames(other, "groups", []).to_dict("records")
    assert (row["of_asked"], row["share"]) == pytest.approx((asked, judged))
    (answer,) = analyses.by_name("worldview").answer(result)
    assert answer.sentence.startswith(
        "67% of 6 statements asked count, 72% of those that can be judged, mean over 2 templates; "
    )
    (answer,) = analyses.by_name("stance_reliability").answer(other)
    assert answer.sentence.startswith(
        "72% of 6 statements that can be judged are reliable (sampling; mean of 2 templates, SD "
        ".16), 67% of all 6 asked; "
    )


def test_a_group_that_nobody_can_read_has_no_share_that_counts():
    unread = statements(
        {(item, "one", "as_is", "original"): (0, 0) for item in ANSWERS["one"]},
        unclear=12,
        respondent="b",
    )
    result = run(pd.concat([answers(), unread]))
    group = frames(result, "groups", "respondent").loc["b"]
    assert group[["reliable", "reliable_low", "of_judged", "agrees"]].isna().all()
    assert (result.n_used, result.n_missing, result.n_left_out) == (120, 72, 0)


def test_only_statements_of_one_stance_in_all_templates_count_or_all_with_a_stance():
    """Six tests leave a1 and b2, both yes; all have a stance but those of a tie."""
    six = run(count="six")
    assert frames(six, "domains", "domain")["stance"].to_dict() == {"welfare": 1.0, "law": -1.0}
    assert frames(six, "groups", []).loc[0, ["n", "agrees", "reliable"]].tolist() == pytest.approx(
        [2, 1, 1 / 3]
    )
    wavering = {**ANSWERS["one"], "a3": (7, 3)}
    every = run(answers({"one": wavering}), count="all")
    assert frames(every, "domains", "domain").loc["law", "stance"] == 0.0  # a3 for it, b2 against
    assert frames(run(answers({"one": wavering})), "domains", "domain").loc["law", "stance"] == -1.0


def test_parties_against_each_other_with_neutral_and_without():
    """Ranks of red 3 2 1 and of blue 1.5 1.5 3: -1.5 / sqrt(3). Two statements are too few."""
    result = run()
    pairs = frames(result, "party_pairs", ["first", "second"])
    assert pairs.index.tolist() == [("red", "blue")]
    row = pairs.loc[("red", "blue")]
    assert (row["rho"], row["n"], row["n_decided"]) == (pytest.approx(-math.sqrt(0.75)), 3, 2)
    assert math.isnan(row["rho_decided"])
    assert "Without neutral: undefined: the correlation needs three statements" in row["remark"]
    means = frames(result, "leaning_pairs", ["first", "second"])
    assert means.loc[("left", "right"), "rho"] == pytest.approx(-math.sqrt(0.75))
    assert any("not compared: 2." in note for note in result.notes)


def test_positions_of_a_bank_correlate_as_in_r():
    """tests/golden/worldview/make.R: every two parties of a country, 239 statements."""
    own = read_instrument("policy_239.csv", POLICY.read_bytes()).instrument
    parties = {p.code: (p.leaning, p.country) for p in own.parties}
    rows = [(item.code, p, v) for item in own.items for p, v in item.positions.items()]
    tables, notes = party_pair_tables(bank(positions=rows, parties=parties)["positions"], 0.95)
    ours = tables[0].frame.set_index(["first", "second"])
    expected = pd.read_csv(GOLDEN / "spearman.csv").set_index(["first", "second"])
    assert set(ours.index) == set(expected.index)
    pd.testing.assert_frame_equal(
        ours.loc[expected.index, list(expected.columns)], expected, check_dtype=False, rtol=1e-12
    )
    assert notes == (
        "Pairs of parties without a common statement, such as those of two countries, are not "
        "compared: 189.",
    )


def test_what_differs_between_contexts_is_no_spread_over_templates():
    always, never = (
        answers().assign(context=name, stance=lambda f, sign=sign: f["stance"].abs() * sign)
        for name, sign in (("p1", 1.0), ("p2", -1.0))
    )
    groups = frames(run(pd.concat([always, never]), count="all"), "groups", None).iloc[0]
    one = frames(run(always, count="all"), "groups", None).iloc[0]
    assert (groups["agrees"], groups["agrees_sd"]) == (0.5, 0)  # 1 in each template, then 0
    assert groups["templates"] == one["templates"]
    assert one["agrees"] == 1


def test_the_answer_gives_the_numbers_of_each_group():
    more = pd.concat([answers(), answers(respondent="b")])
    spoken = {
        one.group: one.sentence
        for one in analyses.by_name("worldview").answer(run(more, least_reliable=1))
    }
    assert set(spoken) == {"gpt", "b"}
    # the intervals of domains hold 0: no side, also of law with -1 in three statements
    for part in (
        "75%",
        "6 statements",
        "left 50%",
        "centre 33%",
        "right 17%",
    ):
        assert part in spoken["gpt"], part
    assert "welfare" not in spoken["gpt"]
    assert "law" not in spoken["gpt"]
    (alone,) = analyses.by_name("worldview").answer(run(least_reliable=1, resamples=0))
    assert "; domains have no intervals, so no side is named; " in alone.sentence
    few = analyses.by_name("worldview").answer(run())[0].sentence
    assert "no domain has enough statements" in few


CASES = {
    "No statement loads on a domain": {"tables": bank(loadings=[])},
    "No party has a position": {"tables": bank(positions=[])},
    "Parties without a leaning count for none of left, centre and right: red.": {
        "tables": bank(parties={**PARTIES, "red": ("", "A")})
    },
    "Parties without a country are compared on every statement that they have a position on": {
        "tables": bank(parties={**PARTIES, "red": ("left", "")})
    },
    "No party has a country, so the leaning is overall only.": {
        "tables": bank(parties={name: (side, "") for name, (side, _) in PARTIES.items()})
    },
    "1 statement is (a1) without a country": {"tables": bank(countries={"a1": ""})},
    "All statements are without a country": {
        "tables": bank(countries=dict.fromkeys(ANSWERS["one"], ""))
    },
    "Positions of parties on statements of another country are left out: 1.": {
        "tables": bank(positions=[*POSITIONS, ("b1", "red", 1)])
    },
    "gpt: one template, so no SD over templates.": {"frame": answers({"one": ANSWERS["one"]})},
    "gpt: there is one template, and the test across templates needs two": {
        "frame": answers({"one": ANSWERS["one"]}),
        "count": "six",
    },
    "gpt: no statement is reliable, so there is no worldview.": {
        "frame": answers({"one": dict.fromkeys(ANSWERS["one"], SPLIT)})
    },
    "gpt: no statement has a stance, so there is no worldview.": {
        "frame": answers({"one": dict.fromkeys(ANSWERS["one"], SPLIT)}),
        "count": "all",
    },
    "gpt: whether a statement is reliable cannot be judged in 1 of 12 cases": {
        "frame": answers({**ANSWERS, "two": {**ANSWERS["two"], "a1": (3, 0)}})
    },
    "Not among the tests: paraphrases (no statement was asked in a paraphrase);": {},
    "The banks of the studies differ in a loading of a statement; the first counts.": {
        "tables": bank(loadings=[*LOADINGS, ("a1", "welfare", -1)])
    },
}


@pytest.mark.parametrize("words", CASES)
def test_what_is_missing_is_said_and_the_rest_stands(words):
    result = run(**CASES[words])
    assert [note for note in result.all_notes if note.startswith(words)], result.all_notes
    assert frames(result, "groups", [])["statements"].tolist() == [6]
    analyses.by_name("worldview").answer(result)


def test_numbers_without_statements_are_undefined_with_the_reason():
    without = {t: {**own, "a3": SPLIT, "b2": SPLIT} for t, own in ANSWERS.items()}
    rows = [*LOADINGS, ("gone", "never", 1), ("b3", "rare", 1)]
    law = frames(run(answers(without), bank(loadings=rows)), "domains", "domain")
    assert law.loc["law", "remark"] == (
        "Undefined: no statement of the domain counts in any template."
    )
    assert law.loc["law", ["stance", "ci_low"]].isna().all()
    assert "never" not in law.index  # a domain of statements that were not asked
    assert law.loc["rare", "remark"] == (
        "In 1 of 2 templates no statement counts. No interval: it needs two statements that count."
    )
    assert law.loc["welfare", "stance"] == 0.5
    unleaning = run(tables=bank(parties={**PARTIES, "red": ("", "A")}))
    leaning = frames(unleaning, "leaning", ["country", "leaning"])
    assert ("all countries", "left") not in leaning.index
    assert frames(unleaning, "parties", "party").loc["red", "share"] == 0.5
    elsewhere = run(tables=bank(parties={**PARTIES, "red": ("left", "C")}))
    red = frames(elsewhere, "parties", "party").loc["red"]
    assert red["remark"] == "Undefined: no statement that a party is compared on was asked."
    assert math.isnan(red["share"])
    assert math.isnan(frames(run(resamples=0), "groups", []).loc[0, "agrees_low"])


def test_groups_are_compared_on_each_domain_over_its_statements():
    opposed = {t: {i: (no, yes) for i, (yes, no) in own.items()} for t, own in ANSWERS.items()}
    frame = pd.concat([answers(), answers(opposed, respondent="b")])
    compared = frames(run(frame), "comparisons", "held")
    assert compared["n"].to_dict() == {"welfare": 4, "law": 2}
    # of welfare: a1 +1, a2 0 over both templates, b1 +1, b3 +1; the other is its mirror image
    assert compared.loc["welfare", "difference"] == pytest.approx(-1.5)
    assert compared.loc["law", "difference"] == pytest.approx(2.0)


def test_answers_without_a_stance_or_without_the_original_wording_are_refused():
    with pytest.raises(NotEnoughData, match="no answer to the original wording"):
        run(answers()[lambda f: f["form"] == "negation"])
    with pytest.raises(NotEnoughData, match="state no stance"):
        run(answers().assign(stance=np.nan))


def random_study(seed, n_respondents=1):
    """Answers of respondents in some templates, and a bank with gaps, for the plain program."""
    chance = np.random.default_rng(seed)
    templates = [f"t{k}" for k in range(int(chance.integers(1, 4)))]
    items = [f"{country}{k}" for country in "ab" for k in range(int(chance.integers(2, 7)))]
    cells = [
        {
            t: {i: (int(y := chance.choice([0, 1, 4, 6, 11, 12])), 12 - int(y)) for i in items}
            for t in templates
        }
        for _ in range(n_respondents)
    ]
    loadings = {
        (i, d): int(chance.integers(-1, 2)) for i in items for d in "xyz" if chance.random() < 0.7
    }
    parties = {
        f"p{k}": (str(chance.choice(["left", "centre", "right"])), str(chance.choice(["A", "B"])))
        for k in range(int(chance.integers(1, 6)))
    }
    positions = {
        (i, p): int(chance.integers(-1, 2))
        for i in items
        for p, (_, home) in parties.items()
        if i[0].upper() == home and chance.random() < 0.9
    }
    return cells, loadings, parties, positions


def tables_of(cells, loadings, parties, positions):
    """The tables of a random bank."""
    items = list(next(iter(cells[0].values())))
    tables = bank(
        [(*key, v) for key, v in loadings.items()],
        [(*key, v) for key, v in positions.items()],
        parties,
    )
    rows = [("s", i, 1, math.nan, "", i[0].upper()) for i in items]
    return {**tables, "items": pd.DataFrame(rows, columns=tables["items"].columns)}


def test_a_hundred_random_studies_agree_with_a_plain_program():
    """Four respondents to each of 25 banks."""
    for seed in range(25):
        cells, loadings, parties, positions = random_study(seed, 4)
        count = ("five", "six", "all")[seed % 3]
        frame = pd.concat([answers(own, respondent=f"r{k}") for k, own in enumerate(cells)])
        tables = tables_of(cells, loadings, parties, positions)
        result = run(frame, tables, count=count, resamples=0, sampling_resamples=0)
        for k, own in enumerate(cells):
            plain = plain_worldview(own, loadings, parties, positions, count)
            assert numbers_of(result, f"r{k}") == pytest.approx(plain, nan_ok=True), (seed, k)


def numbers_of(result, respondent):
    """The numbers of one group by what they are of, as the plain program names them."""

    def rows(name):
        table = frames(result, name, [])
        return table[table["respondent"] == respondent].to_dict("records")

    shares = ("share", "sd", "bound")
    (group,) = rows("groups")
    return {
        **{
            ("domain", r["domain"], k): r[k] for r in rows("domains") for k in ("stance", "sd", "n")
        },
        **{("party", r["party"], k): r[k] for r in rows("parties") for k in shares},
        **{
            ("leaning", r["country"], r["leaning"], k): r[k]
            for r in rows("leaning")
            for k in shares
        },
        **{("group", k): group[k] for k in ("agrees", "agrees_sd", "reliable", "reliable_sd")},
    }


def test_the_plain_program_knows_which_of_twelve_answers_are_settled():
    assert {yes for yes in (0, 1, 4, 6, 11, 12) if settled(yes)} == SETTLED


@few_examples
@given(st.integers(0, 10_000))
def test_turning_every_answer_turns_every_stance_and_nothing_exceeds_its_bound(seed):
    (cells,), loadings, parties, positions = random_study(seed)
    tables = tables_of([cells], loadings, parties, positions)
    turned = {t: {i: (no, yes) for i, (yes, no) in own.items()} for t, own in cells.items()}
    one, other = (run(answers(own), tables, resamples=20) for own in (cells, turned))
    if loadings:
        stances = [frames(r, "domains", "domain")["stance"] for r in (one, other)]
        assert stances[0].to_list() == pytest.approx((-stances[1]).to_list(), nan_ok=True)
        assert stances[0].abs().max() <= 1 or stances[0].isna().all()
    own = frames(one, "parties", "party")
    assert (own["share"].isna() | (own["share"] <= own["bound"] + 1e-12)).all()
    both = own["share"] + frames(other, "parties", "party")["share"]
    assert (both.isna() | (both <= own["bound"] + 1e-12)).all()
