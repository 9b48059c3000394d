"""Reading YAML: the one place, because a few lines of it can take minutes or gigabytes."""

from __future__ import annotations

from typing import Any

import yaml

from core.errors import FileError

_LONGEST = 2_000_000  # characters
_DEEPEST = 50  # lists and mappings inside each other
_LONGEST_NUMBER = 100  # digits; reading one takes the square of its length

_Loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # the one in C is seven times as fast
_NO_TEXTS = ("tag:yaml.org,2002:bool", "tag:yaml.org,2002:null")
_NUMBERS = ("tag:yaml.org,2002:int", "tag:yaml.org,2002:float")
_MEND = "Mend it and try again."
_WRITE_OUT = "Write every part out, and put texts in quotation marks."


def read_yaml(name: str, text: str, *, longest: int = _LONGEST) -> Any:
    """What a YAML text says; None if it is empty.

    Raises
    ------
    FileError
        The text is too long or no YAML; it repeats an earlier part (`*name`), has too many brackets
        inside each other, a key twice in one place, a key that YAML reads as true, false or
        nothing, or a value that cannot be read. `name` stands at the beginning of the message.
    """
    if len(text) > longest:
        raise FileError(
            f"{name}: the text has {len(text):,} characters; at most {longest:,} can be read.",
            "Shorten it.",
        )
    try:
        _refuse_traps(name, text)
        loader = _Loader(text)
        try:
            root = loader.get_single_node()
            if root is None:
                return None
            _check_node(name, root)
            return loader.construct_document(root)
        finally:
            loader.dispose()
    except yaml.YAMLError as error:
        raise _not_yaml(name, text, error) from error
    except (ValueError, OverflowError) as error:
        raise FileError(f"{name}: a value cannot be read ({str(error)[:200]}).", _MEND) from error


def _refuse_traps(name: str, text: str) -> None:
    """Look at one part after the other, before anything is built of them."""
    depth = 0
    for event in yaml.parse(text, Loader=_Loader):
        line = event.start_mark.line + 1 if event.start_mark else 1
        if isinstance(event, yaml.AliasEvent):
            # A few lines of them unfold to gigabytes.
            raise FileError(
                f"{name}, line {line}: an earlier part is repeated with '*{event.anchor}'.",
                _WRITE_OUT,
            )
        depth += isinstance(event, yaml.CollectionStartEvent)
        depth -= isinstance(event, yaml.CollectionEndEvent)
        if depth > _DEEPEST:
            raise FileError(
                f"{name}, line {line}: there are too many brackets inside each other; "
                f"at most {_DEEPEST} can be read.",
                _MEND,
            )


def _check_node(name: str, node: yaml.Node) -> None:
    """Refuse a key that stands twice in one place, and numbers of endless length."""
    if isinstance(node, yaml.ScalarNode) and node.tag in _NUMBERS:
        if len(node.value) > _LONGEST_NUMBER:
            line = node.start_mark.line + 1
            raise FileError(f"{name}, line {line}: a number is too long.", _MEND)
    elif isinstance(node, yaml.SequenceNode):
        for part in node.value:
            _check_node(name, part)
    elif isinstance(node, yaml.MappingNode):
        seen: set[str] = set()
        for key, value in node.value:
            _check_node(name, key)
            _check_node(name, value)
            if not isinstance(key, yaml.ScalarNode):
                continue
            if key.tag in _NO_TEXTS:
                raise FileError(
                    f"{name}, line {key.start_mark.line + 1}: the key '{key.value}' is not a text.",
                    "Put it in quotation marks; without them, YAML reads no as 'false'.",
                )
            if key.value in seen:
                line = key.start_mark.line + 1
                raise FileError(
                    f"{name}, line {line}: the key '{key.value}' stands twice.", "Remove one."
                )
            seen.add(key.value)


def _not_yaml(name: str, text: str, error: yaml.YAMLError) -> FileError:
    mark = getattr(error, "problem_mark", None)
    # An unfinished text has its fault in the line after the last one.
    last = text.count("\n") + 1
    where = f", line {min(mark.line + 1, last)}" if mark else ""
    what = getattr(error, "problem", None) or "it is not finished"
    if "Unicode character escape" in what:
        return FileError(
            f"{name}{where}: there is half a character (such as \\ud800), which cannot be kept.",
            "Write the character itself.",
        )
    return FileError(f"{name}{where}: this is not valid YAML ({what}).", _WRITE_OUT)
