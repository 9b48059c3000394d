"""Prices of models are data of the user's, and count where a respondent has none."""

from dataclasses import replace
from datetime import date

import pytest

from core.errors import CollectionError
from core.workflow.designs import studies
from core.workflow.respondents import catalog
from core.workflow.respondents.catalog import Price
from core.workflow.runs import control
from tests.fault_server import FaultServer
from tests.workflow.studies import KEY_VARIABLE, freeze, service

DAY = date(2026, 11, 1)


def test_the_newest_price_of_a_model_counts_and_a_forgotten_one_does_not(workspace):
    catalog.save_price(workspace, Price("a", 1.0, 2.0, DAY, "list"))
    catalog.save_price(workspace, Price("b", 3.0, 4.0, DAY))
    catalog.save_price(workspace, Price(" a ", 5.0, 6.0, DAY))
    assert catalog.list_prices(workspace) == (Price("a", 5.0, 6.0, DAY), Price("b", 3.0, 4.0, DAY))
    catalog.forget_price(workspace, "a")
    assert [p.model for p in catalog.list_prices(workspace)] == ["b"]


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
        catalog.save_price(workspace, price)
    assert catalog.list_prices(workspace) == ()


def test_a_price_of_the_respondent_comes_before_that_of_the_table(workspace):
    catalog.save_price(workspace, Price("test-model", 5.0, 6.0, DAY))
    own = service("http://127.0.0.1:1/v1", price_in=1.0, price_out=2.0)
    assert catalog.with_prices(workspace, own) == own
    without = service("http://127.0.0.1:1/v1")
    found = catalog.with_prices(workspace, without).sampling
    assert (found.price_in, found.price_out) == (5.0, 6.0)
    assert catalog.with_prices(workspace, replace(without, model="other")).sampling.price_in is None


def test_a_price_entered_after_freezing_gives_the_cost_and_lets_a_cap_hold(workspace, monkeypatch):
    with FaultServer() as server:
        monkeypatch.setenv(KEY_VARIABLE, server.key)
        record = freeze(workspace, service(server.base_url), n_personas=1)
        with pytest.raises(CollectionError, match="not known"):
            control.start(workspace, "study", cost_cap=1.0)
        assert studies.size(workspace, record.design).unpriced == ("Service",)
        catalog.save_price(workspace, Price("test-model", 1.0, 2.0, DAY))
        low, high = studies.size(workspace, record.design).cost
        assert 0 < low < high
        control.start(workspace, "study", cost_cap=1.0)
        done = control.wait(workspace, "study", every_s=0.02)
    assert (done.state, done.cost_unknown) == ("finished", 0)
    assert 0 < done.cost < high
    assert catalog.by_label(workspace, "Service").sampling.price_in is None
