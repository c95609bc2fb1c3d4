"""What `-o`, `--json` and `--jq` mean together. Decided here, before any request, and nowhere else.

| `-o` | `--json` | `--jq` | on stdout |
| --- | --- | --- | --- |
| none | | | text |
| `text` | | | text |
| `json` | | | JSON, indented by two |
| `json-compact` | | | JSON on one line |
| one of the command's own, as `csv` | | | that |
| any | `=` | | the fields on offer, one a line |
| any | `=` | given | refused: a list of names is no document |
| none, `json` | `a,b` | | JSON of these fields |
| `json-compact` | `a,b` | | JSON of these fields on one line |
| none, `json`, `json-compact` | | given | the program's results |
| none, `json`, `json-compact` | `a,b` | given | the program's results over JSON of these fields |
| `text`, or the command's own | `a,b` | any | refused: `--json` asks for JSON |
| `text`, or the command's own | | given | refused: `--jq` reads JSON |

In a list, "these fields" are those of each item.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from akka_optimize import errors
from akka_optimize.output import jsontext, text
from akka_optimize.output.view import View, document

STANDARD = ("text", "json", "json-compact")
NO_RECORD = "this command prints no record, so {} does not apply"

Asked = Literal["absent", "list", "names"]
Result = Literal["text", "json", "json-compact", "own", "list", "jq"]

LISTS_NO_JQ = "--json= lists the fields on offer, which is no document for --jq to read"
JSON_ASKS = "--json prints JSON, and -o {} asks for something else"
JQ_READS = "--jq reads JSON, and -o {} asks for something else"

# (-o, --json, whether --jq) -> the result, or the sentence that refuses it. "" stands for no -o, "own" for one of the
# formats that only this command has.
TABLE: dict[tuple[str, Asked, bool], Result | str] = {
    ("", "absent", False): "text",
    ("", "absent", True): "jq",
    ("", "list", False): "list",
    ("", "list", True): LISTS_NO_JQ,
    ("", "names", False): "json",
    ("", "names", True): "jq",
    ("text", "absent", False): "text",
    ("text", "absent", True): JQ_READS,
    ("text", "list", False): "list",
    ("text", "list", True): LISTS_NO_JQ,
    ("text", "names", False): JSON_ASKS,
    ("text", "names", True): JSON_ASKS,
    ("json", "absent", False): "json",
    ("json", "absent", True): "jq",
    ("json", "list", False): "list",
    ("json", "list", True): LISTS_NO_JQ,
    ("json", "names", False): "json",
    ("json", "names", True): "jq",
    ("json-compact", "absent", False): "json-compact",
    ("json-compact", "absent", True): "jq",
    ("json-compact", "list", False): "list",
    ("json-compact", "list", True): LISTS_NO_JQ,
    ("json-compact", "names", False): "json-compact",
    ("json-compact", "names", True): "jq",
    ("own", "absent", False): "own",
    ("own", "absent", True): JQ_READS,
    ("own", "list", False): "list",
    ("own", "list", True): LISTS_NO_JQ,
    ("own", "names", False): JSON_ASKS,
    ("own", "names", True): JSON_ASKS,
}
RESULTS = frozenset({"text", "json", "json-compact", "own", "list", "jq"})


@dataclass(frozen=True, slots=True)
class Format:
    """What a command prints: `kind`, or one of the view's own renderers; limited to `fields` unless empty."""

    kind: str = "text"
    fields: tuple[str, ...] = ()
    program: str | None = None

    @property
    def streams(self) -> bool:
        """Whether events go to stdout as JSON lines: only where the whole JSON was asked for."""
        return self.kind in {"json", "json-compact"} and not self.fields


def decide(view: View | None, *, output: str | None, fields: str | None, program: str | None) -> Format:
    """The format that the three options ask for. A view of None means that the command prints no record.

    Raises WrongUsage: an unknown format or field, or options that contradict each other.
    """
    if view is None:
        return _no_record(output, fields, program)
    own = output is not None and output in view.renderers
    if output is not None and output not in STANDARD and not own:
        raise _unknown_format(output, view)
    asked: Asked = "absent" if fields is None else "names" if fields else "list"
    result = TABLE["own" if own else output or "", asked, program is not None]
    if result not in RESULTS:
        raise errors.WrongUsage(result.format(output))
    names = _names(view, fields) if fields else ()
    return Format(output if result == "own" and output else result, names, program)


def _no_record(output: str | None, fields: str | None, program: str | None) -> Format:
    for option, given in (("--json", fields is not None), ("--jq", program is not None)):
        if given:
            raise errors.WrongUsage(NO_RECORD.format(option))
    if output not in {None, "text"}:
        raise errors.WrongUsage(NO_RECORD.format(f"-o {output}"))
    return Format()


def _unknown_format(output: str, view: View) -> errors.WrongUsage:
    offered = [*STANDARD, *view.renderers]
    if output.startswith("go-template"):
        return errors.WrongUsage(
            "-o go-template is not supported by this release", hint=f"use --jq, or -o {', '.join(offered)}"
        )
    return errors.WrongUsage(f"there is no output format {output!r}", hint=f"use one of {', '.join(offered)}")


def _names(view: View, asked: str) -> tuple[str, ...]:
    names = tuple(name.strip() for name in asked.split(","))
    for i, name in enumerate(names):
        if not name:
            raise errors.WrongUsage(f"--json {asked!r} holds an empty name", hint="write the names as in a,b")
        if name not in view.names:
            raise errors.WrongUsage(f"--json: {view.name} has no field {name!r}", hint=_nearest(name, view))
        if name in names[:i]:
            raise errors.WrongUsage(f"--json names {name!r} twice")
    return names


def _nearest(name: str, view: View) -> str:
    from difflib import get_close_matches

    folded = {known.lower(): known for known in view.names}
    near = get_close_matches(name.lower(), folded, n=1)
    return (f"did you mean {folded[near[0]]}? " if near else "") + "--json= lists the fields"


def render(form: Format, view: View, record: object) -> str:
    """The text of a record in any format but jq's, ending in a newline; no console, no colour, no I/O.

    For jq this is the document that the program reads.
    """
    if form.kind == "list":
        return "".join(f"{name}\n" for name in view.names)
    if form.kind == "text":
        return text.render(view, record)
    if form.kind in view.renderers:
        return view.renderers[form.kind](record)
    whole = document(view, record, form.fields)
    return (jsontext.pretty(whole) if form.kind == "json" else jsontext.compact(whole)) + "\n"
