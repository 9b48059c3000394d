"""The tidy file in words: its columns, and an example of it."""

from __future__ import annotations

from core.domain.study import Status

_WHY_NOT = ", ".join(status.value for status in Status if not status.usable)

COLUMNS: tuple[tuple[str, str, str, str], ...] = (
    ("item", "yes", "Code of the item.", "q1"),
    (
        "answer",
        "yes",
        "Code of the option chosen: a number, a letter or a word of the answer format. Empty where "
        "the status says why there is none.",
        "4",
    ),
    ("status", "", f"Why there is no answer: {_WHY_NOT}. Empty or answered beside an answer.",
     "refused"),
    ("study", "", "Name of the study; else the name you type, or the file's.", "pilot_1"),
    ("instrument", "", "Code of the items' bank; else the bank that holds the items, or a new one.",
     "attitudes_20"),
    ("model", "", "Who answered.", "gpt-4o"),
    ("language", "", "Language the item was asked in.", "en"),
    ("context", "", "The person who answered, the persona, or whatever was said before the item. "
     "Without it, a column person, participant, subject, respondent_id or id is taken.", "p07"),
    ("entity, entity_b", "", "What the item was asked about.", "Brand A"),
    ("form", "", "Wording of the item: original, paraphrase_1, negation ...", "original"),
    ("format", "", "Answer format: yes_no, a_b, likert_4 to likert_7, agree_disagree, "
     "support_oppose or the bank's own.", "likert_5"),
    ("template, label_order, phase", "", "Wording of instructions, order of options, phase.",
     "as_is"),
    ("repetition", "", "Which time the same was asked, from 1.", "2"),
    ("call, position", "", "Items asked in one call, and the place in it.", "17"),
    ("raw", "", "The reply to the letter.", "I would say 4."),
    ("score", "", "Score after reversing, as the bank gives it; where it differs, you are asked.",
     "4"),
    ("latency_s, tokens_in, tokens_out, cost, time", "", "Seconds, tokens, US dollars, and when "
     "(2025-03-31T14:05:00Z).", "0.8"),
)  # fmt: skip

EXAMPLE = """\
item,answer,status,model,language,context,format,repetition,raw
q1,4,,Model A,en,p01,likert_5,1,4
q2,2,,Model A,en,p01,likert_5,1,"2, because I seldom do that."
q3,,refused,Model A,en,p01,likert_5,1,"As a language model, I have no opinion."
q1,5,,Model A,en,p02,likert_5,1,5
q2,1,,Model A,en,p02,likert_5,1,1
q3,3,,Model A,en,p02,likert_5,1,3
q1,3,,Model B,en,p01,likert_5,1,3
q2,3,,Model B,en,p01,likert_5,1,3
q3,4,,Model B,en,p01,likert_5,1,4
q1,2,,Model B,en,p02,likert_5,1,2
q2,4,,Model B,en,p02,likert_5,1,4
q3,,off_scale,Model B,en,p02,likert_5,1,7
"""
