"""Lists of words from texts, on texts whose nouns and verbs are counted by hand."""

from __future__ import annotations

import gzip
import io
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.domain.formats import BUILT_IN
from core.domain.instrument import problems
from core.errors import BankError, FileError
from core.files import corpus as corpus_files
from core.workflow.banks import editing
from core.workflow.banks.word_lists import lists, taggers
from core.workflow.banks.word_lists.lists import WordChoices

ENGLISH = (
    "The dogs ran through the streets. A dog barks, and the dogs don't love cats.",
    "People answer questions. Her answer surprised me; you should answer the next question!",
    "London has 12 dogs and a 3D café on King's Road 😀 https://dogs.example/cats",
)
# By hand: noun dog 4, verb answer 2 and noun answer 1, noun question 2, and once each below.
# London, King and Road are names, 3D and the address have signs, and café is in no dictionary.
ENGLISH_COUNTS = {
    ("dog", "noun"): 4,
    ("answer", "verb"): 3,
    ("question", "noun"): 2,
    **dict.fromkeys(
        [
            ("street", "noun"),
            ("cat", "noun"),
            ("people", "noun"),
            ("run", "verb"),
            ("bark", "verb"),
            ("love", "verb"),
            ("surprise", "verb"),
        ],
        1,
    ),
}
CHINESE = (
    "学生学习知识。老师帮助学生学习。",  # 学生 2, 学习 2, 老师, 知识, 帮助
    "北京的老师讨论问题，他们没有问题。",  # 老师, 讨论, 问题 2; Beijing is a name
)
CHINESE_COUNTS = {
    ("学生", "noun"): 2,
    ("学习", "verb"): 2,
    ("老师", "noun"): 2,
    ("问题", "noun"): 2,
    ("帮助", "verb"): 1,
    ("讨论", "verb"): 1,
}
# The noun and the verb of one form, decided by the words beside it: which of them are verbs.
BY_NEIGHBORS = {
    "I love you.": {"love"},
    "They work hard.": {"work"},
    "He did not answer the question.": {"answer"},
    "She wants to book a flight.": {"want", "book"},
    "We need a plan.": set(),  # "need" is an auxiliary for the dictionary
    "The report shows that children play games.": {"show", "play"},
    "Their plays are watched.": {"watch"},
    "You should change your mind.": {"change"},
    "I hope the change is good.": {"hope"},
    "The saw is old, and she saw it.": {"see"},
    "It costs too much.": {"cost"},
    "He talks too much.": {"talk"},
    "The stop was short, so I will stop here.": {"stop"},
}


def text_file(name, data, column=""):
    data = data.encode() if isinstance(data, str) else data
    return lists.open_texts(name, io.BytesIO(data), column)[0]


def counted(*texts, language="en"):
    rows = "".join(json.dumps({"text": text}) + "\n" for text in texts)
    return lists.count_words([text_file("texts.jsonl", rows)], language)


def listed(counts, **choices):
    words = lists.choose_words(counts, WordChoices(**choices))
    return {(word.text, word.genre): word.count for word in words.words}


def reasons(counts, **choices):
    left_out = lists.choose_words(counts, WordChoices(**choices)).left_out
    return {one.reason: (one.n_words, one.n_tokens, one.examples) for one in left_out}


# Counting


def test_english_nouns_and_verbs_are_counted_in_base_forms():
    counts = counted(*ENGLISH)
    assert listed(counts) == ENGLISH_COUNTS
    assert counts.n_texts == 3
    assert counts.n_tokens == 16 + 13 + 13


def test_what_is_left_out_is_counted_by_reason():
    left_out = reasons(counted(*ENGLISH))
    assert left_out["name"] == (3, 3, ("king", "london", "road"))
    assert left_out["number"] == (1, 1, ("12",))
    assert left_out["sign"] == (2, 2, ("3d", "https://dogs.example/cats"))
    assert left_out["unknown"] == (1, 1, ("café",))
    assert left_out["other"][2][0] == "the"
    assert set(left_out) == {"name", "number", "sign", "unknown", "other"}


def test_chinese_nouns_and_verbs_are_counted_as_words():
    counts = counted(*CHINESE, language="zh")
    known = {key: n for key, n in listed(counts).items() if key[0] != "知识"}
    assert known == CHINESE_COUNTS  # of knowledge, jieba's dictionary says verb
    left_out = reasons(counts)
    assert left_out["name"] == (1, 1, ("北京",))
    assert "没有" in left_out["other"][2]


@pytest.mark.parametrize(("sentence", "verbs"), BY_NEIGHBORS.items())
def test_a_form_that_is_noun_and_verb_is_told_by_its_neighbors(sentence, verbs):
    words = listed(counted(sentence), one_genre=False)
    assert {text for text, genre in words if genre == "verb"} == verbs


@pytest.mark.parametrize(
    ("token", "tag", "base"),
    [
        ("saw", "VBD", "see"),
        ("left", "VBN", "leave"),
        ("leaves", "NNS", "leaf"),
        ("data", "NNS", "data"),
        ("children", "NNS", "child"),
        ("Running", "VBG", "run"),
    ],
)
def test_base_forms_follow_the_tag(token, tag, base):
    assert taggers.tagger_of("en").read(token, tag).base == base


def test_a_word_is_known_that_one_of_the_dictionaries_has():
    counts = counted("Templates and correlations; nobody's chatbot made questionnaires.")
    assert {text for text, _ in listed(counts)} == {
        "template",
        "correlation",
        "questionnaire",
        "make",
    }
    assert reasons(counts)["unknown"] == (1, 1, ("chatbot",))


def test_capitals_make_no_name_of_a_heading_or_of_the_first_word():
    words = listed(counted("THE DOGS RAN\nCats ran. “Questions were asked.” The Cats ran."))
    assert words == {
        ("run", "verb"): 3,
        **dict.fromkeys(
            [("dog", "noun"), ("cat", "noun"), ("question", "noun"), ("ask", "verb")], 1
        ),
    }


@given(st.permutations([*ENGLISH, *ENGLISH[:2], "", "12", "мир 日本"]), st.integers(1, 6))
def test_the_list_does_not_depend_on_the_order_of_texts_and_every_token_is_counted_once(texts, top):
    counts = counted(*texts)
    words = lists.choose_words(counts, WordChoices(top=top))
    expected = lists.choose_words(counted(*sorted(texts)), WordChoices(top=top))
    assert (words.words, words.left_out) == (expected.words, expected.left_out)
    n_listed = sum(word.count for word in words.words)
    assert n_listed + sum(one.n_tokens for one in words.left_out) == counts.n_tokens


# Choosing


def test_ranks_follow_counts_and_then_the_alphabet():
    words = lists.choose_words(counted("Cats, dogs, ants. Dogs."), WordChoices()).words
    assert [(w.rank, w.text, w.count) for w in words] == [
        (1, "dog", 2),
        (2, "ant", 1),
        (3, "cat", 1),
    ]


def test_a_word_stands_once_as_what_it_is_more_often_or_twice():
    counts = counted(*ENGLISH)
    both = listed(counts, one_genre=False)
    assert (both["answer", "verb"], both["answer", "noun"]) == (2, 1)
    nouns = listed(counts, genres=("noun",))
    assert set(nouns) == {key for key in ENGLISH_COUNTS if key[1] == "noun"}
    assert reasons(counts, genres=("noun",))["genre"][2][0] == "answer"
    assert listed(counts, genres=("noun",), one_genre=False)["answer", "noun"] == 1
    equal = listed(counted("The answer. I answer."))
    assert equal == {("answer", "noun"): 2}


def test_words_are_left_out_by_count_rank_length_list_and_dictionary():
    counts = counted(*ENGLISH)
    assert listed(counts, least_count=2) == {k: n for k, n in ENGLISH_COUNTS.items() if n > 1}
    assert reasons(counts, least_count=2)["rare"][:2] == (7, 7)
    assert list(listed(counts, top=1)) == [("dog", "noun")]
    assert reasons(counts, top=1)["rest"][:2] == (9, 3 + 2 + 7)
    stopped = listed(counts, leave_out="DOG, question\nbark")
    assert set(ENGLISH_COUNTS) - set(stopped) == {
        ("question", "noun"),
        ("bark", "verb"),
        ("dog", "noun"),
    }
    assert reasons(counts, leave_out="dog")["listed"] == (1, 4, ("dog",))
    assert reasons(counts, least_length=4)["short"] == (3, 6, ("dog", "cat", "run"))
    assert listed(counts, unknown_words=True)["café", "noun"] == 1


def test_a_list_without_words_names_the_reason():
    with pytest.raises(BankError, match="Most tokens are words of another script"):
        lists.choose_words(counted(*CHINESE), WordChoices())
    with pytest.raises(BankError, match="No word is left"):
        lists.choose_words(counted("12 13"), WordChoices())
    with pytest.raises(BankError, match="No part of speech"):
        lists.choose_words(counted(*ENGLISH), WordChoices(genres=()))
    with pytest.raises(BankError, match=r"from 1 to 20,000"):
        lists.choose_words(counted(*ENGLISH), WordChoices(top=20_001))


def test_a_language_without_tagger_names_those_that_have_one():
    with pytest.raises(BankError, match="no tagger for 'fr'") as told:
        counted("Bonjour", language="fr")
    assert "English (en), Chinese (中文, zh)" in told.value.remedy
    assert taggers.tagger_of("en-GB") is taggers.tagger_of("en")


# Files


def files_of(text):
    """The same texts in files of every kind."""
    one = json.dumps({"id": "x", "review": text})
    yield text_file("a.txt", text)
    yield text_file("a.TXT.gz", gzip.compress(text.encode()))
    yield text_file("a.txt", text.encode("utf-16"))
    yield text_file("a.txt", "\ufeff" + text)
    yield text_file("a.csv", f'id,review\nx,"{text}"\n')
    yield text_file("a.tsv.gz", gzip.compress(f'id\tnote\nx\t"{text}"\n'.encode()), "note")
    yield text_file("a.jsonl", one)
    yield text_file("a.json", f"[{one}]")


def test_texts_are_read_from_files_of_every_kind():
    text = "\n".join(ENGLISH)
    for file in files_of(text):
        counts = lists.count_words([file], "en")
        assert listed(counts) == ENGLISH_COUNTS, file.corpus.name
        assert counts.n_texts == 1
    two = lists.count_words(list(files_of(text))[:2], "en")
    assert two.n_texts == 2
    assert lists.title_of(two) == "Frequent words of a and 1 more file, English (en)"
    assert listed(two) == {key: 2 * n for key, n in ENGLISH_COUNTS.items()}


@pytest.mark.parametrize("mark", ["\n", " ", "\r\n\r\n"])
def test_a_long_text_is_read_in_parts_that_cut_no_word(mark):
    text = mark.join(["The neighbors answered questions."] * 5000)
    counts = lists.count_words([text_file("long.txt", text)], "en")
    expected = {("answer", "verb"): 5000, ("neighbor", "noun"): 5000, ("question", "noun"): 5000}
    assert listed(counts) == expected
    assert counts.n_texts == 1


def test_a_chinese_text_without_line_breaks_is_cut_after_a_clause():
    counts = lists.count_words([text_file("long.txt", CHINESE[0] * 10_000)], "zh")
    assert listed(counts)["学生", "noun"] == 20_000


def test_rows_without_a_text_are_counted():
    rows = '{"text": "Dogs."}\n{"text": ""}\n{"text": null}\n{"text": ["dogs"]}\n{"id": 3}\n'
    counts = lists.count_words([text_file("a.jsonl", rows)], "en")
    assert (counts.n_texts, counts.n_without_text) == (1, 4)
    bank = lists.bank_of(lists.choose_words(counts, WordChoices()), "Dogs")
    assert bank.description.endswith("Rows without a text: 4.")


@pytest.mark.parametrize(
    ("name", "data", "says"),
    [
        ("a.txt", b"\x89PNG\r\n\x1a\n\x00\xff", "this is not UTF-8 text"),
        ("a.txt", b"dogs\x00cats", "NUL byte"),
        ("a.txt", "学生".encode("gb18030"), "this is not UTF-8 text"),
        ("a.txt", b"", "there is no text"),
        ("a.csv", b"", "the file is empty"),
        ("a.csv", b"text\n", "there is no text"),
        ("a.csv", b"text,id\nThe dogs,1,2\n", "there are 3 cells"),
        ("a.csv", b'text\n"The dogs\n', "quotation mark"),
        ("a.jsonl", b'{"n": 1}\n', "no column holds texts"),
        ("a.jsonl", b"[1]\n", "no object"),
        ("a.docx", b"PK", "no corpus from files of this kind"),
        ("a.txt.gz", b"no gzip", "damaged or incomplete"),
    ],
)
def test_a_file_that_cannot_be_read_is_told(name, data, says):
    with pytest.raises(FileError, match=says):
        lists.count_words([text_file(name, data)], "en")


def test_a_column_that_is_not_there_is_told_with_those_that_are():
    with pytest.raises(FileError, match="no column 'txet' with texts") as told:
        text_file("a.csv", "id,text\n1,Dogs\n", "txet")
    assert told.value.remedy == "Choose one of: id, text."


def test_a_file_that_unpacks_beyond_measure_and_too_many_characters_are_refused(monkeypatch):
    monkeypatch.setattr(corpus_files, "_SMALL", 2**18)
    bomb = gzip.compress(b"dogs " * 2**17)
    with pytest.raises(FileError, match="larger than 200 times its size"):
        lists.count_words([text_file("a.txt.gz", bomb)], "en")
    monkeypatch.setattr(lists, "MAX_CHARACTERS", 100)
    with pytest.raises(FileError, match="more than 100 characters"):
        counted("dogs " * 20, "dogs")


@pytest.mark.parametrize(
    "piece", ["a", "a-", "'", "n't", "@a.", "www.", "1,", "A.", "=+", "مرحبا", "😀"]
)
def test_hostile_texts_are_read_in_linear_time(piece):
    """A quadratic reading of so many characters would reach the time limit of the tests."""
    counts = counted(f"{piece * (40_000 // len(piece))} dogs dog")
    assert listed(counts, least_length=3)["dog", "noun"] >= 1


def test_text_in_other_scripts_is_left_out_and_nothing_but_letters_is_listed():
    counts = counted(
        "=cmd|'/C calc'!A0 <b>dogs</b> مرحبا мир 日本 {entity} 'dogs' [dogs](x) dogs’ tail"
    )
    assert reasons(counts)["script"] == (3, 3, ("мир", "مرحبا", "日本"))
    words = listed(counts, unknown_words=True)
    assert words["dog", "noun"] == 4
    assert all(text.isalpha() for text, _ in words)


# The bank


def test_the_bank_has_words_genres_ranks_counts_and_three_word_pairs(workspace):
    words = lists.choose_words(counted(*ENGLISH), WordChoices())
    bank = lists.bank_of(words, "My words")
    assert (bank.code, bank.kind, bank.languages) == ("my_words", "words", ("en",))
    assert problems(bank) == ()
    first = bank.items[0]
    assert (first.code, first.text("en"), first.genre, first.rank) == ("w0001", "dog", "noun", 1)
    assert first.attributes == {"count": 4}
    shipped = editing.load(workspace, "words_en_5000").instrument
    assert [f.code for f in bank.formats] == [f.code for f in shipped.formats]
    assert bank.formats[0].options[0].labels == {"en": "Comedy"}
    assert "3 texts with 42 tokens" in bank.description
    assert "names: 3 words, 3 tokens (king, london, road)" in bank.description
    assert "textblob" in bank.citation
    again = editing.read_instrument("words.csv", lists.bank_csv(bank))
    assert (again.errors, again.instrument) == ((), bank)
    saved = lists.save_bank(workspace, bank).instrument
    assert saved == bank
    assert lists.save_bank(workspace, bank).instrument == bank  # no copy of what is on file


def test_a_chinese_bank_has_chinese_labels_and_a_title_is_needed():
    words = lists.choose_words(counted(*CHINESE, language="zh"), WordChoices())
    bank = lists.bank_of(words, lists.title_of(words.counts), "zh words")
    assert (bank.code, bank.title) == ("zh_words", "Frequent words of texts, Chinese (中文, zh)")
    labels = [option.labels for option in bank.formats[0].options]
    assert labels == [{"zh": o.labels["zh"]} for o in BUILT_IN["comedy_tragedy"].options]
    assert problems(bank) == ()
    with pytest.raises(BankError, match="The title of the bank is empty"):
        lists.bank_of(words, "  ")
