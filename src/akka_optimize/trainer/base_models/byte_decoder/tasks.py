"""Small chat tasks with one right answer, so that a model learns how a chat goes and how JSON is written.

Each function gives what the user asks and what the assistant answers.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from akka_optimize.trainer.base_models.byte_decoder import prose, words

if TYPE_CHECKING:
    from random import Random

SYSTEMS = (
    "You are a helpful assistant.",
    "Answer in one line.",
    "Do what the user asks and add nothing.",
    "Reply with the answer only.",
    "You read a text and answer about it.",
    "Be exact.",
)
JSON_SYSTEMS = (
    "Reply with JSON only.",
    "You turn text into JSON.",
    "Answer with one JSON object and nothing else.",
    "Extract what is asked for as JSON.",
)


def row(draw: Random) -> dict[str, Any]:
    """One chat of one or two exchanges."""
    task = draw.choice(TASKS)
    systems = JSON_SYSTEMS if task in (extract, sort_out, labels, table) else SYSTEMS
    messages = [{"role": "system", "content": draw.choice(systems)}] if draw.random() < 0.6 else []
    for _ in range(1 if draw.random() < 0.8 else 2):
        user, assistant = task(draw)
        messages += [{"role": "user", "content": user}, {"role": "assistant", "content": assistant}]
    return {"messages": messages}


def copy(draw: Random) -> tuple[str, str]:
    """Say it again."""
    text = prose.sentence(draw) if draw.random() < 0.7 else " ".join(_nouns(draw, 2, 6))
    return f"{draw.choice(('Repeat', 'Say again', 'Copy this', 'Echo'))}: {text}", text


def reverse(draw: Random) -> tuple[str, str]:
    """Words in the other order, or a word's letters."""
    if draw.random() < 0.5:
        picked = _nouns(draw, 2, 5)
        return f"Reverse the words: {' '.join(picked)}", " ".join(reversed(picked))
    word = draw.choice(words.ALL_NOUNS)
    return f"Spell backwards: {word}", word[::-1]


def case(draw: Random) -> tuple[str, str]:
    """Capitals, small letters, titles."""
    text = " ".join(_nouns(draw, 1, 4)) if draw.random() < 0.5 else prose.sentence(draw)
    name, change = draw.choice((("upper case", str.upper), ("lower case", str.lower), ("title case", str.title)))
    return f"Write in {name}: {text}", change(text)


def order(draw: Random) -> tuple[str, str]:
    """Sort, count, first and last."""
    picked = _nouns(draw, 3, 6)
    text = ", ".join(picked)
    return draw.choice(
        (
            (f"Sort by alphabet: {text}", ", ".join(sorted(picked))),
            (f"How many words are here? {text}", str(len(picked))),
            (f"What is the first word of: {text}", picked[0]),
            (f"What is the last word of: {text}", picked[-1]),
            (f"Make a JSON list: {text}", json.dumps(picked)),
        )
    )


def arithmetic(draw: Random) -> tuple[str, str]:
    """Sums, differences, products of small numbers."""
    a, b = draw.randrange(100), draw.randrange(100)
    sign, answer = draw.choice((("+", a + b), ("-", a - b), ("plus", a + b), ("minus", a - b)))
    if draw.random() < 0.2:
        a, b = draw.randrange(13), draw.randrange(13)
        sign, answer = "*", a * b
    return f"{draw.choice(('What is', 'Compute', 'Calculate'))} {a} {sign} {b}?", str(answer)


def listing(draw: Random) -> tuple[str, str]:
    """Some things of a kind."""
    kind = draw.choice(tuple(words.LISTS))
    count = draw.randrange(2, 6)
    picked = draw.sample(words.LISTS[kind], count)
    number = ("two", "three", "four", "five")[count - 2]
    if draw.random() < 0.4:
        return f"List {number} {kind} as JSON.", json.dumps({kind: picked})
    return f"{draw.choice(('List', 'Name', 'Give me'))} {number} {kind}.", ", ".join(picked)


def kind_of(draw: Random) -> tuple[str, str]:
    """Which kind a thing is of."""
    kind = draw.choice(tuple(words.LISTS))
    others = draw.sample([other for other in words.LISTS if other != kind], 2)
    choices = [kind, *others]
    draw.shuffle(choices)
    thing = draw.choice(words.LISTS[kind])
    return f"Is {thing} one of {', '.join(choices[:-1])} or {choices[-1]}?", kind


def topic(draw: Random) -> tuple[str, str]:
    """Which of the given topics a text is on."""
    choices = draw.sample(tuple(words.NOUNS), draw.randrange(2, 6))
    text = prose.paragraph(draw, draw.randrange(1, 4), choices[0])
    answer = choices[0]
    draw.shuffle(choices)
    return f"{text}\nTopic ({', '.join(choices)}):", answer


def labels(draw: Random) -> tuple[str, str]:
    """Topic, tone and form of a text, as JSON."""
    subject = draw.choice(tuple(words.NOUNS))
    tone, adjectives = draw.choice((("good", words.GOOD), ("bad", words.BAD), ("neutral", words.PLAIN)))
    noun = draw.choice(words.NOUNS[subject])
    text = prose.sentence(draw, subject) + f" It was {prose.article(draw.choice(adjectives))} {noun}."
    if draw.random() < 0.5:
        text = prose.typos(draw, text, 0.03)
    keys = draw.sample(({"topic": subject}, {"tone": tone}, {"thing": noun}), draw.randrange(1, 4))
    wanted = {key: value for found in keys for key, value in found.items()}
    return f"{', '.join(wanted)} of: {text}", json.dumps(wanted)


def extract(draw: Random) -> tuple[str, str]:
    """The facts of a sentence, as JSON."""
    facts: dict[str, Any] = {
        "name": draw.choice(words.NAMES),
        "age": draw.randrange(18, 90),
        "city": draw.choice(words.CITIES),
        "job": draw.choice(words.JOBS),
        "colour": draw.choice(words.COLOURS),
    }
    text = draw.choice(
        (
            "{name}, {age}, is a {job} in {city} and likes {colour}.",
            "The {job} {name} moved to {city} at the age of {age} with a {colour} car.",
            "In {city} lives {name}. Job: {job}. Age: {age}. Door: {colour}.",
            "Hello, my name is {name}, I am {age} and I work as a {job} in {city}. I wear {colour}.",
        )
    ).format(**facts)
    keys = draw.sample(tuple(facts), draw.randrange(1, 5))
    return f"Extract {', '.join(keys)}: {text}", json.dumps({key: facts[key] for key in keys})


def sort_out(draw: Random) -> tuple[str, str]:
    """Lines of `key: value`, as one JSON object."""
    keys = _nouns(draw, 2, 4)
    values: list[Any] = [
        draw.randrange(1000) if draw.random() < 0.4 else draw.choice((draw.choice(words.ADJECTIVES), True, False, None))
        for _ in keys
    ]
    written = ["yes" if v is True else "no" if v is False else "none" if v is None else v for v in values]
    mark = draw.choice((": ", " = ", " - "))
    lines = draw.choice(("\n", "; ")).join(f"{key}{mark}{value}" for key, value in zip(keys, written, strict=True))
    return f"As JSON:\n{lines}", json.dumps(dict(zip(keys, values, strict=True)))


def table(draw: Random) -> tuple[str, str]:
    """A small table, as a list of JSON objects."""
    names = draw.sample(words.NAMES, draw.randrange(1, 4))
    found = [{"name": name, "city": draw.choice(words.CITIES), "age": draw.randrange(18, 90)} for name in names]
    keys = ["name", *draw.sample(("city", "age"), draw.randrange(1, 3))]
    lines = "\n".join(",".join(str(one[key]) for key in keys) for one in found)
    return f"{','.join(keys)}\n{lines}", json.dumps([{key: one[key] for key in keys} for one in found])


def look_up(draw: Random) -> tuple[str, str]:
    """A question whose answer stands in the text."""
    names = draw.sample(words.NAMES, 3)
    things = draw.sample(words.ALL_NOUNS, 3)
    colours = draw.sample(words.COLOURS, 3)
    text = " ".join(f"{n} has a {c} {t}." for n, c, t in zip(names, colours, things, strict=True))
    i = draw.randrange(3)
    return draw.choice(
        (
            (f"{text} Who has the {things[i]}?", names[i]),
            (f"{text} What does {names[i]} have?", f"a {colours[i]} {things[i]}"),
            (f"{text} What colour is the {things[i]}?", colours[i]),
        )
    )


def mentions(draw: Random) -> tuple[str, str]:
    """Does a text mention a word?"""
    text = prose.paragraph(draw, 2)
    there = sorted(set(re.findall(r"\w+", text)) & set(words.ALL_NOUNS))
    noun = draw.choice(there) if there and draw.random() < 0.5 else draw.choice(words.ALL_NOUNS)
    return f"{text}\nIs the word {noun} in this text?", "yes" if noun in there else "no"


def mend(draw: Random) -> tuple[str, str]:
    """A text without its typing mistakes."""
    text = prose.sentence(draw)
    return f"{draw.choice(('Correct', 'Fix the typos', 'Mend'))}: {prose.typos(draw, text.lower(), 0.06)}", text


def _nouns(draw: Random, low: int, high: int) -> list[str]:
    return draw.sample(words.ALL_NOUNS, draw.randrange(low, high + 1))


TASKS = (
    copy, reverse, case, order, arithmetic, listing, kind_of, topic, topic, labels, labels, extract, extract, sort_out,
    table, look_up, mentions, mend,
)  # fmt: skip
