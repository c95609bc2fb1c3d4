"""Write train.jsonl and eval.jsonl: messages to the support of an invented payment company, and how each is sorted.

    python examples/support-triage/make.py [FOLDER]

Everything is put together from the wordings below under one seed, so the same files come out everywhere. The last two
wordings of each category are kept for eval.jsonl, where about a third of the rows use them.
"""

from __future__ import annotations

import json
import random
import sys
from pathlib import Path

SEED = 7
TRAIN, EVAL = 400, 100
SYSTEM = "Triage as JSON: category, priority, product."

# what customers call each product; "none" is a message about no product in particular
PRODUCTS = {
    "terminal": ("the card terminal", "the card reader", "our terminal", "the little reader", "terminal no. {n}"),
    "app": ("the app", "your phone app", "the mobile app", "the app on my phone", "the tablet app"),
    "dashboard": ("the dashboard", "the web dashboard", "the admin pages", "the online portal", "the dashboard site"),
    "api": ("the API", "your REST API", "the webhook", "the payments endpoint", "the API (v{n})"),
    "invoices": ("the invoice tool", "the invoicing page", "your invoices product", "the invoice editor"),
    "none": ("your service", "our account", "the whole thing", "what you sell us"),
}
WORDINGS = {
    "billing": (
        "I was charged twice for {p} this month",
        "the fee for {p} on my last statement is wrong",
        "why did the price of {p} go up by {n} percent",
        "we paid for {p} but the account still says unpaid",
        "please refund the {n} euros you took for {p}",
        "my statement lists {p} although we never ordered it",
        "the yearly discount for {p} is missing",
        "I need a receipt for {p} with our tax number on it",
        "the amount you debited for {p} does not match the offer",
        "you billed {p} to the wrong company",
    ),
    "bug": (
        "{p} crashes every time I open it",
        "{p} shows error {n} and stops",
        "since the update {p} freezes after a few seconds",
        "{p} gives the wrong total when I add a tip",
        "{p} loses the connection about {n} times a day",
        "the date in {p} is one day off",
        "{p} prints every line twice",
        "nothing happens when I press save in {p}",
        "{p} has been returning nonsense since last night",
        "half of the screen stays blank in {p}",
    ),
    "access": (
        "I cannot log in to {p}",
        "the password reset for {p} never arrives",
        "my colleague needs her own login for {p}",
        "{p} says that my user is locked",
        "the code you text me is refused by {p}",
        "please remove a former employee from {p}",
        "I lost the phone that I confirm {p} with",
        "our new accountant should only be able to read in {p}",
        "{p} keeps asking for a pin that I never set",
        "I am signed out of {p} every {n} minutes",
    ),
    "delivery": (
        "the replacement for {p} has not come",
        "the parcel with {p} was left at the wrong door",
        "where is the box you sent for {p}, order {n}",
        "the courier says there is no shipment for {p}",
        "the charger that belongs to {p} was not in the box",
        "tracking for {p} has not moved in {n} days",
        "the package arrived open and {p} was gone",
        "please send the welcome kit of {p} to our new address",
        "the starter pack for {p} was returned to you by mistake",
        "we moved, and the box for {p} went to the old shop",
    ),
    "question": (
        "how do I export last year from {p}",
        "can {p} be used with two shops",
        "does {p} work without internet",
        "is there a way to change the language of {p}",
        "what does the orange mark in {p} mean",
        "where in {p} do I set the opening hours",
        "which countries does {p} support",
        "could you explain how tips are shared in {p}",
        "is it possible to add a logo in {p}",
        "what is the largest amount that {p} accepts",
    ),
    "cancel": (
        "I want to cancel {p}",
        "please end our contract for {p}",
        "we are closing the shop and no longer need {p}",
        "stop the subscription of {p} from next month",
        "we are moving to another provider, so close {p} for us",
        "how soon can we get out of the agreement for {p}",
        "do not renew {p} at the end of the year",
        "we hereby give notice for {p}",
        "after {n} months we have decided to leave {p}",
        "take us off the plan for {p}",
    ),
}
URGENCY = {
    "low": (
        "No hurry at all.",
        "Whenever you have a moment.",
        "It can wait until next week.",
        "This is not important, I was only wondering.",
        "Take your time.",
        "Any day this month is fine.",
    ),
    "normal": ("", "", "", "", "Please let me know.", "A short reply would be nice.", "What should we do?"),
    "high": (
        "I need this by tomorrow.",
        "Please answer today.",
        "This is the third time I write.",
        "It is costing us customers.",
        "As soon as possible please.",
        "My boss is waiting for an answer.",
    ),
    "urgent": (
        "We cannot take any payments right now!",
        "The whole shop is standing still.",
        "There is a queue out of the door, help!",
        "EVERYTHING IS DOWN.",
        "We lose money every minute.",
        "Somebody call me immediately.",
    ),
}
SHARES = {"low": 2, "normal": 4, "high": 3, "urgent": 2}
OPENERS = (
    "", "", "", "Hi, ", "Hello, ", "Hello team, ", "Good morning. ", "Dear support, ", "hey ", "Hi there! ",
    "Sorry to bother you, ",
)  # fmt: skip
ASIDES = (
    "We run a small bakery.", "I have been a customer for {n} years.", "It worked fine last week.",
    "I already tried to turn it off and on.", "My colleague {name} says the same.",
    "I could not find this in the help.", "We have {n} people at the counter.",
    "The weather here is lovely by the way.", "I looked everywhere.",
    "Your chat told me to write here.", "This is about our shop in {city}.",
)  # fmt: skip
CLOSERS = (
    "", "", "", "Thanks, {name}", "Thank you!", "Regards, {name}", "Best wishes from {city}", "thx", "{name}, {city}",
    "Cheers",
)  # fmt: skip
NAMES = (
    "Amal", "Birgit", "Chen", "Dario", "Edda", "Farid", "Greta", "Hamza", "Ines", "Joris", "Kaya", "Lorenzo", "Maud",
)  # fmt: skip
CITIES = (
    "Aarhus", "Bilbao", "Cork", "Dresden", "Evora", "Ferrara", "Graz", "Hasselt", "Innsbruck", "Kaunas", "Lyon",
)  # fmt: skip


def message(draw: random.Random, wordings: tuple[str, ...], priority: str, product: str) -> str:
    """One customer's message."""
    phrase = draw.choice(PRODUCTS[product])
    core = draw.choice(wordings).format(p=phrase, n="{n}")
    mark = "?" if core.split()[0] in {"why", "where", "how", "can", "does", "is", "what", "which", "could"} else "."
    opener = draw.choice(OPENERS)
    if not opener or opener.rstrip()[-1] in ".!":
        core = core[0].upper() + core[1:]
    asides = draw.sample(ASIDES, draw.choice((0, 0, 0, 0, 1, 1, 1, 2, 3)))
    parts = [opener + core + mark, *asides, draw.choice(URGENCY[priority])]
    if draw.random() < 0.2:
        parts[1:] = draw.sample(parts[1:], len(parts) - 1)
    text = " ".join(part for part in [*parts, draw.choice(CLOSERS)] if part)
    text = text.format(n=draw.randrange(2, 99), name=draw.choice(NAMES), city=draw.choice(CITIES))
    return tone(draw, text)


def tone(draw: random.Random, text: str) -> str:
    """The text as it was really typed: carefully, all in small letters, in a rush, on separate lines."""
    manner = draw.random()
    if manner < 0.2:
        text = text.lower()
    elif manner < 0.25:
        text = text.upper()
    elif manner < 0.35:
        text = text.replace(". ", ".\n")
    elif manner < 0.42:
        text = text.replace(".", "!!").replace("?", "??")
    if draw.random() < 0.35:
        text = typos(draw, text, draw.choice((0.01, 0.02, 0.04)))
    return text


def typos(draw: random.Random, text: str, rate: float) -> str:
    """Letters swapped, left out or typed twice."""
    letters = list(text)
    for i in range(len(letters) - 1):
        if letters[i].isalpha() and draw.random() < rate:
            slip = draw.choice(("swap", "drop", "double"))
            if slip == "swap":
                letters[i], letters[i + 1] = letters[i + 1], letters[i]
            else:
                letters[i] = "" if slip == "drop" else letters[i] * 2
    return "".join(letters)


def row(draw: random.Random, *, for_eval: bool) -> dict[str, object]:
    """One chat: instruction, message, answer."""
    category = draw.choice(tuple(WORDINGS))
    priority = draw.choices(tuple(SHARES), tuple(SHARES.values()))[0]
    product = draw.choice(tuple(PRODUCTS))
    kept = for_eval and draw.random() < 1 / 3
    wordings = WORDINGS[category][-2:] if kept else WORDINGS[category][:-2]
    answer = {"category": category, "priority": priority, "product": product}
    return {
        "messages": [
            {"role": "system", "content": SYSTEM},
            {"role": "user", "content": message(draw, wordings, priority, product)},
            {"role": "assistant", "content": json.dumps(answer)},
        ]
    }


def rows() -> tuple[list[dict[str, object]], list[dict[str, object]]]:
    """The training rows and the evaluation rows; no message occurs twice."""
    draw = random.Random(SEED)
    seen: set[str] = set()
    made: dict[bool, list[dict[str, object]]] = {False: [], True: []}
    for for_eval, count in ((False, TRAIN), (True, EVAL)):
        while len(made[for_eval]) < count:
            new = row(draw, for_eval=for_eval)
            text = json.dumps(new["messages"][1]).lower()  # type: ignore[index]
            if text not in seen:
                seen.add(text)
                made[for_eval].append(new)
    return made[False], made[True]


def main(arguments: list[str]) -> None:
    """Write both files into a folder, this one unless another is given."""
    folder = Path(arguments[0]) if arguments else Path(__file__).parent
    for name, chats in zip(("train.jsonl", "eval.jsonl"), rows(), strict=True):
        text = "".join(json.dumps(chat, ensure_ascii=False) + "\n" for chat in chats)
        (folder / name).write_text(text, encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main(sys.argv[1:])
