"""The methods paragraph of a study and its analyses, the software, and the list of references."""

from __future__ import annotations

import platform
import re
import unicodedata
from collections.abc import Iterable, Mapping
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from core.domain.factors import Filters
from core.domain.numbers import count_text
from core.domain.results import AnalysisResult
from core.files.paper_tables import printable
from core.workflow.reports import facts as study_facts
from core.workflow.reports.facts import StudyFacts
from core.workflow.statistics import analyses
from core.workflow.workspace import Workspace

_PACKAGES: Mapping[str, str] = {
    "numpy": "Harris, C. R., and others (2020). Array programming with NumPy. Nature, 585, "
    "357-362. https://doi.org/10.1038/s41586-020-2649-2",
    "scipy": "Virtanen, P., and others (2020). SciPy 1.0: Fundamental algorithms for scientific "
    "computing in Python. Nature Methods, 17, 261-272. "
    "https://doi.org/10.1038/s41592-019-0686-2",
    "pandas": "McKinney, W. (2010). Data structures for statistical computing in Python. "
    "Proceedings of the 9th Python in Science Conference, 56-61. "
    "https://doi.org/10.25080/Majora-92bf1922-00a",
    "duckdb": "Raasveldt, M., & Mühleisen, H. (2019). DuckDB: An embeddable analytical database. "
    "Proceedings of the 2019 International Conference on Management of Data, 1981-1984. "
    "https://doi.org/10.1145/3299869.3320212",
}
"""The sources of the packages that numbers depend on."""
_CITED = re.compile(r"^(?P<authors>[^()]*?),?\s*\((?P<year>\d{4}[a-z]?)\)")
_INITIALS = re.compile(r",\s+[A-Z]\.(?:[\s-]?[A-Z]\.)*")
_DOI = re.compile(r"\bdoi:\s*(10\.\S+)")
_WITH_DOI = re.compile(r"10\.\d{4,}/\S+")
_NEXT_SOURCE = re.compile(r";\s+(?=\S[^;]*\(\d{4}\))")
_FULL = Path(__file__).with_name("sources.txt")
"""Sources with title and journal, in the style of the APA, a line each."""
_VERSION = re.compile(r'^version = "(.+)"$', re.MULTILINE)


def methods_paragraph(
    workspace: Workspace,
    study: str,
    results: Mapping[str, AnalysisResult] | None = None,
    where: Filters | None = None,
) -> str:
    """How a study was collected and analyzed, as one paragraph of plain text.

    Parameters
    ----------
    workspace : Workspace
        Where the study is.
    study : str
        Its code.
    results : mapping of str to AnalysisResult, optional
        The result of each analysis by its name; without any, the paragraph ends with the data.
    where : mapping, optional
        The filters of the analyses.

    Raises
    ------
    DesignError
        There is no such study.
    """
    facts = study_facts.load(workspace, study)
    results, where = results or {}, where or {}
    sentences = [
        *study_facts.bank_sentences(facts),
        _respondent_sentence(facts),
        _condition_sentence(facts),
        study_facts.time_sentence(facts),
        study_facts.count_sentence(facts),
        *study_facts.reading_sentences(facts),
        *study_facts.audit_sentences(facts),
        *study_facts.amendment_sentences(facts),
        *study_facts.filter_sentences(where),
        *(f"{title}: {method}" for title, method in analysis_methods(facts, results, where)),
        software_sentence(facts),
    ]
    return " ".join(printable(sentence) for sentence in sentences if sentence)


def _respondent_sentence(facts: StudyFacts) -> str:
    """Who answered, with the settings of their calls."""
    if not facts.respondents:
        n = len(facts.levels["respondent"])
        return f"The answers of {count_text(n, 'respondent')} were collected elsewhere."
    words = [
        f"{row[0]} (model {row[1]}{f', reported as {row[2]}' if row[2] else ''}; {row[3]})"
        for row in study_facts.respondent_rows(facts)
    ]
    answered = count_text(len(words), "respondent")
    return f"{answered} answered: {'; '.join(words)}."


def _condition_sentence(facts: StudyFacts) -> str:
    words = [
        f"{name[0].lower()}{name[1:]}: {levels.rstrip('.')}"
        for name, levels in study_facts.condition_rows(facts)
    ]
    return f"Conditions were {'; '.join(words)}." if words else ""


def analysis_methods(
    facts: StudyFacts, results: Mapping[str, AnalysisResult], where: Filters
) -> list[tuple[str, str]]:
    """Title and method of each analysis with its sources; what holds for all is left out."""
    of_all = {*study_facts.amendment_sentences(facts), *study_facts.filter_sentences(where)}
    methods = []
    for name, result in results.items():
        method = result.method
        for sentence in of_all:
            method = method.replace(sentence, "")
        sources = citations(analyses.by_name(name).references)
        cited = f" ({'; '.join(sources)})." if sources else "."
        text = " ".join(method.split()).rstrip(".")
        methods.append((analyses.by_name(name).title, f"{text}{cited}"))
    return methods


# Software.


def inkblot_version() -> str:
    """The version of Inkblot."""
    try:
        return version("inkblot")
    except PackageNotFoundError:  # it runs from its folder
        text = (Path(__file__).parents[3] / "pyproject.toml").read_text(encoding="utf-8")
        stated = _VERSION.search(text)
        return stated[1] if stated else "unknown"


def software_sentence(facts: StudyFacts) -> str:
    """The programs and packages that the numbers depend on, with their versions."""
    packages = ", ".join(
        f"{name} {number}" for name, number in sorted(analyses.software_versions().items())
    )
    return (
        f"Data were {'collected and ' if facts.is_planned else ''}analyzed with Inkblot "
        f"{inkblot_version()} in Python "
        f"{platform.python_version()} with {packages}."
    )


# References.


def citations(references: Iterable[str]) -> tuple[str, ...]:
    """The sources as they are cited in a text: "Cohen, 1960". One without a year is left out."""
    cited = []
    for reference in _single(references):
        match = _CITED.match(reference)
        if match is None:
            continue
        authors = _INITIALS.sub("", match["authors"]).replace(" and others", " et al.").strip()
        names = re.split(r", | & ", authors)
        short = f"{names[0]} et al." if len(names) > 2 else authors
        cited.append(f"{short}, {match['year']}")
    return tuple(dict.fromkeys(cited))


def _in_alphabet(text: str) -> str:
    """The text without accents, by which it is sorted."""
    return unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode().casefold()


@cache
def full_sources() -> Mapping[tuple[str, str], str]:
    """Sources with title and journal, by first author and year."""
    lines = _FULL.read_text(encoding="utf-8").splitlines()
    return {_first_author_and_year(line): line for line in lines}


def _first_author_and_year(reference: str) -> tuple[str, str]:
    """By which a source is known; empty where it states no year."""
    match = _CITED.match(reference)
    if match is None:
        return "", ""
    first = re.split(r",| & | and | et al", match["authors"])[0].strip()
    return first, match["year"]


def _single(references: Iterable[str]) -> list[str]:
    """Each source by itself; a text may name two."""
    return [one for text in references for one in _NEXT_SOURCE.split(text)]


def reference_list(names: Iterable[str], others: Iterable[str] = ()) -> tuple[str, ...]:
    """The sources of some analyses, of the packages, and others, in the order of the alphabet.

    A source stands with title and journal where they are known. Of sources with the same DOI, the
    longest text stands.
    """
    short = [text for name in names for text in analyses.by_name(name).references]
    known = full_sources()
    texts = [known.get(_first_author_and_year(text), text) for text in _single(short)]
    used = analyses.software_versions()
    texts += [text for name, text in _PACKAGES.items() if name in used]
    texts += [printable(text) for text in others if text]
    by_key: dict[str, str] = {}
    for text in dict.fromkeys(texts):
        full = _DOI.sub(r"https://doi.org/\1", text)
        doi = _WITH_DOI.search(full)
        key = doi[0].rstrip(".").casefold() if doi else full.casefold()
        if len(full) > len(by_key.get(key, "")):
            by_key[key] = full
    return tuple(sorted(by_key.values(), key=_in_alphabet))
