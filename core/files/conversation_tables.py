"""Conversations in a table: a row is one message, or one exchange of user and assistant."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from core.domain.languages import language_code
from core.domain.study import Context, Message
from core.errors import FileError
from core.files.context_codes import Placed, refuse_repeats, with_codes, wrong
from core.files.reading import Table

_ROLES = {
    "user": "user", "human": "user", "assistant": "assistant", "gpt": "assistant",
    "bot": "assistant", "model": "assistant", "system": "system",
}  # fmt: skip
"""What files call who speaks, and what Inkblot calls them."""
_MESSAGE = frozenset({"role", "content"})
_EXCHANGE = frozenset({"user", "assistant"})
_ABOUT = frozenset({"code", "language", "variant_of"})


@dataclass
class _Conversation:
    """The rows of one code, as far as they were read."""

    line: int
    code: str
    messages: list[Message] = field(default_factory=list)
    about: dict[str, str] = field(default_factory=dict)


def holds_conversations(table: Table) -> bool:
    """Whether the columns are those of conversations."""
    header = set(_header(table))
    return header.issuperset(_MESSAGE) or header.issuperset(_EXCHANGE)


def conversations_of_table(name: str, table: Table) -> tuple[Context, ...]:
    """The conversations of a table, whose rows with one code stand together, in their order.

    A code whose row holds no message stands for "nothing said before".

    Raises
    ------
    FileError
        A message is empty or nobody's, or a code stands in two places; names the line.
    """
    header = _header(table)
    _check_columns(name, table, header)
    found: list[_Conversation] = []
    for line, cells in table.rows:
        row = dict(zip(header, cells, strict=True))
        code = row.get("code", "").strip()
        if not code and "role" in row:
            raise wrong(name, line, "there is no code that says which conversation this is part of")
        if not code or not found or found[-1].code != code:
            found.append(_Conversation(line, code))
        _add(name, line, row, found[-1])
    if not found:
        raise FileError(f"{name}: there is no conversation.", "Write one message in each row.")
    refuse_repeats(name, "code", [(one.line, one.code) for one in found if one.code])
    return with_codes(name, [Placed(one.line, _context(one)) for one in found], "c")


def role(name: str, line: int, text: str) -> str:
    """Who speaks, in Inkblot's words; FileError for somebody else."""
    known = _ROLES.get(text.strip().lower())
    if known is None:
        shown = text if len(text) <= 60 else f"{text[:60]}…"
        raise wrong(name, line, f"the role '{shown}' is not one of {', '.join(_ROLES)}")
    return known


def _header(table: Table) -> tuple[str, ...]:
    return tuple(column.strip().lower() for column in table.header)


def _check_columns(name: str, table: Table, header: tuple[str, ...]) -> None:
    own = _MESSAGE if _MESSAGE.issubset(header) else _EXCHANGE
    strange = [column for column in table.header if column.strip().lower() not in own | _ABOUT]
    needs_code = own is _MESSAGE and "code" not in header
    if strange or needs_code or len(set(header)) < len(header):
        raise FileError(
            f"{name}: the columns are {', '.join(map(repr, table.header))}; conversations need "
            "'code', 'role' and 'content', or 'user' and 'assistant', and may have 'language' "
            "and 'variant_of'.",
            "Rename or delete columns.",
        )


def _add(name: str, line: int, row: dict[str, str], conversation: _Conversation) -> None:
    """Add a row's messages and what it says about its conversation."""
    about = {
        "language": language_code(row.get("language", "")),
        "variant_of": row.get("variant_of", "").strip(),
    }
    for column, value in about.items():
        earlier = conversation.about.setdefault(column, value)
        if value != earlier:
            what = f"the {column} is '{value}', but '{earlier}' where the conversation begins"
            raise wrong(name, line, what)
    goes_on = line != conversation.line
    if goes_on and not conversation.messages:
        raise wrong(name, line, "the code stands for nothing said before, and yet goes on here")
    said = [row.get(column, "") for column in ("role", "content", "user", "assistant")]
    if not goes_on and conversation.code and not "".join(said).strip():
        return
    conversation.messages.extend(_messages(name, line, row))


def _messages(name: str, line: int, row: dict[str, str]) -> Iterator[Message]:
    if "role" in row:
        said = [(role(name, line, row["role"]), "content", row["content"])]
    else:
        said = [(speaker, speaker, row[speaker]) for speaker in ("user", "assistant")]
    for speaker, column, content in said:
        if not content.strip():
            raise wrong(name, line, f"there is no text in the column '{column}'")
        yield {"role": speaker, "content": content}


def _context(conversation: _Conversation) -> Context:
    return Context(conversation.code, messages=tuple(conversation.messages), **conversation.about)
