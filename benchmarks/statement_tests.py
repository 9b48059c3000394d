"""What the tests of statements cost on three million answers, and agreement over the same."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from statistics import median

from benchmarks.processes import Stopwatch, caller, in_child
from benchmarks.report import Section, figure, ratio

AIM = 20.0
FORMS = ("original", "paraphrase_1", "paraphrase_2", "paraphrase_3", "negation", "opposite")
TEMPLATES = (
    "personal_1",
    "personal_2",
    "personal_3",
    "impersonal_1",
    "impersonal_2",
    "impersonal_3",
)
RESAMPLES = 1000
MEASURED = 10
"""Resamples that the other packages make; their time is that of as many as ours."""

# Each statement has a share of agreement of its own, which turns around in negations. Answers are
# hashes of their trials' keys: random enough, and the same every time.
_RESPONSES = """
insert into response (trial_id, study_id, attempt_id, status, option, parser, tries)
select trial_id, study_id, trial_id, 'answered',
    case when (hash(trial_id) % 1000 < share) <> turned then 'agree' else 'disagree' end, 1, 1
from (
    select t.*, 50 + hash(t.item_id) % 900 as share, a.form in ('negation', 'opposite') as turned
    from trial t join administration a using (administration_id)
)
order by study_id, ordinal
"""
_ATTEMPTS = """
insert into attempt
select r.trial_id, r.study_id, t.call_id, 1, t.item_id, 1,
    timestamptz '2026-01-01 00:00:00+00' + to_milliseconds(t.ordinal), 0.2, 'reply', null, '',
    'stop', 'model-snapshot', 90, 1, 0.0, false
from response r join trial t using (trial_id)
order by t.study_id, t.ordinal
"""
_FINISHED = """
insert into run_event (study_id, reported_at, kind, process, detail)
select study_id, now(), 'finished', 'benchmark', '{}' from study
"""


def measure(work: Path, *, quick: bool) -> Section:
    """Run both analyses in new processes; then the same by loops and by other packages."""
    items, models, repetitions, repeats = (12, 1, 10, 1) if quick else (239, 6, 30, 3)
    call = caller(quick=quick)
    path = str(work / f"statements_{items}_{models}_{repetitions}.duckdb")
    n_answers = in_child(fill, path=path, items=items, models=models, repetitions=repetitions)
    reliability, agreement = (
        [call(analyzed, path=path, name=name) for _ in range(repeats)]
        for name in ("stance_reliability", "form_agreement")
    )
    loops = call(by_loops, path=path)
    others = call(by_packages, path=path, resamples=2 if quick else MEASURED)
    rows = []
    for title, runs, theirs in (
        ("`stance_reliability`, first in a new process", reliability, loops),
        ("`form_agreement`, first in a new process", agreement, others),
    ):
        own = {name: median(run[name] for run in runs) for name in runs[0]}
        rows += [
            (
                title,
                _bold(own["first"]),
                figure(own["first_cpu"]),
                ratio(own["first_cpu"], theirs["cpu"]),
            ),
            (
                "- of which the formulas, from counts in memory",
                figure(own["formulas"]),
                figure(own["formulas_cpu"]),
                ratio(own["formulas_cpu"], theirs["cpu"]),
            ),
        ]
    rows += [
        ("Tests in plain loops", figure(loops["s"]), figure(loops["cpu"]), ""),
        (
            "Kappas of scikit-learn, alpha of krippendorff",
            figure(others["s"]),
            figure(others["cpu"]),
            "",
        ),
    ]
    return Section(
        "Tests of statements",
        f"{n_answers:,} answers of {models} models: {items} statements, {len(FORMS)} forms, "
        f"{len(TEMPLATES)} templates, two orders of labels, {repetitions} answers each. All tests "
        f"with {RESAMPLES:,} resamples of answers and as many of statements, from the database "
        f"file; kappas and alphas with {RESAMPLES:,} resamples. Aim: under {AIM:g} s; what misses "
        "it is bold.",
        ("", "s", "CPU-s", "ratio of CPU-s"),
        rows,
        (
            f"Medians of {repeats}. Ratios are to plain loops, and to the other packages. Loops "
            "test the statements of one model, without intervals of shares; their time is that "
            f"times {models}. The packages make {MEASURED} resamples; their time is that of "
            f"{RESAMPLES:,}.",
            "On the first model, loops and analysis give the same verdicts of the five tests "
            "without chance; both ways give the same kappas and alphas.",
        ),
        ("duckdb", "numpy", "scikit-learn", "krippendorff"),
    )


def _bold(value: float) -> str:
    return f"**{figure(value)}**" if value > AIM else figure(value)


def fill(*, path: str, items: int, models: int, repetitions: int) -> int:
    """Freeze a study of the published structure and answer it inside the database."""
    from dataclasses import replace

    from core.domain.instrument import Instrument, Item, Option, ResponseFormat, Wording
    from core.domain.study import Design
    from core.files.banks.reading import ImportedBank
    from core.workflow.banks import editing
    from core.workflow.designs import studies as designs
    from core.workflow.opening import open_workspace
    from core.workflow.respondents import catalog
    from tests.workflow.studies import service

    options = (("agree", 1, 1), ("disagree", 0, -1))
    bank = Instrument(
        "statements",
        "Statements",
        tuple(
            Item(
                f"p{n:03}", tuple(Wording("en", f"Statement {n}, {form}.", form) for form in FORMS)
            )
            for n in range(1, items + 1)
        ),
        (ResponseFormat("agree_disagree", tuple(Option(c, p, stance=s) for c, p, s in options)),),
        ("en",),
    )
    workspace = open_workspace(path)
    editing.import_bank(workspace, ImportedBank(bank))
    labels = []
    for number in range(1, models + 1):
        person = replace(service("http://localhost", f"model-{number}"), model=f"model-{number}")
        catalog.save(workspace, person)
        labels.append(person.label)
    design = Design(
        study="statements",
        instrument="statements",
        respondents=tuple(labels),
        forms=FORMS,
        templates=TEMPLATES,
        label_orders=("as_is", "inverted"),
        repetitions=repetitions,
    )
    designs.freeze(workspace, design)
    with workspace.database.transaction() as cursor:
        for statement in (_RESPONSES, _ATTEMPTS, _FINISHED):
            cursor.execute(statement)
    workspace.database.checkpoint()
    ((n_answers,),) = workspace.database.rows("select count(*) from response")
    workspace.close()
    return int(n_answers)


def analyzed(*, path: str, name: str) -> Mapping[str, float]:
    """An analysis as a page and the command line run it, and its formulas alone."""
    from core.workflow.opening import open_workspace
    from core.workflow.statistics import analyses

    analysis = analyses.by_name(name)
    options = {"resamples": RESAMPLES}
    with Stopwatch() as first:
        workspace = open_workspace(path)
        analyses.run(workspace, name, ["statements"], options, {})
    workspace.close()
    frame = _counts(path)
    with Stopwatch() as formulas:
        analysis.run(frame, **options)
    return {
        "first": first.seconds,
        "first_cpu": first.cpu,
        "formulas": formulas.seconds,
        "formulas_cpu": formulas.cpu,
    }


def _counts(path: str):  # type: ignore[no-untyped-def]
    """The OPTION_COUNTS that both analyses take."""
    from core.store import frames
    from core.workflow.opening import open_workspace

    workspace = open_workspace(path)
    factors = ("respondent", "form", "template", "label_order")
    frame = frames.option_counts(workspace.database, ["statements"], {}, factors=factors)
    workspace.close()
    return frame


def by_loops(*, path: str) -> Mapping[str, float]:
    """All tests of the first model by loops over single answers, times the models."""
    from core.analysis.kit.statement_verdicts import TESTS, statement_verdicts
    from tests.analysis.plain_statement_tests import verdicts

    frame = _counts(path)
    models = frame["respondent"].nunique()
    frame = frame[frame["respondent"] == frame["respondent"].iloc[0]]
    answers: dict[tuple[str, ...], list[int]] = {}
    for row in frame.to_dict("records"):
        place = (row["item"], row["template"], row["label_order"], row["form"])
        answers.setdefault(place, []).extend([int(row["stance"] > 0)] * int(row["count"]))
    with Stopwatch() as watch:
        expected = verdicts(answers, resamples=RESAMPLES)
    words = {1.0: "pass", 0.0: "fail"}
    for row in statement_verdicts(frame, ()).frame.to_dict("records"):
        own = expected[row["item"], row["template"]]
        for test in TESTS:
            if test != "sampling" and words.get(row[test], "not judged") != own[test]:
                raise RuntimeError(f"{test} of {row['item']} differs from the loops")
    return {"s": watch.seconds * models, "cpu": watch.cpu * models}


def by_packages(*, path: str, resamples: int) -> Mapping[str, float]:
    """Kappas and alphas of the same stances, and of resampled statements, by other packages."""
    import krippendorff
    import numpy as np
    from sklearn.metrics import cohen_kappa_score

    from core.analysis.kit.sentences import table_of
    from core.analysis.kit.statement_verdicts import statement_answers
    from core.analysis.worldviews.form_agreement import form_agreement
    from core.stats.statement_tests import majority_stances

    frame = _counts(path)
    answers = statement_answers(frame, ("respondent",))
    stances = majority_stances(answers.positive, answers.n, ties="not_judged", least=1)
    models = answers.labels["respondent"].nunique()
    cube = stances.reshape(models, -1, len(TEMPLATES), 2, len(FORMS))
    kinds = [
        cube[:, :, :, 0, answers.of_kind(kind)] for kind in ("paraphrase", "negation", "opposite")
    ]
    kinds.append(cube[:, :, :, 1, :1])
    chance = np.random.default_rng(0)

    def one(rows):  # type: ignore[no-untyped-def]
        kappas, alphas = [], []
        for model in range(models):
            for other in kinds:
                for template in range(len(TEMPLATES)):
                    theirs = other[model, rows, template]
                    mine = np.repeat(cube[model, rows, template, 0, :1], theirs.shape[1], axis=1)
                    known = np.isfinite(mine) & np.isfinite(theirs)
                    kappas.append(cohen_kappa_score(mine[known], theirs[known], labels=[-1, 1]))
            raters = cube[model, rows, :, 0, 0].T
            alphas.append(krippendorff.alpha(raters, level_of_measurement="nominal"))
        return kappas, alphas

    n_items = cube.shape[1]
    kappas, alphas = one(np.arange(n_items))
    with Stopwatch() as watch:
        for _ in range(resamples):
            one(chance.integers(n_items, size=n_items))
    ours = form_agreement(frame, resamples=0)
    own = table_of(ours, "template_kappas").frame["kappa"].to_numpy()
    np.testing.assert_allclose(own, kappas, atol=1e-9)
    own = table_of(ours, "alpha").frame["alpha"].to_numpy()
    np.testing.assert_allclose(own, alphas, atol=1e-9)
    times = (RESAMPLES + 1) / resamples
    return {"s": watch.seconds * times, "cpu": watch.cpu * times}
