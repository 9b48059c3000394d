"""Entry point: the pages by what people look for, in their order, and page settings.

Streamlit serves `app`, and runs this file as a script for every page that is shown.
"""

from pathlib import Path

import streamlit as st

from pages.shared import navigation, serving
from pages.shared.navigation import PageEntry

app = st.App(__file__, middleware=serving.middleware(), lifespan=serving.lifespan)

PAGES = (
    PageEntry(
        "pages/home.py", "", "Home", "home",
        "The steps of a study, all studies with their next step, and the sample study.",
        ("start", "overview", "list of studies", "next step", "sample study", "example"),
    ),
    PageEntry(
        "pages/banks/page.py", "Prepare", "Banks", "quiz",
        "Write or import items and answer options, and translate them.",
        ("questionnaire", "instrument", "items", "scale", "translation", "answer options",
         "response format", "import a questionnaire", "reverse-keyed items", "paraphrase"),
    ),
    PageEntry(
        "pages/contexts/page.py", "Prepare", "Contexts", "theater_comedy",
        "Write or import the personas and conversations that come before the items.",
        ("persona", "conversation", "system message", "role", "import personas"),
    ),
    PageEntry(
        "pages/respondents/page.py", "Prepare", "Respondents", "smart_toy",
        "Choose the models that answer, and their settings.",
        ("model", "language model, LLM", "API key", "temperature", "price of a model",
         "OpenAI, service, provider", "simulated people", "connection"),
    ),
    PageEntry(
        "pages/templates/page.py", "Prepare", "Prompt templates", "edit_document",
        "Write, preview and test the instructions around the items.",
        ("prompt", "instructions", "system prompt", "system message", "prompt engineering",
         "wording of the prompt", "answer cue", "placeholder", "options as letters"),
    ),
    PageEntry(
        "pages/design/page.py", "Prepare", "Design", "grid_on",
        "Cross a bank with models, languages and contexts; see calls and cost; freeze the plan.",
        ("new study", "plan a study", "number of calls", "cost of a study", "freeze",
         "preset", "repetitions", "languages", "order of options"),
    ),
    PageEntry(
        "pages/precision.py", "Prepare", "Precision", "straighten",
        "Simulate how wide the intervals of a planned study will be, before anything is paid.",
        ("power", "power analysis", "sample size", "number of contexts", "number of repetitions",
         "width of intervals", "margin of error", "rehearsal", "before paying", "simulation"),
    ),
    PageEntry(
        "pages/collect/page.py", "Data", "Collect", "play_circle",
        "Start, pause and watch the asking.",
        ("run a study", "start", "progress", "pause or stop", "cost cap", "failed calls",
         "second phase", "queue"),
    ),
    PageEntry(
        "pages/answers/page.py", "Data", "Answers", "forum",
        "Read every reply beside the answer it was read as.",
        ("replies", "responses", "refusals", "refused", "replies word for word",
         "raw data", "statuses of answers", "unreadable replies", "unexpected outputs"),
    ),
    PageEntry(
        "pages/audit/page.py", "Data", "Audit", "fact_check",
        "Code replies by hand, and see how well two coders agree.",
        ("kappa", "Cohen's kappa", "agreement of coders", "inter-rater agreement",
         "check how replies were read", "code by hand", "adjudication"),
    ),
    PageEntry(
        "pages/texts.py", "Data", "Texts", "article",
        "Let models write texts, such as stories or letters, under the contexts of a study.",
        ("stories", "reference letters", "essays", "writing task", "downstream task",
         "generated texts", "word lists"),
    ),
    PageEntry(
        "pages/import_export/page.py", "Data", "Import and export", "swap_vert",
        "Bring in answers collected elsewhere; take data and tables out.",
        ("import answers", "upload", "download", "export data", "CSV, Excel, SPSS, Parquet",
         "attach a bank", "answers of people", "data package", "backup", "restore a backup"),
    ),
    PageEntry(
        "pages/explore.py", "Results", "Explore", "explore",
        "Cross any measure with up to three factors: scores, options, refusals, entropy, cost.",
        ("pivot table", "cross tabulation", "chart of means", "share of an option",
         "refusal rate", "entropy", "latency", "tokens", "cost by model"),
    ),
    PageEntry(
        "pages/item_statistics.py", "Results", "Item statistics", "bar_chart",
        "Means, spread and discrimination of items; distributions of options and scores; norms.",
        ("items", "descriptive statistics"),
    ),
    PageEntry(
        "pages/reliability.py", "Results", "Reliability", "repeat",
        "Alpha, omega, and correlations between languages, forms and repetitions.",
        ("consistency", "agreement of repetitions"),
    ),
    PageEntry(
        "pages/factors/page.py", "Results", "Factor models", "account_tree",
        "Fit the bank's factor model, edit it, compare models, or explore factors.",
        ("factor analysis", "factors", "model editor", "move an item to another factor"),
    ),
    PageEntry(
        "pages/comparability.py", "Results", "Invariance and DIF", "balance",
        "See whether items measure the same in all languages, models or groups.",
        ("comparability", "equivalence", "bias of items"),
    ),
    PageEntry(
        "pages/validity.py", "Results", "Validity and groups", "target",
        "Compare groups and scales, and count words of stereotypes in texts.",
        ("validity", "compare groups", "other scales"),
    ),
    PageEntry(
        "pages/consistency.py", "Results", "Consistency", "replay",
        "See whether the same question gets the same answer again, and in another answer format.",
        ("repeatability", "response formats", "entropy", "repetitions", "same answer again",
         "random consistency", "referential consistency", "comparison of formats",
         "Jensen-Shannon divergence", "earth mover's distance"),
    ),
    PageEntry(
        "pages/bias.py", "Results", "Bias and preference", "thumbs_up_down",
        "See which way answers lean, about which entities, and which of two they prefer.",
        ("bias", "leaning", "entities compared", "brand against brand", "preference", "sentiment"),
    ),
    PageEntry(
        "pages/opinions/page.py", "Results", "Opinions", "how_to_vote",
        "Which opinions are held, how firmly, and whether they give way to the user's opinion.",
        ("stance", "ideology", "yes or no", "willingness", "giving way", "sycophancy",
         "strong neutral", "political opinions", "agreement of models"),
    ),
    PageEntry(
        "pages/words.py", "Results", "Word association", "mood",
        "See which words are positive or negative again and again, and whether stories follow.",
        ("words", "optimism", "pessimism", "implicit association", "core sentiment inventory",
         "top words", "consistency rate", "reluctancy rate", "comedy or tragedy"),
    ),
    PageEntry(
        "pages/worldview.py", "Results", "Political worldviews", "account_balance",
        "See on which statements a stance does not depend on how one asks.",
        ("reliability of stances", "paraphrase, negation, opposite", "prompt templates",
         "label order", "Krippendorff's alpha", "policy statements", "voting advice"),
    ),
    PageEntry(
        "pages/languages.py", "Results", "Languages", "translate",
        "Correlate languages item by item, test their differences, and see items that differ.",
        ("cross-language", "correlation matrix", "translations compared"),
    ),
    PageEntry(
        "pages/unexpected_outputs.py", "Results", "Unexpected outputs", "speaker_notes_off",
        "See how often replies explain, evade, refuse or break off, and how often one asks again.",
        ("replies that are no answer", "quality of replies"),
    ),
    PageEntry(
        "pages/validation_report.py", "Results", "Validation report", "traffic",
        "Six criteria and a verdict for every model and kind of context.",
        ("verdict", "report"),
    ),
    PageEntry(
        "pages/report.py", "Results", "Report", "description",
        "Design, methods and chosen results of a study as one HTML or Word file.",
        ("write a paper", "manuscript", "methods section", "Word", "document", "tables and figures",
         "APA", "export results", "references"),
    ),
    PageEntry(
        "pages/replications.py", "Results", "Replications", "compare",
        "Published numbers of five studies, with yours beside them, and the way to each design.",
        ("replication", "reproduce a paper", "published study", "published figures", "papers",
         "compare with a published study", "literature", "misprint", "known numbers"),
    ),
    PageEntry(
        "pages/glossary.py", "Help", "Glossary", "dictionary",
        "The words of Inkblot, with examples and the pages that use them.",
        ("help", "definitions", "meaning of a word", "terms"),
    ),
)  # fmt: skip

if __name__ == "__main__":
    st.set_page_config(
        page_title="Inkblot", page_icon="pages/shared/icon.png", layout="wide",
        initial_sidebar_state=navigation.SIDEBAR_WIDTH,
    )  # fmt: skip
    st.html(Path("pages/shared/style.css"))
    navigation.show(PAGES)
