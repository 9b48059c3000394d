"""How a reply means each of the options that it mentions: states, denies, doubts or passes them."""

from __future__ import annotations

import re
from itertools import pairwise

from core.collect.replies.options import PLAIN, Mention, Vocabulary, mentions
from core.collect.replies.text import is_spaceless, trim

_ESSAY = 400  # characters; in longer texts, "I support ..." may be of something else
_MOST_MENTIONS = 200  # a reply that names options more often chooses none
_REACH = 160  # characters before a mention that are looked at


class ClaimedReply:
    """A plain text with the options that it mentions, and how it means them."""

    def __init__(self, text: str, options: Vocabulary, item: str = "") -> None:
        self.options, self.words = options, options.words
        self.text = _without_quotes(text, options, item)
        found = mentions(self.text, options)
        declined = list(self.words.declined.finditer(self.text)) if found else []
        of_item = [m for m in found if not any(d.start() < m.start < d.end() for d in declined)]
        self.declines = len(of_item) < len(found)  # "I can't support that request"
        found = of_item
        aside = {}
        if len(found) > _MOST_MENTIONS:
            aside = dict.fromkeys(range(len(found)), "doubted")
        elif len(found) > 1:
            aside = self._side_by_side(found) | self._listed(found) | self._glosses(found)
        self.claims: list[Mention] = []
        for i, mention in enumerate(found):
            last = self.claims[-1] if i else None
            claim = mention._replace(how=aside[i]) if i in aside else self._claim(mention, last)
            self.claims.append(claim)

    def stated(self) -> list[Mention]:
        """What the reply states as its own."""
        return [claim for claim in self.claims if claim.how == "stated"]

    def without(self, claims: list[Mention]) -> str:
        """The text without these mentions."""
        ends = [0, *(claim.end for claim in claims)]
        starts = [*(claim.start for claim in claims), len(self.text)]
        return " ".join(self.text[a:b] for a, b in zip(ends, starts, strict=True))

    def is_turned_to(self, claim: Mention) -> bool:
        """Whether a turn such as "overall" leads to a claim."""
        return bool(self.words.turn.search(self._sentence_before(claim.start, _REACH)))

    def _sentence_before(self, place: int, reach: int) -> str:
        return self.words.sentence_end.split(self.text[max(0, place - reach) : place])[-1]

    def _side_by_side(self, found: list[Mention]) -> dict[int, str]:
        """Mentions such as "3 or 4" and "from 1 to 5", and how they are meant."""
        w, sides, meant = self.words, self.options.sides, dict[int, str]()
        for i, (first, second) in enumerate(pairwise(found)):
            between = self.text[first.end : second.start]
            if first.option == second.option or len(between) > 12:
                continue
            number, label = (first, second) if first.kind == "number" else (second, first)
            side = sides.get(number.option or "") if number.kind == "number" else None
            if side == label.side and self.text[label.start : label.end] not in self.options.labels:
                meant[i if number is first else i + 1] = "stated"  # "5, so I agree"
            elif self.options.names and w.preferred.fullmatch(between):
                meant[i + 1] = "ignored"
            elif w.joined.fullmatch(between) and self._is_pair(first, second, between):
                before = self._sentence_before(first.start, 40)
                spoken_of = w.scale_before.search(before) or w.negation.search(before)
                ignored = spoken_of or w.compared_behind.match(self.text, second.end)
                meant |= dict.fromkeys((i, i + 1), "ignored" if ignored else "doubted")
        return meant

    def _is_pair(self, first: Mention, second: Mention, between: str) -> bool:
        """Whether a comma sets two options side by side, and does not begin a further sentence."""
        if between.strip() != "," or first.kind == second.kind == "number":
            return True
        return self.words.ends.match(self.text, second.end) is not None

    def _listed(self, found: list[Mention]) -> dict[int, str]:
        """Mentions that repeat all the options as they were put, each with its label."""
        codes, meant = set(self.options.codes), dict[int, str]()
        spaces = [self.text[one.end : other.start] for one, other in pairwise(found)]
        breaks = [i for i, space in enumerate(spaces, 1) if re.search(r"\w", space)]
        for start, end in pairwise([0, *breaks, len(found)]):
            if end - start > max(3, len(codes)) and {m.option for m in found[start:end]} >= codes:
                meant |= dict.fromkeys(range(start, end), "ignored")
        return meant

    def _glosses(self, found: list[Mention]) -> dict[int, str]:
        """Codes with their labels where the scale is explained: "1 = never, 5 = always"."""
        ends = [
            i
            for i, (one, other) in enumerate(pairwise(found))
            if one.kind == "number"
            and other.kind == "label"
            and one.option == other.option
            and self.words.gloss.fullmatch(self.text, one.end, other.start)
        ]
        if len({found[i].option for i in ends}) < 2:
            ends = [i for i in ends if i and self.text[: found[i].start].rstrip()[-1:] in "(["]
        return {k: "ignored" for i in ends for k in (i, i + 1)}

    def _claim(self, mention: Mention, last: Mention | None) -> Mention:
        w, text, how = self.words, self.text, "passing"
        floor = max(0, mention.start - _REACH, last.end if last else 0)
        beside = last and re.fullmatch(r"[\s(=:-]{1,4}", text[last.end : mention.start])
        if beside and last and last.how == "ignored" and last.kind == "number":
            return mention._replace(how="ignored")  # "from 1 (disagree) to 5 (agree)"
        if mention.kind == "number" and self._is_measure(text[floor : mention.start], last):
            return mention._replace(how="ignored")  # "confidence: 5/5"
        sentence = w.sentence_end.split(text[floor : mention.start])[-1]
        clause = w.contrast.split(w.clause_end.split(sentence)[-1])[-1] if sentence else ""
        after = text[mention.end : mention.end + 60]
        stated = self._is_stated(mention, sentence, clause, after, first=floor == 0)
        essay = mention.kind == "near" and len(text) > _ESSAY
        attitude = mention.kind in ("stance", "turn", "near") and self.options.attitude
        if essay or (attitude and not stated):
            return mention  # "evidence to support this"
        unsure = sentence and w.unsure.search(sentence)
        end = w.sentence_end.search(text, mention.end, mention.end + 120) if "?" in text else None
        within = text[mention.start : mention.end] if mention.loose else ""
        doubted = unsure and self._is_doubted(sentence, clause)
        partial = w.partly_after.match(after) or w.also_before.search(clause)
        denied = w.denied.search(clause) if unsure else None
        late = w.denied_after.match(after)
        if w.compared_behind.match(after) or (unsure and self._is_set_aside(clause)):
            how = "ignored"
        elif doubted or partial or (end and end[0] == "?") or w.doubt.search(within):
            how = "doubted"
        elif denied or late:
            option = self._denied_option(mention, denied[0] if denied else "", bool(late))
            how = "stated" if option and mention.kind != "number" else "doubted"
            return mention._replace(option=option, how=how, denied=True)
        elif unsure and w.negation.search(clause):
            how = "doubted"  # by a word that no rule explains: better unread than turned round
        elif stated:
            how = "stated"
        return Mention(*mention[:7], how)

    def _is_measure(self, before: str, last: Mention | None) -> bool:
        """Whether a number has a name of its own, such as confidence, or a score in brackets."""
        behind_answer = last and last.how == "stated" and self.words.aside_before.search(before)
        return bool(behind_answer or self.words.measured_before.search(before))

    def _is_set_aside(self, clause: str) -> bool:
        """Whether it is compared with, conceded, or told of others: "critics disagree"."""
        w, (*others, own) = self.words, self.words.others.split(clause)
        told = bool(others) and not w.speaker.search(own)
        return told or bool(w.compared_before.search(clause) or w.concession.search(clause))

    def _denied_option(self, mention: Mention, before: str, late: bool) -> str | None:
        """The other of two options, where the mentioned one is plainly denied."""
        doubly = bool(before) == late or mention.degree != PLAIN
        apart = self.options.names and before and " " in before.strip(" \"'*_")
        if doubly or apart or self.words.partial_negation.search(before):
            return None
        if mention.side and len(self.options.codes) > 2:
            return self.options.graded(-mention.side, PLAIN)
        return self.options.other(mention.option)

    def _is_doubted(self, sentence: str, clause: str) -> bool:
        w = self.words
        if w.doubt.search(clause if clause.strip() else sentence[-20:]):
            return True
        start = sentence.lstrip(' *_"')
        opening = w.condition.match(start) and not w.concession.match(start)
        return bool(w.condition.search(clause) or opening) and not w.forced.search(sentence)

    def _is_stated(
        self, mention: Mention, sentence: str, clause: str, after: str, *, first: bool
    ) -> bool:
        w, options = self.words, self.options
        opens = self._opens(clause)
        ends, chosen = bool(w.ends.match(after)), bool(w.chosen_after.match(after))
        if mention.kind in ("number", "letter"):
            listed = w.listed.match(after)
            begun = listed and opens and mention.option in ("0", "1") and not w.cue.search(sentence)
            if begun and listed:  # a list begins, unless a label or a reason follows
                rest = self.text[mention.end + listed.end() - 1 :][:60]
                chose = w.reason.match(rest) or w.cue.search(rest)  # "1. I chose this because ..."
                begun = not chose and not options.pattern.match(rest)
            if begun or w.count_before.search(clause) or w.of_scale.match(after):
                return False  # counts something else
            if chosen or (opens and w.full_stop.match(after)):
                return True
            announced = opens and not listed and w.colon_before.search(self.text[: mention.start])
            numbered = mention.kind == "number" and (
                w.article_before.search(clause) or w.i_am_before.search(sentence)
            )
            led = w.cue.search(clause) or (opens and w.cue.search(sentence))
            begins = first and self._opens(self.text[: mention.start])
            return ends and bool(announced or numbered or led or begins)
        if options.names:
            liked = w.prefer.search(after.split(",")[0][:40]) and not w.negation.search(after[:20])
            named = w.choose.search(clause) or w.compared_to.match(after)
            return chosen or bool(liked or named) or (opens and ends)
        if mention.side and options.attitude:
            said = self.text[mention.start : mention.end]
            speaks = mention.kind != "label" and w.speaker.search(said, 1)
            return chosen or opens or bool(speaks or w.own.search(clause))
        excepted = not first and w.excepted_after.match(after)
        if options.family == "yes" and (excepted or w.acknowledged_after.match(after)):
            return False
        own = opens or w.speaker.search(clause) or w.cue.search(clause)
        said_of = options.family != "yes" and w.is_before.search(clause)
        return chosen or (ends and bool(own or said_of))

    def _opens(self, text: str) -> bool:
        """Whether nothing but openings such as "well, my answer is" stands there."""
        return not text or (len(text) < 60 and self.words.openings.fullmatch(text) is not None)


def _names_option(text: str, options: Vocabulary) -> bool:
    """Whether a text is an option, or a code with its own label."""
    word = trim(text)
    code, *label = re.split(r"\s*[:.)=–—-]\s*|\s+", word, maxsplit=1)
    named = options.bare.get(code)
    return word in options.bare or bool(
        named and label and options.bare.get(trim(label[0])) == named
    )


def _without_quotes(text: str, options: Vocabulary, item: str) -> str:
    """The text with long quotations and the item's own words masked, except labels."""

    def mask(match: re.Match[str]) -> str:
        inside = next(filter(None, match.groups()), "")
        short = len(inside.split()) < 4 and not is_spaceless(inside)
        keep = short or _names_option(inside, options) or not text[: match.start()].strip()
        return match[0] if keep else " § "

    item = item.strip(" .!?。\"'")
    if len(item) > 12 and len(text) > len(item) + 20:
        text = text.replace(item, "§")
    unquoted = text.isascii() and '"' not in text and "'" not in text
    return text if unquoted else options.words.quotation.sub(mask, text)
