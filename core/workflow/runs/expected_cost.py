"""What the calls that remain of a study are expected to cost, and what they cost at most."""

from __future__ import annotations

from dataclasses import dataclass, replace

from core.collect import budget
from core.domain.numbers import count_text
from core.store import collection, studies
from core.workflow.designs.studies import load_materials, respondents_as_amended
from core.workflow.designs.usage import ExpectedCall, basis_words, learned_usage
from core.workflow.respondents import prices
from core.workflow.workspace import Workspace


@dataclass(frozen=True)
class ExpectedCost:
    """Costs in US dollars of the calls that wait for a reply and have a price.

    `unpriced` counts the calls without one. `basis` says what the expected cost rests on.
    """

    calls: int
    expected: float
    at_most: float
    unpriced: int
    basis: str

    @property
    def words(self) -> str:
        """The costs as a sentence; empty where nothing is to be asked or all is free."""
        free = self.at_most == 0 and not self.unpriced
        if not self.calls or free:
            return ""
        unpriced = f"{count_text(self.unpriced, 'call')} of a model without a price"
        if self.unpriced == self.calls:
            return f"Expected cost: unknown, {unpriced}."
        costs = f"US${money(self.expected)}, at most {money(self.at_most)}"
        more = f", and {unpriced}" if self.unpriced else ""
        return f"Expected cost of {count_text(self.calls, 'call')}: {costs}{more}. {self.basis}"


def money(dollars: float) -> str:
    """An amount in dollars: cents, or four decimals below a dollar."""
    return f"{dollars:,.2f}" if dollars >= 1 else f"{dollars:.4f}"


def expected_cost(workspace: Workspace, study: str) -> ExpectedCost:
    """The cost of what remains to be asked, from a sample of its prompts.

    A second phase that is not planned yet is not in it, nor are calls that are out in batches.
    """
    study_id = studies.get(workspace.database, study).study_id
    people = {
        key: prices.with_prices(workspace, person)
        for key, person in respondents_as_amended(workspace, study_id).items()
    }
    kinds = collection.remaining_kinds(workspace.database, study_id)
    ids = [call_id for _, _, sample in kinds for call_id in sample]
    calls = collection.named_calls(workspace.database, study_id, ids)
    materials = load_materials(workspace, study_id)
    learned = learned_usage(workspace, (one.model for one in people.values()), study_id)
    n_calls, unpriced, expected, at_most = 0, 0, 0.0, 0.0
    of_calls: list[ExpectedCall] = []
    for count, of_administration, sample in kinds:
        n_calls += count
        for call_id in sample:
            person = people[calls[call_id].respondent_id]
            request = materials.request(person, materials.question(calls[call_id]))
            # With history, a prompt repeats on average half of the calls of its administration.
            longer = (of_administration + 1) / 2 if calls[call_id].history == "own" else 1.0
            one, most = learned.expected(request), budget.estimate(request)
            one = replace(one, tokens_in=one.tokens_in * longer)
            cost = one.cost(request)
            if cost is None or most is None:
                unpriced += count
                break
            expected += cost * count / len(sample)
            tries = 1 + materials.design.ask_again
            at_most += most[1] * longer * count / len(sample) * tries
            if person.kind != "simulated":
                of_calls.append(one)
    basis = f"The expected cost rests on {basis_words(of_calls)}." if of_calls else ""
    return ExpectedCost(n_calls, expected, at_most, unpriced, basis)
