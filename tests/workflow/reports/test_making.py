"""Reports of a small real study: all parts in both files, the numbers of the tables for papers."""

from __future__ import annotations

import io
import re
import shutil
import threading
import zipfile
from concurrent.futures import Future
from dataclasses import replace
from datetime import UTC, datetime
from html.parser import HTMLParser

import docx
import pytest

from core import progress
from core.charts.picture_files import Picture
from core.domain.instrument import Instrument, Item, Option, ResponseFormat, Wording
from core.files.documents import Bullets, Figure, Heading, Paragraph
from core.files.paper_tables import PaperTable
from core.store import banks as bank_store
from core.workflow.answers import imports
from core.workflow.opening import open_workspace
from core.workflow.reports import choices, facts, first_page, making, methods
from core.workflow.runs import control
from core.workflow.statistics import analyses, papers
from tests.workflow.studies import finished, freeze, service, simulated

HOSTILE = '<script>alert(1)</script> <img src=x onerror=alert(2)> & "q" {{x}} =1+1'
NOW = datetime(2026, 3, 4, 5, 6, tzinfo=UTC)
ANALYSES = ("item_statistics", "reliability", "rater_agreement")
PARTS = ["Design", "Methods", "Results", "What was left out", "Data", "References"]


def hostile_bank():
    """Six items with markup in title, wordings, labels and subscale; half of them reverse-keyed."""
    options = tuple(Option(str(n), float(n), {"en": f"{HOSTILE} {n}"}) for n in (1, 2, 3, 4, 5))
    items = tuple(
        Item(f"i{n}", (Wording("en", f"Item {n} {HOSTILE}"),), HOSTILE, (-1) ** n)
        for n in range(1, 7)
    )
    return Instrument(
        "hostile",
        HOSTILE,
        items,
        (ResponseFormat("five", options),),
        description=HOSTILE,
        citation=f"Author, A. (1999). {HOSTILE}",
    )


@pytest.fixture(scope="module")
def asked(tmp_path_factory, new_database):
    """A workspace with an answered study; nothing in it changes."""
    path = shutil.copyfile(new_database, tmp_path_factory.mktemp("report") / "x.duckdb")
    workspace = open_workspace(path)
    bank_store.save_draft(workspace.database, hostile_bank(), expected_revision=None, summary="t")
    freeze(workspace, simulated(refusal_rate=0.05), bank="hostile", n_personas=30)
    control.start(workspace, "study")
    finished(workspace)
    yield workspace
    workspace.close()


def requested(workspace, names=ANALYSES, **fields):
    chosen = replace(choices.saved(workspace, "study"), analyses=names, **fields)
    return choices.request_of(workspace, "study", chosen, NOW)


@pytest.fixture(scope="module")
def report(asked):
    return making.make(asked, requested(asked, title=f"T {HOSTILE}", authors=f"A; {HOSTILE}"))


class Page(HTMLParser):
    """Tags with their attributes, headings, the cells of each table by its name, and all text."""

    def __init__(self, data):
        super().__init__()
        self.tags, self.headings, self.tables, self.text = [], [], {}, ""
        self.within, self.cell = "", False
        self.feed(data.decode("utf-8"))

    def handle_starttag(self, tag, attributes):
        own = dict(attributes)
        self.tags.append((tag, own))
        self.within = tag
        self.cell = self.cell or tag in ("td", "th")
        if tag == "h2":
            self.headings.append("")
        elif tag == "table":
            self.tables[own["aria-label"]] = []
        elif tag == "tr":
            list(self.tables.values())[-1].append([])
        elif tag in ("td", "th"):
            list(self.tables.values())[-1][-1].append("")

    def handle_endtag(self, tag):
        self.cell = self.cell and tag not in ("td", "th")

    def handle_data(self, data):
        self.text += data
        if self.within == "h2":
            self.headings[-1] += data.strip()
        elif self.cell:
            list(self.tables.values())[-1][-1][-1] += data


def test_both_files_have_all_parts_with_numbered_tables_and_figures(report):
    page = Page(report.files["html"])
    word = docx.Document(io.BytesIO(report.files["docx"]))
    headings = [p.text for p in word.paragraphs if p.style.name == "Heading 1"]
    assert [h for h in page.headings if h in PARTS] == PARTS
    assert headings == page.headings
    assert len(word.tables) == len(page.tables) == report.n_tables
    assert list(page.tables) == [f"Table {n}" for n in range(1, report.n_tables + 1)]
    captions = [p.text for p in word.paragraphs if p.style.name == "Caption"]
    numbered = [text for text in captions if re.fullmatch(r"(Table|Figure) \d+", text)]
    assert len(numbered) == report.n_tables + report.n_figures
    for (_, cells), grid in zip(page.tables.items(), word.tables, strict=True):
        assert [cell for row in cells for cell in row] == [c.text for c in grid._cells]


def test_the_first_page_has_design_key_results_figures_and_what_to_mind(report):
    blocks = report.document.blocks
    design = blocks.index(Heading("Design"))
    first, rest = blocks[:design], blocks[design:]
    assert first[0] == Heading(first_page.HEADING)
    assert "6 items of “" in first[1].text
    assert "30 contexts" in first[1].text
    (table,) = (block for block in first if isinstance(block, PaperTable))
    assert table.number == 1
    questions = [row[0].text for row in table.rows if row[0].text]
    computed = [one for one in report.outcomes if one.result is not None]
    assert questions == [one.analysis.question for one in computed]
    answers = [row[2].text for row in table.rows]
    assert any("α = " in text for text in answers)
    figures = [block for block in first if isinstance(block, Figure)]
    assert [figure.number for figure in figures] == [1, 2]  # one of each topic
    assert [
        b.text for b in rest if isinstance(b, Paragraph) and b.label == making.ON_FIRST_PAGE
    ] == [
        "Figure 1.",
        "Figure 2.",
    ]
    minded = next(block for block in first if isinstance(block, Bullets)).texts
    assert any("Simulated respondents" in text for text in minded)
    assert any(text.startswith("Not computed: Agreement of raters.") for text in minded)


def test_the_first_page_says_what_is_filtered_and_when_nothing_was_computed(asked):
    request = requested(asked, ("preference",))
    made = making.make(asked, replace(request, where={"item": ["i1"]}), with_figures=False)
    first = made.document.blocks[: made.document.blocks.index(Heading("Design"))]
    (table,) = (block for block in first if isinstance(block, PaperTable))
    assert [row[0].text for row in table.rows] == ["No analysis has a result."]
    minded = next(block for block in first if isinstance(block, Bullets)).texts
    assert minded[0] == facts.filter_sentences({"item": ["i1"]})[0]


def test_the_first_page_has_no_more_rows_than_a_page(report):
    many = [one for one in report.outcomes if one.result is not None] * 9
    table = first_page._key_results(many, 1)
    assert len(table.rows) == 13
    assert table.rows[-1][2].text == f"{len(many) - 12} further analyses in the results."


def test_details_fold_on_the_page_and_links_lead_into_them(report):
    page = Page(report.files["html"])
    folds = [tag for tag, _ in page.tags if tag in ("details", "summary")]
    folding = [b for b in report.document.blocks if isinstance(b, Heading) and b.folds]
    assert folds == ["details", "summary"] * len(folding)
    text = report.files["html"].decode()
    assert text.count("<details>") == text.count("</details>")
    assert text.index(first_page.HEADING) < text.index("<nav") < text.index("<details>")
    places = {own["id"] for _, own in page.tags if own.get("id", "").startswith("s")}
    links = [own["href"] for tag, own in page.tags if tag == "a" and "href" in own]
    assert {link.removeprefix("#") for link in links if link.startswith("#")} <= places
    word = docx.Document(io.BytesIO(report.files["docx"]))
    broken = ['w:type="page"' in paragraph._p.xml for paragraph in word.paragraphs]
    assert word.paragraphs[broken.index(True) + 1].text == "Design"


def test_topics_take_turns_among_the_figures_of_the_first_page():
    names = [
        "item_statistics",
        "item_statistics",
        "option_distribution",
        "reliability",
        "cfa",
        "efa",
    ]
    assert first_page.leading([analyses.by_name(name) for name in names]) == [0, 3, 4]
    assert first_page.leading([analyses.by_name(name) for name in names[:3]]) == [0, 2]
    assert first_page.leading([]) == []


def test_a_study_of_some_items_of_its_bank_counts_those_asked(workspace):
    bank_store.save_draft(workspace.database, hostile_bank(), expected_revision=None, summary="t")
    freeze(workspace, simulated(), bank="hostile", n_personas=1, items=("i1", "i3"))
    found = facts.load(workspace, "study")
    assert found.asked_items == ("i1", "i3")
    assert "2 of its 6 items" in facts.bank_sentences(found)[0]


def test_the_numbers_are_those_of_the_tables_for_papers(asked, report):
    page = Page(report.files["html"])
    analysis = analyses.by_name("reliability")
    options = analyses.saved_options(asked, "study", analysis)
    result = analyses.run(asked, "reliability", ["study"], options, {})
    printed = papers.paper_table(result, result.tables[0], brief=True)
    (own,) = [rows for rows in page.tables.values() if "Coefficient" in rows[0]]
    assert own == [
        list(printed.header),
        *([cell.text + cell.mark for cell in row] for row in printed.rows),
    ]
    alpha = result.tables[0].frame["value"].iloc[0]
    assert own[1][printed.header.index("Value")].startswith(f"{alpha:.2f}"[1:])


def test_an_analysis_that_cannot_be_computed_is_named_with_its_reason(report):
    page = Page(report.files["html"])
    (sentence,) = [text for text in report.left_out if "could not be computed" in text]
    assert "There is one rater only" in sentence
    assert sentence in page.text


def test_what_was_not_usable_is_counted_and_long_tables_are_named(asked):
    short = making.make(asked, requested(asked, ("item_statistics",), longest_table=3))
    words = " ".join(short.left_out)
    assert "180 trials (one item put once) were planned; 180 were asked" in words
    assert "refused" in words
    assert "table “Items”: 6 rows, more than 3. As CSV: python -m core analyze" in words


def test_no_text_of_a_bank_runs_in_either_file(report):
    page = Page(report.files["html"])
    tags = {tag for tag, _ in page.tags}
    assert tags.isdisjoint({"script", "link", "iframe", "object"})
    assert not [own for _, own in page.tags if any(name.startswith("on") for name in own)]
    addresses = [own.get("src") or own.get("href", "#") for _, own in page.tags]
    assert all(one.startswith(("data:image/svg+xml;base64,", "#")) for one in addresses)
    assert page.text.count(HOSTILE) > 10
    assert b"default-src 'none'" in report.files["html"]
    assert all(own["alt"] and own["width"] for tag, own in page.tags if tag == "img")
    text = "\n".join(p.text for p in docx.Document(io.BytesIO(report.files["docx"])).paragraphs)
    assert f"T {HOSTILE}" in text


def test_word_has_properties_alternative_texts_and_pages_on_their_side(report):
    word = docx.Document(io.BytesIO(report.files["docx"]))
    properties = word.core_properties
    assert (properties.title, properties.author) == (f"T {HOSTILE}", f"A, {HOSTILE}")
    with zipfile.ZipFile(io.BytesIO(report.files["docx"])) as archive:
        body = archive.read("word/document.xml").decode()
    alts = re.findall(r'<wp:docPr [^>]*descr="([^"]*)"', body)
    assert len(alts) == report.n_figures > 0
    assert all(alts)
    assert body.count(" SEQ Figure ") == report.n_figures


def test_equal_requests_give_equal_bytes_and_the_report_is_made_once(asked):
    request = requested(asked, ("reliability",))
    computation = making.computation_of(asked, request)
    assert computation.wait(30)
    assert making.known(asked, request) is computation
    again = making.make(asked, request)
    assert again.files == computation.value().files


def test_a_report_that_is_cancelled_stops_and_can_be_made_anew(asked, monkeypatch):
    reached, let_on, run = threading.Event(), threading.Event(), analyses.run

    def slowly(*arguments):
        reached.set()
        let_on.wait(10)
        progress.step(0, 1, "groups")
        return run(*arguments)

    request = requested(asked, ("score_distribution", "item_map"))
    monkeypatch.setattr(analyses, "run", slowly)
    computation = making.computation_of(asked, request)
    assert reached.wait(10)
    assert (computation.done, computation.total, computation.unit) == (0, 2, "Score distribution")
    computation.cancel()
    assert computation.state == "cancelled"
    let_on.set()
    making.forget(asked, request)
    again = making.computation_of(asked, request)
    assert again.wait(30)
    assert again.value().n_figures > 0


def test_the_methods_paragraph_says_what_was_asked_and_how_it_was_analyzed(asked):
    result = analyses.run(asked, "reliability", ["study"], {}, {})
    text = methods.methods_paragraph(asked, "study", {"reliability": result})
    assert "\n" not in text
    for words in (
        "6 items",
        "3 reverse-keyed",
        "30 personas",
        "Simulated",
        "180 were asked",
        "Options were read from the replies by fixed rules",
        "Feldt et al., 1987",
        f"Inkblot {methods.inkblot_version()}",
        "numpy",
    ):
        assert words in text, words
    assert "Reliability:" not in methods.methods_paragraph(asked, "study")


@pytest.mark.parametrize(
    ("reference", "cited"),
    [
        ("Cohen (1960) doi:10.1177/001316446002000104", "Cohen, 1960"),
        ("Zou, G. Y. & Donner, A. (2008). Confidence. doi:10.1002/sim.3095", "Zou & Donner, 2008"),
        ("Cronbach, Schönemann & McKie (1965) doi:10.1", "Cronbach et al., 1965"),
        ("Crane and others (2006), Medical Care 44", "Crane et al., 2006"),
    ],
)
def test_sources_are_cited_by_author_and_year(reference, cited):
    assert methods.citations([reference]) == (cited,)


def test_a_source_without_a_year_is_not_cited_and_sources_are_listed_once():
    assert methods.citations(["Revelle, psych: Procedures (R package)"]) == ()
    listed = methods.reference_list(["reliability", "internal_consistency"], ["Zz (1999)."])
    assert len(listed) == len(set(listed))
    assert listed[-1].startswith("Zz") or "Zinbarg" in listed[-2]
    assert sum("10.1007/BF02310555" in text for text in listed) == 1


def test_sources_stand_with_title_and_journal_where_they_are_known():
    (zou,) = [one for one in methods.reference_list(["cross_language"]) if one.startswith("Zou")]
    assert "Toward using confidence intervals to compare correlations. Psychological" in zou
    full = methods.full_sources().values()
    assert all(text.endswith(".") or "https://doi.org/" in text for text in full)


def test_a_figure_says_what_its_chart_leaves_out(asked):
    ((chart, *_), _) = papers.drawn_charts(
        analyses.by_name("item_statistics"),
        analyses.run(asked, "item_statistics", ["study"], {}, {}),
    )
    drawn = Future()
    drawn.set_result([Picture(b"<svg>", b"png", 9, 9)])
    some = replace(chart, left_out=" Only the first 27 of 100 items are drawn.")
    said = ". Only the first 27 of 100 items are drawn. The table of the result has all."
    for shown, end in ((chart, ""), (some, said)):
        work = making._ChartInWork(analyses.by_name("item_statistics"), shown, drawn)
        (figure,), _ = making._with_figures([work], making._Numbers())
        assert figure.title == f"{chart.title}{end}"


def test_analyses_on_offer_say_why_they_do_not_fit(asked):
    offered = {one.analysis.name: one for one in choices.offers(asked, "study")}
    assert offered["item_statistics"].usual
    assert offered["cross_language"].fault == "All items were asked in one language."
    assert offered["odds_ratios"].fault == "The study has no texts."
    assert offered["group_comparison"].fault == "No factor varies whose levels it could compare."


def test_factors_are_usual_in_a_report_of_more_rows_than_items(asked, workspace):
    """30 personas answer six items; 5 repetitions of one model are fewer than the items."""
    bank_store.save_draft(workspace.database, hostile_bank(), expected_revision=None, summary="t")
    freeze(workspace, simulated(), bank="hostile", n_personas=1, repetitions=5)
    control.start(workspace, "study")
    finished(workspace)
    for own, expected in ((asked, True), (workspace, False)):
        offered = {one.analysis.name: one for one in choices.offers(own, "study")}
        assert offered["cfa"].usual == offered["efa"].usual == expected
        assert offered["reliability"].usual


def test_choices_are_kept_and_what_looks_like_a_key_is_not(asked):
    choices.save(asked, "other", title="My title", analyses=["reliability", "gone"])
    draft = choices.saved(asked, "study")
    assert draft.title == "Report on the study study"
    assert choices.author_names("A. One; B. Two\n\nC") == ("A. One", "B. Two", "C")
    with pytest.raises(Exception, match="key of a service"):
        choices.save(asked, "other", authors="sk-abcdefghijklmnop")


def test_settings_are_told_as_they_are_sent():
    person = service(
        "https://user@api.example.org/v1",
        temperature=0.7,
        max_tokens=64,
        extra_body={"reasoning_effort": "low"},
        system_prompt="Be brief.",
    )
    assert facts.settings_words(person) == (
        "api.example.org, temperature 0.7, top-p left to the service, longest reply in tokens 64, "
        "seed left to the service, reasoning_effort low, system prompt “Be brief.”"
    )


def test_a_table_that_is_left_out_is_named_with_its_options_and_filters(asked):
    chosen = replace(choices.saved(asked, "study"), analyses=("item_statistics",), longest_table=3)
    request = choices.request_of(
        asked,
        "study",
        chosen,
        NOW,
        {"context": ["p0001", "p0002"]},
        {"item_statistics": {"ci_level": 0.9}},
    )
    words = "\n".join(making.make(asked, request).left_out)
    assert "--option ci_level=0.9 --where context=p0001,p0002 --out" in words
    assert "All analyses take only answers with these levels: Context: p0001, p0002." in words


def test_a_report_on_people_counts_them_and_names_no_settings_of_calls(workspace):
    rows = [f"p{n},q{i},{1 + (n + i) % 5}" for n in range(7) for i in range(3)]
    text = "\n".join(["person,item,answer", *rows])
    imports.import_tidy(workspace, "people.csv", text.encode(), study="people")
    chosen = replace(choices.saved(workspace, "people"), analyses=("score_distribution",))
    made = making.make(workspace, choices.request_of(workspace, "people", chosen, NOW))
    page = Page(made.files["html"])
    header, row = next(rows for rows in page.tables.values() if rows[0][0] == "Respondent")
    assert header == ["Respondent", "Model in the file", "Replies", "People or contexts"]
    assert row[-1] == "7"
    assert "3 items of “people”, answered by " in made.document.blocks[1].text
    assert "Varied: 7 people or contexts." in made.document.blocks[1].text
