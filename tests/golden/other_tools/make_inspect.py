"""Asks four items of the starter bank attitude_companion_8 by Inspect and keeps the log as JSON.

    pip install inspect-ai==0.3.285
    python tests/golden/other_tools/make_inspect.py

The model is mockllm/model, which gives the replies of make_exports.py in the order of the samples.
So that the log is small, the record of events is taken out of it before Inspect writes it again.
"""

import tempfile

from inspect_ai import Task, eval
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.log import write_eval_log
from inspect_ai.model import ModelOutput, ModelUsage, get_model
from inspect_ai.scorer import choice
from inspect_ai.solver import multiple_choice, system_message
from make_exports import FOLDER, LABELS, TEXTS

REPLIES = {
    "anna": {"precedence_01": ["ANSWER: D", "ANSWER: E"],
             "precedence_02": ["ANSWER: B", "I would say: Disagree, because newcomers must learn."],
             "precedence_03": ["ANSWER: D", "As an AI language model, I have no personal opinion."],
             "precedence_04": ["ANSWER: D", "ANSWER: D"]},
    "ben": {"precedence_01": ["ANSWER: B", "ANSWER: A"],
            "precedence_02": ["ANSWER: D", "ANSWER: E"],
            "precedence_03": ["ANSWER: B", "ANSWER: B"],
            "precedence_04": ["ANSWER: A", "ANSWER: C"]},
}  # fmt: skip
ASKED = {}


def reply(messages, *_):
    persona = messages[0].text.split()[2].strip(".")
    item = next(item for item, text in TEXTS.items() if text in messages[-1].text)
    turn = ASKED[persona, item] = ASKED.get((persona, item), -1) + 1
    output = ModelOutput.from_content("mockllm/model", REPLIES[persona][item][turn])
    output.usage = ModelUsage(input_tokens=60, output_tokens=5, total_tokens=65)
    return output


def main():
    samples = [
        Sample(
            id=f"{persona}-{item}",
            input=TEXTS[item],
            choices=LABELS,
            target="A",
            metadata={"item": item, "persona": persona},
        )
        for persona, answers in REPLIES.items()
        for item in answers
    ]
    task = Task(
        dataset=MemoryDataset(samples, name="town"),
        name="town",
        scorer=choice(),
        epochs=2,
        solver=[system_message("You are {persona}."), multiple_choice()],
    )
    with tempfile.TemporaryDirectory() as folder:
        (log,) = eval(
            task,
            model=get_model("mockllm/model", custom_outputs=reply),
            log_dir=folder,
            log_format="json",
            display="none",
            max_samples=1,
        )
    assert log.status == "success"
    for sample in log.samples:
        sample.events, sample.attachments, sample.messages = [], {}, []
    log.eval.revision = None
    write_eval_log(log, str(FOLDER / "inspect.json"))


if __name__ == "__main__":
    main()
