"""Sentences about nothing in particular, in many forms, so that a model meets ordinary English."""

from __future__ import annotations

from typing import TYPE_CHECKING

from akka_optimize.trainer.base_models.byte_decoder import words

if TYPE_CHECKING:
    from random import Random

PRONOUNS = ("I", "we", "they", "he", "she", "my brother", "our neighbour", "the old man", "someone", "the children")
OPENERS = ("", "", "", "", "Well, ", "Then ", "Later ", "Of course ", "In the end ", "First ", "Sometimes ", "Still, ")
NUMBERS = ("two", "three", "four", "five", "six", "ten", "twelve", "twenty", "7", "15", "100", "1,200")


def sentence(draw: Random, topic: str | None = None) -> str:
    """One sentence; with a topic, at least one of its nouns is in it."""
    nouns = words.NOUNS[topic or draw.choice(tuple(words.NOUNS))]
    noun, other = draw.choice(nouns), draw.choice(nouns if draw.random() < 0.6 else words.ALL_NOUNS)
    made = draw.choice(FORMS)(draw, noun, other)
    opener = draw.choice(OPENERS)
    made = opener + made if opener else made[0].upper() + made[1:]
    return made + draw.choice("......!")


def question(draw: Random, topic: str | None = None) -> str:
    """One question."""
    noun = draw.choice(words.NOUNS[topic or draw.choice(tuple(words.NOUNS))])
    base, past, _ = draw.choice(words.VERBS)
    return draw.choice(
        (
            f"Who {past} the {noun}?",
            f"Did you {base} the {noun} {draw.choice(words.WHEN)}?",
            f"Where can I {base} a {draw.choice(words.ADJECTIVES)} {noun}?",
            f"Why does the {noun} look so {draw.choice(words.ADJECTIVES)}?",
            f"How many {plural(noun)} do we need?",
            f"Could you please {base} the {noun}?",
            f"Can {draw.choice(words.NAMES)} {base} the {noun} or not?",
        )
    )


def paragraph(draw: Random, sentences: int, topic: str | None = None) -> str:
    """Some sentences on one topic."""
    topic = topic or draw.choice(tuple(words.NOUNS))
    made = (question(draw, topic) if draw.random() < 0.12 else sentence(draw, topic) for _ in range(sentences))
    return " ".join(made)


def plural(noun: str) -> str:
    """The noun's plural, by the regular rules."""
    if noun.endswith(("s", "x", "ch", "sh")):
        return noun + "es"
    if noun.endswith("y") and noun[-2] not in "aeiou":
        return noun[:-1] + "ies"
    return noun + "s"


def article(phrase: str) -> str:
    """The phrase behind its indefinite article."""
    return ("an " if phrase[0] in "aeiou" else "a ") + phrase


def typos(draw: Random, text: str, rate: float) -> str:
    """The text as a hurried writer types it: letters swapped, dropped, doubled."""
    letters = list(text)
    for i in range(len(letters) - 1):
        if letters[i].isalpha() and draw.random() < rate:
            slip = draw.randrange(3)
            if slip == 0:
                letters[i], letters[i + 1] = letters[i + 1], letters[i]
            else:
                letters[i] = "" if slip == 1 else letters[i] * 2
    return "".join(letters)


def _who(draw: Random) -> str:
    return draw.choice(words.NAMES) if draw.random() < 0.5 else draw.choice(PRONOUNS)


def _did(draw: Random, noun: str, _other: str) -> str:
    return f"{_who(draw)} {draw.choice(words.VERBS)[1]} the {noun} {draw.choice(words.WHEN)}"


def _did_there(draw: Random, noun: str, _other: str) -> str:
    phrase = article(f"{draw.choice(words.ADJECTIVES)} {noun}")
    return f"{_who(draw)} {draw.choice(words.VERBS)[1]} {phrase} {draw.choice(words.WHERE)}"


def _is(draw: Random, noun: str, other: str) -> str:
    return f"the {noun} is {draw.choice(words.ADJECTIVES)} and the {other} is {draw.choice(words.ADJECTIVES)}"


def _was_not(draw: Random, noun: str, _other: str) -> str:
    return f"the {noun} was not {draw.choice(words.ADJECTIVES)} {draw.choice(words.BECAUSE)}"


def _there(draw: Random, noun: str, other: str) -> str:
    return f"there are {draw.choice(NUMBERS)} {plural(noun)} {draw.choice(words.WHERE)}, but only one {other}"


def _want(draw: Random, noun: str, other: str) -> str:
    base, _, ing = draw.choice(words.VERBS)
    return f"I would like to {base} the {noun} instead of {ing} the {other}"


def _cannot(draw: Random, noun: str, _other: str) -> str:
    return f"we cannot {draw.choice(words.VERBS)[0]} the {noun} {draw.choice(words.BECAUSE)}"


def _if(draw: Random, noun: str, other: str) -> str:
    return f"if you {draw.choice(words.VERBS)[0]} the {noun}, you will {draw.choice(words.VERBS)[0]} the {other} too"


def _because(draw: Random, noun: str, _other: str) -> str:
    return f"{_who(draw)} {draw.choice(words.VERBS)[1]} the {noun} {draw.choice(words.BECAUSE)}"


def _said(draw: Random, noun: str, _other: str) -> str:
    return f'{_who(draw)} said: "the {noun} belongs to {draw.choice(words.NAMES)}, not to me"'


def _job(draw: Random, noun: str, _other: str) -> str:
    job = article(draw.choice(words.JOBS))
    return f"{draw.choice(words.NAMES)} is {job} from {draw.choice(words.CITIES)} with {article(noun)}"


def _feeling(draw: Random, noun: str, _other: str) -> str:
    feeling = draw.choice(words.GOOD + words.BAD + words.PLAIN)
    return f"what {article(feeling)} {noun} that was {draw.choice(words.WHEN)}"


FORMS = (_did, _did_there, _is, _was_not, _there, _want, _cannot, _if, _because, _said, _job, _feeling)
