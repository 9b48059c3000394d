"""Asks four items of the starter bank attitude_companion_8 by EDSL and keeps Results.to_csv().

    pip install edsl==1.0.9
    python tests/golden/other_tools/make_edsl.py

The agents answer by a function, so no model and no service is asked. ben gives no usable answer to
precedence_03 in the second iteration: EDSL leaves the cell empty.
"""

from edsl import Agent, AgentList, Model, QuestionMultipleChoice, Survey
from make_exports import FOLDER, LABELS, TEXTS

CODES = {
    "anna": {"precedence_01": [4, 5], "precedence_02": [2, 2], "precedence_03": [4, 3],
             "precedence_04": [4, 4]},
    "ben": {"precedence_01": [2, 1], "precedence_02": [4, 5], "precedence_03": [2, None],
            "precedence_04": [1, 3]},
}  # fmt: skip
ASKED = {}


def answer(self, question, scenario):
    turn = ASKED[self.name, question.question_name] = (
        ASKED.get((self.name, question.question_name), -1) + 1
    )
    code = CODES[self.name][question.question_name][turn]
    return None if code is None else LABELS[code - 1]


def main():
    items = list(TEXTS)[:4]
    survey = Survey(
        [
            QuestionMultipleChoice(
                question_name=item, question_text=TEXTS[item], question_options=LABELS
            )
            for item in items
        ]
    )
    agents = [
        Agent(name="anna", traits={"persona": "a baker"}),
        Agent(name="ben", traits={"persona": "a nurse"}),
    ]
    for agent in agents:
        agent.add_direct_question_answering_method(answer)
    results = (
        survey.by(AgentList(agents))
        .by(Model("test"))
        .run(n=2, disable_remote_inference=True, disable_remote_cache=True, progress_bar=False)
    )
    results.to_csv(filename=str(FOLDER / "edsl.csv"))


if __name__ == "__main__":
    main()
