"""Asks four items of the starter bank attitude_companion_8 by QSTN and keeps its table as CSV.

    pip install qstn==0.5.4
    python tests/golden/other_tools/make_qstn.py

QSTN asks through the OpenAI client; its transport gives the replies of make_exports.py, so that no
service is asked.
"""

import json

import httpx
import pandas as pd
from make_exports import FOLDER, LABELS, REPLIES, TEXTS
from openai import AsyncOpenAI
from qstn.parser.llm_answer_parser import to_dataframe
from qstn.prompt_builder import LLMPrompt, generate_likert_options
from qstn.survey_manager import conduct_survey_single_item


def respond(request):
    messages = json.loads(request.content)["messages"]
    persona = messages[0]["content"].split()[2].strip(".")
    item = next(item for item, text in TEXTS.items() if text in messages[-1]["content"])
    message = {"role": "assistant", "content": REPLIES[persona, item, 1]}
    return httpx.Response(
        200,
        json={
            "id": "1",
            "object": "chat.completion",
            "created": 0,
            "model": "small-model-1",
            "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
        },
    )


def main():
    items = list(TEXTS)[:4]
    questions = pd.DataFrame(
        {"questionnaire_item_id": items, "question_content": [TEXTS[item] for item in items]}
    )
    options = generate_likert_options(n=5, answer_texts=LABELS)
    prompts = [
        LLMPrompt(
            questions, questionnaire_name=name, system_prompt=f"You are {name}."
        ).prepare_prompt(
            question_stem="How much do you agree? {{QUESTION_CONTENT_PLACEHOLDER}}",
            answer_options=options,
        )
        for name in ("anna", "ben")
    ]
    client = AsyncOpenAI(
        api_key="none",
        base_url="http://localhost:1/v1",
        http_client=httpx.AsyncClient(transport=httpx.MockTransport(respond)),
    )
    results = conduct_survey_single_item(
        client, prompts, client_model_name="small-model-1", print_progress=False
    )
    to_dataframe(results).to_csv(FOLDER / "qstn.csv", index=False)


if __name__ == "__main__":
    main()
