"""YAML by the 1.2 core schema, built from the parser's events.

Events rather than nodes, because every refusal here (depth, repeated keys, aliases that explode or hold themselves)
has to come before the thing that it refuses is built.
"""

from __future__ import annotations

import re
from copy import deepcopy
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from akka_optimize.documents.scalars import meaning

if TYPE_CHECKING:
    from collections.abc import Iterator

    from akka_optimize.documents.limits import Text

# YAML's printable characters, less those that PyYAML takes for line ends or passes over and YAML 1.2 does not.
_REFUSED = re.compile("[^\t\n\r\x20-\x7e\xa0-\u2027\u202a-\ud7ff\ue000-\ufefe\uff00-\ufffd\U00010000-\U0010ffff]")
_NO_KEY = object()


@dataclass(slots=True)
class _Open:
    """A mapping or list that is being filled."""

    value: dict[str, Any] | list[Any]
    anchor: str | None
    nodes_before: int
    height: int = 1  # mappings and lists within each other, itself included
    key: Any = _NO_KEY
    seen: dict[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class _Anchored:
    """What an alias stands for: the value, how many values that is, and how deep."""

    value: Any
    nodes: int
    height: int


def parse(text: Text) -> Any:
    """The document's value. Raises Invalid with the place."""
    import yaml

    if found := _REFUSED.search(text.text):
        text.refuse(found.start(), f"the character U+{ord(found[0]):04X}; write it as an escape in double quotes")
    try:
        return _Builder(text).build(_events(text.text))
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        at = mark.index if mark else 0
        if text.text[at : at + 1] == "\t":
            text.refuse(at, "a tab where YAML wants spaces")
        text.refuse(at, f"not YAML: {error.problem or error.context}")
    except yaml.YAMLError as error:
        text.refuse(0, f"not YAML: {' '.join(str(error).split())}")


def _events(text: str) -> Iterator[Any]:
    import yaml

    return iter(yaml.parse(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader)))


class _Builder:
    """Turns events into one value, refusing on the way."""

    def __init__(self, text: Text) -> None:
        self.text = text
        self.open: list[_Open] = []
        self.anchors: dict[str, _Anchored] = {}
        self.documents = 0
        self.result: Any = None

    def build(self, events: Iterator[Any]) -> Any:
        """The value of the one document in a stream of events."""
        handlers = {
            "DocumentStartEvent": self._document,
            "ScalarEvent": self._scalar,
            "AliasEvent": self._alias,
            "MappingStartEvent": self._start,
            "SequenceStartEvent": self._start,
            "MappingEndEvent": self._end,
            "SequenceEndEvent": self._end,
        }
        for event in events:
            if handler := handlers.get(type(event).__name__):
                handler(event, event.start_mark.index)
        if not self.documents:  # comments alone, which are a null
            self.text.mark(0)
        return self.result

    def _document(self, event: Any, at: int) -> None:
        self.documents += 1
        if self.documents > 1:
            self.text.refuse(at, "a second document begins; write one")
        if event.tags:
            self.text.refuse(at, "a %TAG directive; write the document without tags")
        if event.version and tuple(event.version) != (1, 2):
            self.text.refuse(at, "a %YAML directive of another version; documents are read as YAML 1.2")

    def _scalar(self, event: Any, at: int) -> None:
        self._refuse_tag(event, at)
        self.text.count(at, 1 + len(event.value) // 1000)  # long text counts more, as an alias may repeat it
        if event.style == '"':  # nothing but an escape can have made half a character
            self.text.check_surrogates(at, event.value)
        value = event.value if event.style else meaning(self.text, at, event.value)
        if self._key_is_next() and not event.style and value == "<<":
            self.text.refuse(at, 'the merge key "<<" is not part of YAML 1.2; write the fields out')
        self._mark(at)
        self._place(value, at, height=0)
        self._name(event.anchor, value, 1 + len(event.value) // 1000, 0)

    def _alias(self, event: Any, at: int) -> None:
        name = event.anchor
        if any(name == holder.anchor for holder in self.open):
            self.text.refuse(at, f"the alias *{name} stands within what it names")
        if name not in self.anchors:
            self.text.refuse(at, f"the alias *{name} names nothing before it")
        meant = self.anchors[name]
        self.text.count(at, meant.nodes)
        self.text.check_depth(at, len(self.open) + meant.height)
        self._mark(at)
        self.text.mark(at, _entries(meant.value))
        self._place(deepcopy(meant.value), at, meant.height)

    def _start(self, event: Any, at: int) -> None:
        self._refuse_tag(event, at)
        if self._key_is_next():
            self.text.refuse(at, "a mapping or list as a key; write text")
        self.text.check_depth(at, len(self.open) + 1)
        before = self.text.nodes
        self.text.count(at)
        self._mark(at)
        value: dict[str, Any] | list[Any] = {} if "Mapping" in type(event).__name__ else []
        self.open.append(_Open(value, event.anchor, before))

    def _end(self, _event: Any, at: int) -> None:
        done = self.open.pop()
        self._place(done.value, at, done.height)
        self._name(done.anchor, done.value, self.text.nodes - done.nodes_before, done.height)

    def _place(self, value: Any, at: int, height: int) -> None:
        """Put a finished value where it belongs: as a key, under one, in a list, or as the result."""
        if not self.open:
            self.result = value
            return
        holder = self.open[-1]
        holder.height = max(holder.height, height + 1)
        if isinstance(holder.value, list):
            holder.value.append(value)
        elif holder.key is not _NO_KEY:
            holder.value[holder.key] = value
            holder.key = _NO_KEY
        else:
            self._take_key(holder, value, at)

    def _take_key(self, holder: _Open, key: Any, at: int) -> None:
        if not isinstance(key, str):
            self.text.refuse(at, "a key that is not text; write it in quotes")
        if key in holder.seen:
            self.text.refuse_repeated(at, key, holder.seen[key])
        holder.key = key
        holder.seen[key] = at

    def _mark(self, at: int) -> None:
        """Mark what begins here, unless it is the value of a key, which is marked itself."""
        if not self.open or isinstance(self.open[-1].value, list) or self.open[-1].key is _NO_KEY:
            self.text.mark(at)

    def _key_is_next(self) -> bool:
        return bool(self.open) and isinstance(self.open[-1].value, dict) and self.open[-1].key is _NO_KEY

    def _name(self, anchor: str | None, value: Any, nodes: int, height: int) -> None:
        if anchor:
            self.anchors[anchor] = _Anchored(value, nodes, height)

    def _refuse_tag(self, event: Any, at: int) -> None:
        if event.tag is not None:
            self.text.refuse(at, "a tag; write the value without it, in quotes where it is text")


def _entries(value: Any) -> int:
    """How many keys and items a value holds, at any depth."""
    if not isinstance(value, dict | list):
        return 0
    return len(value) + sum(map(_entries, value.values() if isinstance(value, dict) else value))
