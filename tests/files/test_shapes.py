"""Every way in which a file can differ from its shape is told with its place, in our own words."""

import pytest
from pydantic import TypeAdapter

from core.domain.study import DESIGN
from core.errors import FileError
from core.files.yaml_files import Shape, read_shape


class Part(Shape):
    text: str
    size: int = 1
    share: float = 0.5
    shown: bool = False
    both: tuple[str, str] = ("a", "b")


class Whole(Shape):
    parts: dict[str, Part]


def refusal(text: str) -> str:
    with pytest.raises(FileError) as caught:
        read_shape(
            TypeAdapter(Whole), "f.yaml", text, compare="Compare it.", nouns={"parts": "part"}
        )
    return str(caught.value)


@pytest.mark.parametrize(
    ("part", "said"),
    [
        ("{}", "f.yaml, part 'p': 'text' is missing. Add it."),
        ("{text: 1}", "f.yaml, part 'p', text: this is not a text. Put it in quotation marks."),
        ("{text: 2024-01-05}", "part 'p', text: this is not a text. Put it in quotation marks."),
        ("{text: !!binary aGk=}", "part 'p', text: this is not a text."),
        ("{text: t, size: '1'}", "part 'p', size: this is not a whole number."),
        ("{text: t, size: 1.5}", "part 'p', size: this is not a whole number."),
        ("{text: t, size: true}", "part 'p', size: this is not a whole number."),
        ("{text: t, share: '0.5'}", "part 'p', share: this is not a number."),
        ("{text: t, shown: 1}", "part 'p', shown: this is neither true nor false."),
        ("{text: t, both: a}", "part 'p', both: this is not a list."),
        ("{text: t, both: [a]}", "part 'p', both: entry 2 is missing."),
        ("{text: t, both: [a, b, c]}", "part 'p', both: there are 3 entries. Write 2 of them."),
        ("{text: t, both: [a, 2]}", "part 'p', both, entry 2: this is not a text."),
        ("{txt: t}", "part 'p': the key 'txt' is unknown. Known are 'text', 'size', 'share', "),
        ("t", "f.yaml, part 'p': this is not a list of keys with values. Compare it."),
        ("{no: t}", "f.yaml, line 1: the key 'no' is not a text."),
        ("{2024-01-05: t}", "f.yaml: a key is a date or a list."),
        ('{text: "\\ud800"}', "half a character"),
    ],
)
def test_a_fault_is_told_with_its_place_and_what_to_do(part, said):
    assert said in refusal(f"parts: {{p: {part}}}")


@pytest.mark.parametrize("text", ["", "- a", "a"])
def test_a_file_without_keys_is_told(text):
    assert refusal(text) == "f.yaml: this is not a list of keys with values. Compare it."


def test_a_design_of_an_earlier_inkblot_still_has_its_one_format():
    body = '{"study": "s", "instrument": "b", "respondents": ["A"], "format": %s}'
    assert DESIGN.validate_json(body % '"agree"').formats == ("agree",)
    assert DESIGN.validate_json(body % '""').formats == ()
