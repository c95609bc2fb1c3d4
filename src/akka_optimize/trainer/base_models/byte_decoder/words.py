"""The words that the pretraining text is put together from."""

from __future__ import annotations


def _words(text: str, mark: str | None = None) -> tuple[str, ...]:
    return tuple(text.split(mark))


TOPICS = {
    "weather": "rain snow wind storm sunshine fog frost thunder cloud heat breeze hail drizzle forecast umbrella",
    "sport": "match goal team coach race medal score league tennis football runner stadium referee training trophy",
    "music": "song guitar concert drum melody singer album choir violin rhythm chorus piano band radio trumpet",
    "cooking": "soup bread recipe oven butter salt pepper onion garlic kitchen pan flour sauce dinner cheese",
    "travel": (
        "train ticket hotel airport passport map luggage harbour journey platform tourist bridge ferry bus road"
    ),
    "animals": "dog cat horse bird fish rabbit cow sheep fox owl bear wolf mouse duck frog",
    "school": (
        "teacher lesson pupil homework exam chalk library notebook pencil classroom question answer history essay page"
    ),
    "garden": "tree flower seed soil rose grass leaf spade fence tulip hedge apple bush pond weed",
    "health": (
        "doctor nurse medicine cough fever pulse bandage clinic tooth sleep headache vitamin exercise diet heart"
    ),
    "money": "bank coin price budget salary tax loan interest savings cash wallet market profit cost share",
    "clothes": "shirt coat hat shoe glove scarf dress sock belt button sweater jacket pocket sleeve boot",
    "space": (
        "planet star moon rocket comet orbit telescope galaxy astronaut satellite crater eclipse gravity meteor sun"
    ),
    "office": (
        "desk meeting printer report email folder deadline manager colleague calendar contract memo phone chair agenda"
    ),
    "computers": (
        "screen keyboard file program network password server browser update cable laptop data message mouse error"
    ),
    "house": "roof window door wall floor stairs lamp carpet cellar garage chimney balcony sofa mirror key",
    "sea": "wave boat anchor sail shell tide island beach whale coral captain lighthouse sand deck net",
}
NOUNS = {topic: _words(words) for topic, words in TOPICS.items()}
ALL_NOUNS = tuple(sorted({noun for words in NOUNS.values() for noun in words}))

KINDS = {
    "fruits": "apple pear plum cherry lemon grape peach banana melon orange mango fig",
    "vegetables": "carrot potato bean pea cabbage spinach leek celery pumpkin radish turnip beet",
    "colours": "red blue green yellow black white brown grey purple orange pink silver",
    "animals": "dog cat horse cow sheep goat pig hen fox bear wolf lion",
    "tools": "hammer saw drill wrench pliers file chisel level screwdriver axe clamp shovel",
    "days": "Monday Tuesday Wednesday Thursday Friday Saturday Sunday",
    "months": "January February March April May June July August September October November December",
    "countries": "France Spain Italy Norway Japan India Brazil Canada Kenya Egypt Peru Chile",
    "instruments": "piano violin guitar drum flute harp trumpet cello organ oboe horn banjo",
    "trees": "oak pine birch maple elm beech willow cedar ash larch poplar linden",
}
LISTS = {kind: _words(words) for kind, words in KINDS.items()}

NAMES = _words(
    "Ada Ben Carla David Elena Felix Grace Hugo Iris Jonas Karin Liam Mia Noah Olga Paul Quinn Rosa Sven Tara Umar "
    "Vera Walter Xenia Yusuf Zoe Anton Bianca Cyril Dora Emil Fatima Georg Hanna Igor Julia Kofi Lena Marco Nina"
)
CITIES = _words(
    "Oslo Paris Lima Cairo Delhi Tokyo Rome Berlin Madrid Lisbon Dublin Vienna Prague Athens Bergen Leeds Turin Quito "
    "Accra Nairobi Boston Denver Austin Seattle Toronto Sydney Perth Geneva Basel Utrecht Ghent Porto"
)
JOBS = _words(
    "baker pilot nurse farmer teacher lawyer painter driver plumber engineer writer singer gardener sailor judge clerk "
    "waiter carpenter chemist editor"
)
COLOURS = LISTS["colours"]
ADJECTIVES = _words(
    "small large old new quiet loud bright dark heavy light warm cold quick slow clean dirty simple strange empty full "
    "soft hard cheap expensive broken wonderful useful famous narrow wide sharp smooth early late strong weak"
)
GOOD = _words("great lovely excellent wonderful superb pleasant brilliant delightful perfect charming")
BAD = _words("awful terrible poor dreadful boring disappointing horrible unpleasant weak miserable")
PLAIN = _words("ordinary usual average regular common normal standard typical plain middling")
# base, past, -ing
VERBS = tuple(
    _words(verb, "/")
    for verb in _words(
        "find/found/finding, see/saw/seeing, buy/bought/buying, carry/carried/carrying, lose/lost/losing, "
        "clean/cleaned/cleaning, paint/painted/painting, move/moved/moving, watch/watched/watching, "
        "bring/brought/bringing, open/opened/opening, close/closed/closing, check/checked/checking, "
        "describe/described/describing, remember/remembered/remembering, change/changed/changing, "
        "need/needed/needing, like/liked/liking, sell/sold/selling, break/broke/breaking, "
        "repair/repaired/repairing, borrow/borrowed/borrowing, send/sent/sending, receive/received/receiving, "
        "use/used/using, show/showed/showing, forget/forgot/forgetting, choose/chose/choosing, "
        "want/wanted/wanting, visit/visited/visiting, ask for/asked for/asking for, look at/looked at/looking at, "
        "wait for/waited for/waiting for, pay for/paid for/paying for",
        ", ",
    )
)
WHEN = (
    "yesterday", "today", "this morning", "last night", "on Monday", "last week", "in the evening", "after lunch",
    "before breakfast", "two days ago", "every day", "at noon", "in spring", "since Friday", "an hour ago", "right now",
)  # fmt: skip
WHERE = (
    "in the house", "near the river", "at the market", "behind the school", "on the table", "in the city", "at home",
    "under the bridge", "by the window", "in the old town", "at the station", "next to the office", "on the hill",
    "outside", "upstairs", "across the street",
)  # fmt: skip
BECAUSE = (
    "because it was late", "because nobody answered", "since the shop was closed", "so everyone was happy",
    "and then went home", "but it did not work", "although it cost a lot", "and it still does not help",
    "which was a surprise", "as we had planned", "so we tried again", "but the result was the same",
    "and I do not know why", "even though it rained", "until the light went out", "while the others were waiting",
)  # fmt: skip
