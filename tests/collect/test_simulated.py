from __future__ import annotations

import asyncio
import math
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import multivariate_normal, norm

from core.collect import prompts
from core.collect.client import CallFailure, ChatRequest, FailureKind, Question
from core.collect.ratings import parse_rating
from core.collect.replies.reader import parse
from core.collect.simulated import SimulatedClient, expected_alpha, item_truth
from core.domain.formats import BUILT_IN
from core.domain.instrument import FREE_TEXT, Item, Option, Rating, ResponseFormat, Wording
from core.domain.study import Respondent, SamplingSettings, SimulationSettings, Status
from core.errors import DesignError

LIKERT = BUILT_IN["likert_5"]


def items(n=10, *, subscale="calm", reverse_every=0):
    return tuple(
        Item(
            f"{subscale}{i}",
            (Wording("en", f"Statement {i}."),),
            subscale,
            -1 if reverse_every and i % reverse_every == 1 else 1,
        )
        for i in range(n)
    )


def replies(simulation, trials):
    client = SimulatedClient(simulation)

    async def ask_all():
        found = []
        for trial in trials:
            message = {"role": "user", "content": trial.item.text("en")}
            request = ChatRequest("simulated", (message,), SamplingSettings(), trial)
            found.append(await client.complete(request))
        await client.close()
        return found

    return asyncio.run(ask_all())


def trials(bank, n, response_format=LIKERT, language="en"):
    return [
        Question((item,), response_format, language, context=f"p{person}")
        for person in range(n)
        for item in bank
    ]


def answers(simulation, bank, n, response_format=LIKERT):
    """Scored points, administrations by items, read from the replies' text; NaN if refused."""
    points = {o.code: o.points for o in response_format.options}
    low, high = response_format.points_range()
    asked = trials(bank, n, response_format)
    values = []
    for trial, reply in zip(asked, replies(simulation, asked), strict=True):
        option = parse(reply.text, response_format, "en").option
        value = points[option] if option else math.nan
        values.append(value if trial.item.keyed > 0 else low + high - value)
    return np.array(values).reshape(n, len(bank))


def alpha(values):
    k = values.shape[1]
    covariance = np.cov(values, rowvar=False)
    return k / (k - 1) * (1 - np.trace(covariance) / covariance.sum())


def item_rest(values):
    rest = values.sum(axis=1, keepdims=True) - values
    return np.array([np.corrcoef(values[:, j], rest[:, j])[0, 1] for j in range(values.shape[1])])


def drawn(simulation, bank, n, seed=5):
    """The model of the module's docstring, written a second time: scores, one subscale."""
    generator = np.random.default_rng(seed)
    truth = item_truth(simulation, bank)
    loading = np.array([t.loading for t in truth])
    keyed = np.array([t.keyed for t in truth])
    trait = generator.normal(size=(n, 1))
    latent = (
        keyed * loading * trait
        + np.sqrt(1 - loading**2) * generator.normal(size=(n, len(bank)))
        - np.array([t.difficulty for t in truth])
    )
    option = np.ceil(norm.cdf(latent) * 5)
    return np.where(keyed > 0, option, 6 - option)


def test_the_known_truth_is_recovered_from_the_replies():
    simulation, bank = SimulationSettings(), items(20, reverse_every=3)
    values = answers(simulation, bank, 2_000)
    reference = drawn(simulation, bank, 100_000)
    # Standard error of a correlation of about .6 among 2,000: (1 - .36) / sqrt(2000) = .014;
    # 20 of them are compared, so four standard errors are allowed.
    assert np.abs(item_rest(values) - item_rest(reference)).max() < 0.057
    # Alpha: (1 - .94) * sqrt(2 * 20 / (19 * 2000)) = .002; more is allowed as scores are coarse.
    expected = expected_alpha(simulation, bank, LIKERT)["calm"]
    assert alpha(values) == pytest.approx(expected, abs=0.008)
    assert alpha(reference) == pytest.approx(expected, abs=0.004)


def test_options_come_up_as_often_as_the_model_says():
    simulation, bank = SimulationSettings(), items(20)
    values = answers(simulation, bank, 2_000)
    for column, truth in enumerate(item_truth(simulation, bank)):
        cuts = norm.ppf([0, 0.2, 0.4, 0.6, 0.8, 1])
        expected = np.diff(norm.cdf(cuts + truth.difficulty))
        observed = np.bincount(values[:, column].astype(int), minlength=6)[1:] / 2_000
        assert np.abs(observed - expected).max() < 4.5 * math.sqrt(0.25 / 2_000)


def test_expected_alpha_agrees_with_the_bivariate_normal_distribution():
    simulation, bank = SimulationSettings(loading_spread=0.2), items(4)
    truth = item_truth(simulation, bank)
    share = [norm.cdf(-t.difficulty) for t in truth]  # of "yes"
    covariance = np.diag([p * (1 - p) for p in share])
    for i in range(4):
        for j in range(i):
            rho = truth[i].loading * truth[j].loading
            both = multivariate_normal(cov=[[1, rho], [rho, 1]]).cdf(
                [-truth[i].difficulty, -truth[j].difficulty]
            )
            covariance[i, j] = covariance[j, i] = both - share[i] * share[j]
    exact = 4 / 3 * (1 - np.trace(covariance) / covariance.sum())
    found = expected_alpha(simulation, bank, BUILT_IN["yes_no"], n=200_000)["calm"]
    assert found == pytest.approx(exact, abs=0.005)


def test_expected_alpha_scatters_as_documented():
    simulation, bank = SimulationSettings(), items(10)
    found = [
        expected_alpha(simulation, bank, LIKERT, seed=seed, n=2_000)["calm"] for seed in range(40)
    ]
    documented = (1 - np.mean(found)) * math.sqrt(20 / (9 * 2_000))
    assert 0.7 * documented < np.std(found, ddof=1) < 1.4 * documented


def test_acquiescence_lowers_alpha_of_a_balanced_scale_and_raises_it_of_a_one_sided_one():
    # A tendency to agree adds to one half of the recoded items what it takes from the other half:
    # more item variance, no more total variance. With all items keyed alike it adds to all of them.
    plain, agreeing = SimulationSettings(), SimulationSettings(acquiescence=0.8)
    balanced, one_sided = items(10, reverse_every=2), items(10)
    assert sum(item.keyed for item in balanced) == 0
    found = {
        name: [alpha(answers(simulation, bank, 600)) for simulation in (plain, agreeing)]
        for name, bank in {"balanced": balanced, "one_sided": one_sided}.items()
    }
    assert found["balanced"][1] < found["balanced"][0] - 0.05
    assert found["one_sided"][1] > found["one_sided"][0] + 0.02
    for name, bank in {"balanced": balanced, "one_sided": one_sided}.items():
        expected = expected_alpha(agreeing, bank, LIKERT)["calm"]
        assert found[name][1] == pytest.approx(expected, abs=0.06)


def test_traits_of_two_subscales_correlate_as_set():
    bank = (*items(15), *items(15, subscale="bold"))
    simulation = SimulationSettings(loading=0.9, loading_spread=0, trait_correlation=0.5)
    values = answers(simulation, bank, 1_000)
    calm, bold = values[:, :15].sum(axis=1), values[:, 15:].sum(axis=1)
    reliabilities = alpha(values[:, :15]) * alpha(values[:, 15:])
    disattenuated = np.corrcoef(calm, bold)[0, 1] / math.sqrt(reliabilities)
    assert disattenuated == pytest.approx(0.5, abs=0.1)  # four standard errors of .024
    assert set(expected_alpha(simulation, bank, LIKERT)) == {"calm", "bold"}


def test_refusals_come_as_often_as_set_and_are_read_as_such():
    simulation = SimulationSettings(refusal_rate=0.3, explanation_rate=0.4)
    asked = trials(items(10), 400)
    statuses = [parse(r.text, LIKERT, "en").status for r in replies(simulation, asked)]
    assert statuses.count(Status.REFUSED) / 4_000 == pytest.approx(0.3, abs=0.03)
    usable = statuses.count(Status.ANSWERED) + statuses.count(Status.EXPLAINED)
    assert usable + statuses.count(Status.REFUSED) == 4_000
    assert statuses.count(Status.EXPLAINED) / usable == pytest.approx(0.4, abs=0.04)


def test_position_bias_takes_the_first_option_shown_in_its_share():
    turned = replace(LIKERT, options=LIKERT.options[::-1])
    always = SimulationSettings(position_bias=1)
    for response_format, first in ((LIKERT, "1"), (turned, "5")):
        found = replies(always, trials(items(5), 20, response_format))
        assert {reply.text for reply in found} == {first}
    sometimes = SimulationSettings(position_bias=0.4)
    plain = replies(SimulationSettings(), trials(items(10), 400))
    biased = replies(sometimes, trials(items(10), 400))
    changed = [b.text for a, b in zip(plain, biased, strict=True) if a.text != b.text]
    assert set(changed) == {"1"}
    share = (len(changed) / 4_000) / (sum(r.text != "1" for r in plain) / 4_000)
    assert share == pytest.approx(0.4, abs=0.04)


def test_noise_alone_is_uniform_and_unrelated():
    values = answers(SimulationSettings(noise=1), items(10), 800)
    observed = np.bincount(values.astype(int).ravel(), minlength=6)[1:] / values.size
    assert np.abs(observed - 0.2).max() < 0.02
    assert np.abs(np.corrcoef(values, rowvar=False) - np.eye(10)).max() < 0.15


def test_noise_lowers_alpha_as_expected():
    simulation, bank = SimulationSettings(noise=0.4, position_bias=0.1), items(10)
    expected = expected_alpha(simulation, bank, LIKERT)["calm"]
    assert expected < expected_alpha(SimulationSettings(), bank, LIKERT)["calm"] - 0.1
    assert alpha(answers(simulation, bank, 1_000)) == pytest.approx(expected, abs=0.06)


MIXED = SimulationSettings(
    acquiescence=0.3, noise=0.2, position_bias=0.1, refusal_rate=0.1, explanation_rate=0.3
)


def test_the_same_question_is_answered_the_same_whatever_the_order():
    asked = trials(items(6), 30)
    forward = replies(MIXED, asked)
    assert replies(MIXED, asked) == forward
    assert replies(MIXED, asked[::-1])[::-1] == forward


def test_another_process_gives_the_same_answers():
    script = (
        "from tests.collect.test_simulated import *\n"
        "print('|'.join(r.text for r in replies(MIXED, trials(items(6), 5))))\n"
    )
    root = Path(__file__).parents[2]
    environment = {**os.environ, "PYTHONHASHSEED": "77", "PYTHONPATH": str(root)}
    done = subprocess.run(
        [sys.executable, "-c", script],
        capture_output=True,
        text=True,
        cwd=root,
        env=environment,
        check=True,
    )
    assert done.stdout.strip() == "|".join(r.text for r in replies(MIXED, trials(items(6), 5)))


def test_another_seed_gives_other_people_and_other_items():
    asked = trials(items(6), 30)
    first = [r.text for r in replies(SimulationSettings(seed=1), asked)]
    second = [r.text for r in replies(SimulationSettings(seed=2), asked)]
    same = sum(a == b for a, b in zip(first, second, strict=True)) / len(asked)
    assert same < 0.4  # 0.2 by chance
    assert item_truth(SimulationSettings(seed=1), items(2)) != item_truth(
        SimulationSettings(seed=2), items(2)
    )


def test_repetitions_contexts_and_entities_are_different_people():
    base = Question(items(1), LIKERT, "en")
    for changed in ("repetition", "context", "entity"):
        found = replies(
            SimulationSettings(), [replace(base, **{changed: value}) for value in range(1, 40)]
        )
        assert {reply.text for reply in found} == {"1", "2", "3", "4", "5"}


def test_the_order_of_the_options_does_not_change_unbiased_answers():
    turned = replace(LIKERT, options=LIKERT.options[::-1])
    simulation = SimulationSettings(noise=0.3)
    as_is = replies(simulation, trials(items(6), 30))
    assert replies(simulation, trials(items(6), 30, turned)) == as_is


def test_options_without_points_are_never_chosen():
    unsure = replace(LIKERT, options=(Option("9", None, {"en": "Don't know"}), *LIKERT.options))
    simulation = SimulationSettings(noise=0.3, position_bias=0.3)
    found = {r.text for r in replies(simulation, trials(items(6), 60, unsure))}
    assert found == {"1", "2", "3", "4", "5"}


def test_a_format_without_points_is_declined_in_plain_words():
    unscored = ResponseFormat("own", (Option("a", None), Option("b", None)))
    with pytest.raises(CallFailure, match="'own' has points") as caught:
        replies(SimulationSettings(), trials(items(1), 1, unscored))
    assert caught.value.kind is FailureKind.REJECTED
    with pytest.raises(DesignError, match="'own' has points"):
        expected_alpha(SimulationSettings(), items(2), unscored)


@pytest.mark.parametrize("language", ["en", "es", "de", "fr"])
@pytest.mark.parametrize("code", [code for code in BUILT_IN if code != FREE_TEXT])
def test_what_is_said_is_what_was_chosen_in_every_format_and_language(code, language):
    response_format = BUILT_IN[code]
    asked = trials(items(6), 12, response_format, language)
    plain = replies(SimulationSettings(), asked)
    wordy = replies(SimulationSettings(explanation_rate=1), asked)
    refused = replies(SimulationSettings(refusal_rate=1), asked)
    known = prompts.choices(response_format, language)
    for short, long, no in zip(plain, wordy, refused, strict=True):
        assert short.text in known
        meant = response_format.options[known.index(short.text)].code
        read = parse(long.text, response_format, language)
        assert (read.status, read.option) == (Status.EXPLAINED, meant), long.text
        assert parse(no.text, response_format, language).status is Status.REFUSED


def test_a_text_is_asked_for_and_written_the_same_every_time():
    asked = trials(items(3), 5, BUILT_IN[FREE_TEXT])
    texts = [reply.text for reply in replies(SimulationSettings(refusal_rate=1), asked)]
    assert all(2 <= text.count(".") <= 5 for text in texts)
    assert len(set(texts)) > 10
    assert [r.text for r in replies(SimulationSettings(refusal_rate=1), asked)] == texts


def test_a_block_is_answered_line_by_line_as_its_items_would_be_alone():
    bank = items(4)
    (block,) = replies(MIXED, [Question(bank, LIKERT, "en", context="p0")])
    alone = [reply.text for reply in replies(MIXED, trials(bank, 1))]
    assert block.text.splitlines() == [f"{n}. {said}" for n, said in enumerate(alone, 1)]


def test_an_opposite_form_is_answered_in_the_other_direction():
    simulation = SimulationSettings(loading=0.97, loading_spread=0.0)
    asked = trials(items(1), 200)
    turned = [replace(question, form="opposite") for question in asked]
    plain = [int(reply.text) for reply in replies(simulation, asked)]
    opposite = [int(reply.text) for reply in replies(simulation, turned)]
    assert np.corrcoef(plain, opposite)[0, 1] < -0.7


def test_a_reply_says_what_made_it_and_estimates_its_tokens():
    (reply,) = replies(SimulationSettings(), trials(items(1), 1))
    assert (reply.model, reply.finish_reason) == ("simulated", "stop")
    assert (reply.tokens_in, reply.tokens_out) == (3, 1)  # "Statement 0." has 12 characters


def test_loadings_lie_within_the_spread_and_never_reach_one():
    truth = item_truth(SimulationSettings(loading=0.7, loading_spread=0.1), items(200))
    loadings = [t.loading for t in truth]
    assert 0.6 <= min(loadings) < 0.62
    assert 0.78 < max(loadings) <= 0.8
    assert all(-0.5 <= t.difficulty <= 0.5 for t in truth)
    high = item_truth(SimulationSettings(loading=1.0, loading_spread=0.5), items(50))
    assert max(t.loading for t in high) == 0.97


def test_alpha_of_a_single_item_is_undefined():
    assert math.isnan(expected_alpha(SimulationSettings(), items(1), LIKERT)["calm"])


@pytest.mark.parametrize(
    "changes",
    [
        {"noise": 1.2},
        {"refusal_rate": -0.1},
        {"trait_correlation": -0.5},
        {"noise": 0.7, "position_bias": 0.7},
        {"acquiescence": -1},
        {"loading": math.nan},
    ],
)
def test_impossible_settings_are_refused(changes):
    with pytest.raises(DesignError) as caught:
        SimulatedClient(SimulationSettings(**changes))
    assert caught.value.remedy


def share_of_yes(simulation, questions):
    """The share of replies that say yes to a question of yes or no."""
    return np.mean([reply.text.startswith("Yes") for reply in replies(simulation, questions)])


def questions(bank, n, **conditions):
    return [
        Question((item,), BUILT_IN["yes_no"], "en", context=f"p{person}", **conditions)
        for person in range(n)
        for item in bank
    ]


# Of 4,000 answers, a share lies within .03 of its probability nearly always (3.8 standard errors).


def test_leaning_and_mean_acquiescence_shift_answers_by_standard_deviations_of_the_answer():
    keyed, reverse = items(40), tuple(replace(item, keyed=-1) for item in items(40))
    lean = SimulationSettings(loading=0, loading_spread=0, leaning=0.5, seed=5)
    agree = replace(lean, leaning=0, acquiescence_mean=0.5)
    difficulties = np.array([truth.difficulty for truth in item_truth(lean, keyed)])
    up, down = (norm.cdf(shift - difficulties).mean() for shift in (0.5, -0.5))
    assert share_of_yes(lean, questions(keyed, 100)) == pytest.approx(up, abs=0.03)
    assert share_of_yes(lean, questions(reverse, 100)) == pytest.approx(down, abs=0.03)
    assert share_of_yes(agree, questions(keyed, 100)) == pytest.approx(up, abs=0.03)
    assert share_of_yes(agree, questions(reverse, 100)) == pytest.approx(up, abs=0.03)
    negated = questions(keyed, 100, form="negation")
    assert share_of_yes(lean, negated) == pytest.approx(down, abs=0.03)


def test_the_set_share_of_answers_takes_the_opinion_of_the_user():
    bank = items(40)
    own = share_of_yes(SimulationSettings(seed=3), questions(bank, 100, phase="opposing"))
    firm, soft = SimulationSettings(seed=3), SimulationSettings(giving_way=0.6, seed=3)
    told = questions(bank, 100, phase="opposing", opinion="no")
    assert share_of_yes(firm, told) == own
    assert share_of_yes(soft, told) == pytest.approx(0.4 * own, abs=0.03)
    assert share_of_yes(soft, questions(bank, 100)) == share_of_yes(firm, questions(bank, 100))


def test_items_shift_from_language_to_language_with_the_spread_that_is_set():
    """Two normal answers of correlation r have the same sign in 1/2 + asin(r) / pi of all cases."""
    bank = items(2000)
    simulation = SimulationSettings(loading=0, loading_spread=0, language_spread=3, seed=2)

    def yes(language, repetition):
        asked = [
            Question((item,), BUILT_IN["yes_no"], language, repetition=repetition) for item in bank
        ]
        return np.array([r.text.startswith(("Yes", "Ja")) for r in replies(simulation, asked)])

    english = yes("en", 1)
    variance = 9 + 1 / 12 + 1  # of shifts, of difficulties, of errors
    within, across = (9 + 1 / 12) / variance, (1 / 12) / variance
    assert np.mean(english == yes("en", 2)) == pytest.approx(
        0.5 + np.arcsin(within) / np.pi, abs=0.03
    )
    assert np.mean(english == yes("de", 1)) == pytest.approx(
        0.5 + np.arcsin(across) / np.pi, abs=0.04
    )


def test_an_entity_of_better_standing_wins_against_the_other_in_both_orders():
    bank = items(20)
    simulation = SimulationSettings(entity_spread=2.0, seed=1)
    ahead = share_of_yes(simulation, questions(bank, 100, entity="Aster", entity_b="Birch"))
    back = share_of_yes(simulation, questions(bank, 100, entity="Birch", entity_b="Aster"))
    assert abs(ahead - 0.5) > 0.15
    assert ahead + back == pytest.approx(1, abs=0.08)
    same = questions(bank, 100, entity="Aster", entity_b="Aster")
    assert share_of_yes(simulation, same) == pytest.approx(0.5, abs=0.06)


def test_respondents_of_an_earlier_inkblot_keep_their_numbers():
    """Settings that came later change no number while they have no effect."""
    person = Respondent("one", "simulated", "m", simulation=SimulationSettings(seed=4))
    assert person.respondent_id == 5308481333170010765
    leaning = replace(person, simulation=SimulationSettings(seed=4, leaning=0.1))
    assert leaning.respondent_id != person.respondent_id
    whole = replace(person, simulation=SimulationSettings(seed=4, giving_way=0))
    assert whole.respondent_id == person.respondent_id


STORY_RATINGS = (Rating("Tragedy", 1, 10), Rating("comedy", 1, 10), Rating("length", 1, 10))


def stories(simulation, n=20, size=5):
    """Stories of n prompts for each number of negative words, in order of the number."""
    prompts_of = [
        Item(
            f"s{count}_{number}",
            (Wording("en", "Write."),),
            attributes={
                "words_positive": ", ".join(f"joy{k}" for k in range(size - count)),
                "words_negative": ", ".join(f"woe{k}" for k in range(count)),
            },
        )
        for count in range(size + 1)
        for number in range(n)
    ]
    free = ResponseFormat(FREE_TEXT, ())
    asked = [Question((item,), free, "en") for item in prompts_of]
    return [reply.text for reply in replies(simulation, asked)]


def ratings(simulation, texts):
    """What the judge makes of texts: a status and the ratings of each."""
    judge = ResponseFormat("ratings", (), ratings=STORY_RATINGS)
    items = (
        Item(f"t{number}", (Wording("en", f"Rate how tragic this is.\n{text}"),))
        for number, text in enumerate(texts)
    )
    asked = [Question((item,), judge, "en") for item in items]
    return [parse_rating(reply.text, STORY_RATINGS) for reply in replies(simulation, asked)]


def test_stories_hold_their_words_and_a_judge_finds_the_negative_ones_tragic():
    written = stories(SimulationSettings())
    assert all(f"woe{k}" in text for text in written[-20:] for k in range(5))
    assert "joy0" in written[0]
    assert "woe" not in written[0]
    rated = ratings(SimulationSettings(), written)
    assert {own.status for own in rated} == {Status.ANSWERED}
    by_count = np.array([[own.values[quality.code] for quality in STORY_RATINGS] for own in rated])
    means = by_count.reshape(6, 20, 3).mean(axis=1)
    assert (np.diff(means[:, 0]) > 0).all()
    assert (np.diff(means[:, 1]) < 0).all()
    assert np.abs(means[:, 2] - 5.5).max() < 1  # "length" speaks of neither
    assert by_count.min() >= 1
    assert by_count.max() <= 10


def test_noise_refusals_and_explanations_of_a_simulated_judge_are_those_of_other_answers():
    written = stories(SimulationSettings())
    noisy = ratings(SimulationSettings(noise=1.0), written)
    tragedy = np.array([own.values["Tragedy"] for own in noisy])
    counts = np.repeat(np.arange(6), 20)
    assert abs(np.corrcoef(counts, tragedy)[0, 1]) < 0.3  # 3 / sqrt(120)
    evasive = ratings(SimulationSettings(refusal_rate=0.3, explanation_rate=0.5, seed=4), written)
    shares = {status: sum(own.status == status for own in evasive) / 120 for status in Status}
    assert shares[Status.NO_ANSWER] == pytest.approx(0.3, abs=0.13)  # 3 standard errors
    assert shares[Status.EXPLAINED] == pytest.approx(0.35, abs=0.14)


def test_words_differ_in_themselves_so_that_both_labels_come_up_again_and_again():
    words = tuple(replace(item, rank=place) for place, item in enumerate(items(200), 1))
    scores = answers(SimulationSettings(), words, 2, BUILT_IN["comedy_tragedy"])
    for end in (scores.min(), scores.max()):
        assert (scores == end).all(axis=0).mean() > 0.2
    difficulty = [truth.difficulty for truth in item_truth(SimulationSettings(), words)]
    assert np.ptp(difficulty) == pytest.approx(8, abs=0.3)  # 200 draws over a range of 8
