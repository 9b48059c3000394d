"""Texts that models write: prompts that ask for them, and how they are scored."""

import streamlit as st

from pages.shared import texts_counts, texts_judging, texts_prompts, widgets

STEP = "step"
STEPS = {
    "prompts": ("Make prompts", texts_prompts.show),
    "counts": ("Count words", texts_counts.show),
    "judge": ("Let a judge rate", texts_judging.show),
}


def main() -> None:
    st.title("Texts")
    st.caption(
        "Let models write texts (letters, stories), and score them by lists of words or by a judge."
    )
    wished = st.query_params.get(STEP, "prompts")
    chosen = st.segmented_control(
        "Step",
        list(STEPS),
        default=wished if wished in STEPS else "prompts",
        format_func=lambda step: STEPS[step][0],
        key="texts_step",
        required=True,
    )
    st.query_params[STEP] = chosen
    with widgets.error_box():
        STEPS[chosen][1]()


main()
