"""Errors a user can act on.

UserError
├── BankError         a question bank cannot be used as written
├── FileError         a file cannot be read as written; nothing was imported
├── DesignError       a study cannot be planned as designed
├── ConflictError     another tab changed the same thing first
├── CollectionError   the model service refused or could not be reached
├── CodingError       a coding of a reply, a note or a coder's name cannot be saved
├── NotEnoughData     an analysis cannot be computed from these responses
│   └── WrongOption       because of what somebody typed or chose
├── TooLarge          an analysis needs more memory than it may take
├── WorkerError       the process of an analysis was killed, crashed or could not be started
├── MemberError       a member of a lab cannot be added, changed or taken out
├── RoleError         the role of a member does not allow this
├── ModelTextError    the text of a factor model cannot be read (stats/factor/model_text.py)
└── StoreError        the database file cannot be opened, read or written

Every other exception is a fault in Inkblot and is shown as one.
"""

from __future__ import annotations


class UserError(Exception):
    """A problem stated in the user's words, with the next step.

    Parameters
    ----------
    problem : the fault and its place: the item, bank, respondent, file or line.
    remedy : one thing that the user can do now, in the imperative.
    """

    def __init__(self, problem: str, remedy: str) -> None:
        super().__init__(problem, remedy)  # with both, other processes can have it
        self.problem = problem
        self.remedy = remedy

    def __str__(self) -> str:
        """Problem and remedy in one line, as the command line prints them."""
        return f"{self.problem} {self.remedy}"


class BankError(UserError):
    """A question bank cannot be used as written."""


class FileError(UserError):
    """A file cannot be read as written; nothing of it was kept."""


class DesignError(UserError):
    """A study cannot be planned as designed."""


class ConflictError(UserError):
    """Another tab changed the same thing first; the newer state stays."""


class CollectionError(UserError):
    """The model service refused the request or could not be reached."""


class CodingError(UserError):
    """A coding of a reply, a note about it or a coder's name cannot be saved."""


class NotEnoughData(UserError):
    """An analysis cannot be computed from the responses given."""


class WrongOption(NotEnoughData):
    """An option has a value that these responses do not allow: a mistake of who typed it."""


class TooLarge(UserError):
    """An analysis needs more memory than it may take."""


class WorkerError(UserError):
    """The process of an analysis was killed, crashed or could not be started."""


class MemberError(UserError):
    """A member of a lab cannot be added, changed or taken out."""


class RoleError(UserError):
    """The role of a member does not allow this; nothing was changed."""


class StoreError(UserError):
    """The database file cannot be opened, read or written."""
