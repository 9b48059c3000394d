"""Prices of models are data of the user's, and count where a respondent has none."""

import io
from dataclasses import replace
from datetime import date, timedelta

import pandas as pd
import pytest

from core.errors import CollectionError, FileError
from core.workflow.designs import studies
from core.workflow.respondents import catalog, prices
from core.workflow.respondents.prices import Price
from core.workflow.runs import control
from tests.fault_server import FaultServer, Step
from tests.workflow.studies import KEY_VARIABLE, freeze, service

DAY = date(2026, 11, 1)


def test_the_newest_price_of_a_model_counts_and_a_forgotten_one_does_not(workspace):
    prices.save_prices(workspace, [Price("a", 1.0, 2.0, DAY, "list")])
    prices.save_prices(workspace, [Price("b", 3.0, 4.0, DAY)])
    prices.save_prices(workspace, [Price(" a ", 5.0, 6.0, DAY)])
    assert prices.list_prices(workspace) == (Price("a", 5.0, 6.0, DAY), Price("b", 3.0, 4.0, DAY))
    prices.forget_price(workspace, "a")
    assert [p.model for p in prices.list_prices(workspace)] == ["b"]


@pytest.mark.parametrize(
    ("price", "words"),
    [
        (Price(" ", 1.0, 1.0, DAY), "names no model"),
        (Price("a", -1.0, 1.0, DAY), "-1.0 is no price"),
        (Price("a", 1.0, float("nan"), DAY), "nan is no price"),
    ],
)
def test_what_is_no_price_is_refused(workspace, price, words):
    with pytest.raises(CollectionError, match=words):
        prices.save_prices(workspace, [price])
    assert prices.list_prices(workspace) == ()


def test_a_price_of_the_respondent_comes_before_that_of_the_table(workspace):
    prices.save_prices(workspace, [Price("test-model", 5.0, 6.0, DAY)])
    own = service("http://127.0.0.1:1/v1", price_in=1.0, price_out=2.0)
    assert prices.with_prices(workspace, own) == own
    without = service("http://127.0.0.1:1/v1")
    found = prices.with_prices(workspace, without).sampling
    assert (found.price_in, found.price_out) == (5.0, 6.0)
    assert prices.with_prices(workspace, replace(without, model="other")).sampling.price_in is None


def test_a_price_entered_after_freezing_gives_the_cost_and_lets_a_cap_hold(workspace, monkeypatch):
    with FaultServer() as server:
        monkeypatch.setenv(KEY_VARIABLE, server.key)
        record = freeze(workspace, service(server.base_url), n_personas=1)
        with pytest.raises(CollectionError, match="not known"):
            control.start(workspace, "study", cost_cap=1.0)
        assert studies.size(workspace, record.design).unpriced == ("Service",)
        prices.save_prices(workspace, [Price("test-model", 1.0, 2.0, DAY)])
        low, high = studies.size(workspace, record.design).cost
        assert 0 < low < high
        control.start(workspace, "study", cost_cap=1.0)
        done = control.wait(workspace, "study", every_s=0.02)
    assert (done.state, done.cost_unknown) == ("finished", 0)
    assert 0 < done.cost < high
    assert catalog.by_label(workspace, "Service").sampling.price_in is None


def test_prices_go_out_as_a_file_and_come_back_with_cached_ones(workspace):
    prices.save_prices(
        workspace, [Price("a", 1.0, 2.0, DAY, "=list"), Price("b", 3, 4, DAY, "", 0.3)]
    )
    file, before = prices.export_prices(workspace), prices.list_prices(workspace)
    assert file.decode().splitlines()[1:] == ["a,1,2,,2026-11-01,'=list", "b,3,4,0.3,2026-11-01,"]
    for model in ("a", "b"):
        prices.forget_price(workspace, model)
    assert prices.import_prices(workspace, "prices.csv", file) == 2
    assert prices.list_prices(workspace) == before


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("m,x,1,,2026-11-01,", "line 3: price_in is 'x', which is not a number"),
        ("m,1,1,,1.11.2026,", "line 3: as_of is '1.11.2026', which is not a date"),
        ("m,1,-1,,2026-11-01,", "line 3: -1.0 is no price"),
        (",1,1,,2026-11-01,", "line 3: The price names no model"),
        ("ok,1,1,,2026-11-01,", "line 3: 'ok' has a price already"),
        ("m,1,1,,2999-11-01,", "line 3: The date 2999-11-01 lies ahead"),
    ],
)
def test_a_file_with_a_line_that_is_no_price_changes_nothing(workspace, line, words):
    file = f"model,price_in,price_out,price_cached,as_of,source\nok,1,1,,2026-11-01,\n{line}\n"
    with pytest.raises(FileError, match=words):
        prices.import_prices(workspace, "prices.csv", file.encode())
    assert prices.list_prices(workspace) == ()


@pytest.mark.parametrize(
    ("header", "words"),
    [
        ("model,price_in,as_of", "'price_out' is missing"),
        ("model,price_in,price_out,as_of,currency", "'currency' is unknown"),
    ],
)
def test_a_file_with_other_columns_is_refused(workspace, header, words):
    with pytest.raises(FileError, match=words):
        prices.import_prices(workspace, "prices.csv", f"{header}\n".encode())


def test_a_price_is_old_after_ninety_days():
    day = prices.today()
    assert not Price("a", 1, 1, day - timedelta(days=90)).is_old
    assert Price("a", 1, 1, day - timedelta(days=91)).is_old


def test_cached_tokens_are_kept_with_the_attempt_shown_and_charged_at_their_price(
    workspace, monkeypatch
):
    usage = {
        "prompt_tokens": 1000,
        "completion_tokens": 10,
        "prompt_tokens_details": {"cached_tokens": 800},
    }
    with FaultServer(lambda *_: Step(extra={"usage": usage})) as server:
        monkeypatch.setenv(KEY_VARIABLE, server.key)
        person = service(server.base_url, price_in=10.0, price_out=100.0, price_cached=1.0)
        freeze(workspace, person, n_personas=1)
        control.start(workspace, "study")
        done = control.wait(workspace, "study", every_s=0.02)
    assert done.tokens_cached == 800 * 20
    # By hand: 200 x 10 + 800 x 1 + 10 x 100 dollars per million, twenty times.
    assert done.cost == pytest.approx(20 * 3800 / 1e6)
    calls = pd.read_csv(io.BytesIO(control.calls_csv(workspace, "study")))
    assert calls["tokens_cached"].tolist() == [800] * 20
