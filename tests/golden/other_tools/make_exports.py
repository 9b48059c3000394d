"""Writes exports in the shape of Qualtrics, LimeSurvey, REDCap and OpenAI Batch; see README.md.

    python tests/golden/other_tools/make_exports.py

The answers of people are those of people.csv, the replies those of REPLIES. The texts of the items
are those of data/banks/attitude_companion_8.csv. Only the standard library is used.
"""

from __future__ import annotations

import csv
import json
from pathlib import Path

FOLDER = Path(__file__).parent
BANK = FOLDER.parents[2] / "data" / "banks" / "attitude_companion_8.csv"
LABELS = ["Strongly disagree", "Disagree", "Neither agree nor disagree", "Agree", "Strongly agree"]
QUESTION = "How much do you agree?"


def rows_of(path):
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


PEOPLE = rows_of(FOLDER / "people.csv")
TEXTS = {row["code"]: row["text_en"] for row in rows_of(BANK) if row["record"] == "item"}
ITEMS = list(TEXTS)


def label(code):
    return LABELS[int(code) - 1] if code else ""


def write(name, rows, **options):
    with (FOLDER / name).open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, **options).writerows(rows)


def qualtrics(name, cell):
    about = {
        "StartDate": ("Start Date", "startDate"),
        "EndDate": ("End Date", "endDate"),
        "Status": ("Response Type", "status"),
        "IPAddress": ("IP Address", "ipAddress"),
        "Progress": ("Progress", "progress"),
        "Duration (in seconds)": ("Duration (in seconds)", "duration"),
        "Finished": ("Finished", "finished"),
        "RecordedDate": ("Recorded Date", "recordedDate"),
        "ResponseId": ("Response ID", "_recordId"),
        "RecipientLastName": ("Recipient Last Name", "recipientLastName"),
        "DistributionChannel": ("Distribution Channel", "distributionChannel"),
        "UserLanguage": ("User Language", "userLanguage"),
    }
    asked = [f"Q2_{number}" for number in range(1, 9)]
    names = [*about, "Q1", *asked, "Q3_TEXT"]
    texts = [text for text, _ in about.values()]
    texts += ["How old are you?", *(f"{QUESTION} - {TEXTS[item]}" for item in ITEMS)]
    texts.append("Is there anything that you would like to add?")
    ids = [{"ImportId": code} for _, code in about.values()]
    ids[0]["timeZone"] = "Europe/Berlin"
    ids += [{"ImportId": "QID1_TEXT"}, *({"ImportId": f"QID2_{n}"} for n in range(1, 9))]
    ids.append({"ImportId": "QID3_TEXT"})
    rows = []
    for number, person in enumerate(PEOPLE, start=1):
        day = f"2026-03-0{number} 10:00:00"
        rows.append(
            [
                day,
                day,
                "IP Address",
                f"192.0.2.{number}",
                "100",
                str(60 + number),
                "True",
                day,
                f"R_{person['person']}",
                "",
                "anonymous",
                "EN",
                str(30 + number),
                *(cell(person[item]) for item in ITEMS),
                "No, thanks." if number == 2 else "",
            ]
        )
    write(name, [names, texts, [json.dumps(one, separators=(",", ":")) for one in ids], *rows])


def limesurvey(name, heading, cell):
    codes = ["id", "submitdate", "lastpage", "startlanguage", "seed", "ipaddr"]
    texts = ["Response ID", "Date submitted", "Last page", "Start language", "Seed", "IP address"]
    rows = [[*(codes if heading == "code" else texts), "age"]]
    rows[0] += [f"town[{item.replace('_', '')}]" for item in ITEMS]
    for number, person in enumerate(PEOPLE, start=1):
        rows.append(
            [
                number,
                f"2026-03-0{number} 10:01:00",
                2,
                "en",
                1_000_000 + number,
                f"192.0.2.{number}",
                30 + number,
                *(cell(person[item]) for item in ITEMS),
            ]
        )
    write(name, rows, quoting=csv.QUOTE_ALL)


def redcap(name):
    header = [
        "record_id",
        "redcap_event_name",
        "redcap_repeat_instrument",
        "redcap_repeat_instance",
        "redcap_survey_identifier",
        "age",
        "news___1",
        "news___2",
        "about_you_complete",
        *ITEMS,
        "precedence_complete",
    ]
    rows = [header]
    for number, person in enumerate(PEOPLE, start=1):
        about = ["", str(30 + number), "1", str(number % 2), "2"]
        rows.append([number, "baseline_arm_1", "", "", *about, *([""] * 8), ""])
        answers = [person[item] for item in ITEMS]
        rows.append(
            [
                number,
                "baseline_arm_1",
                "precedence",
                "1",
                *([""] * 5),
                *answers,
                "2" if all(answers) else "0",
            ]
        )
    later = [PEOPLE[0][item] for item in ITEMS]
    rows.append([1, "baseline_arm_1", "precedence", "2", *([""] * 5), *later, "2"])
    write(name, rows)


REPLIES = {
    ("anna", "precedence_01", 1): "Agree",
    ("anna", "precedence_01", 2): "Strongly agree",
    ("anna", "precedence_02", 1): "I would say: Disagree, because newcomers must learn first.",
    ("anna", "precedence_02", 2): "2",
    ("anna", "precedence_03", 1): "Agree",
    ("anna", "precedence_03", 2): "As an AI language model, I have no personal opinion on this.",
    ("anna", "precedence_04", 1): "4. Agree",
    ("anna", "precedence_04", 2): None,
    ("ben", "precedence_01", 1): "Disagree",
    ("ben", "precedence_01", 2): "**Strongly disagree**",
    ("ben", "precedence_02", 1): "Answer: Agree",
    ("ben", "precedence_02", 2): "Strongly agree",
    ("ben", "precedence_03", 1): "7",
    ("ben", "precedence_03", 2): "Disagree",
    ("ben", "precedence_04", 1): "",
    ("ben", "precedence_04", 2): "Neither agree nor disagree",
}


def batch(name):
    lines = []
    for number, ((persona, item, repetition), reply) in enumerate(REPLIES.items(), start=1):
        body = {
            "id": f"chatcmpl-{number}",
            "object": "chat.completion",
            "created": 1772350000 + number,
            "model": "small-model-1",
            "choices": [
                {
                    "index": 0,
                    "message": {"role": "assistant", "content": reply, "refusal": None},
                    "logprobs": None,
                    "finish_reason": "stop",
                }
            ],
            "usage": {"prompt_tokens": 60, "completion_tokens": 5, "total_tokens": 65},
        }
        response = {"status_code": 200, "request_id": f"req_{number}", "body": body}
        if reply is None:
            fault = {"message": "The server had an error.", "type": "server_error", "code": None}
            response = {"status_code": 500, "request_id": f"req_{number}", "body": {"error": fault}}
        lines.append(
            {
                "id": f"batch_req_{number}",
                "custom_id": f"{persona}|{item}|{repetition}",
                "response": response,
                "error": None,
            }
        )
    (FOLDER / name).write_text("".join(json.dumps(line) + "\n" for line in lines))


if __name__ == "__main__":
    qualtrics("qualtrics_text.csv", label)
    qualtrics("qualtrics_numbers.csv", str)
    limesurvey("limesurvey_answers.csv", "text", label)
    limesurvey("limesurvey_codes.csv", "code", lambda code: f"AO0{code}" if code else "")
    redcap("redcap.csv")
    batch("openai_batch.jsonl")
