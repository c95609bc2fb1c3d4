"""Write docs/fields.md from the table of fields; with --check, only say whether it is current."""

from __future__ import annotations

import sys
from pathlib import Path

from akka_optimize.core.commented import written
from akka_optimize.core.fields import FIELDS, LARGEST_INT, Field
from akka_optimize.core.texts import RULES

PAGE = Path(__file__).parent.parent / "docs" / "fields.md"

HEAD = f"""\
# Fields of a run descriptor

Generated from `akka_optimize/core/fields.py` by `scripts/generate_fields_page.py`.

A descriptor is one JSON or YAML document. `akka-optimize training runs init` writes one with every field in it.
`config` is the plan, and two runs whose plans have one hash are runs of one plan; `execution` is how the plan is
carried out. The last column of each table says which part of a run a field belongs to:

* **identity**: what the run is called and why it is made. No comparison looks at it.
* **plan**: decides what is trained. It goes into `config.json` and its hash.
* **division**: how the rows of an update are spread. Runs that differ only here are compared, and both divisions shown.
* **execution**: saves and what is kept of them. No comparison looks at it.

Numbers keep the type that they are written in. A whole number may stand where a float belongs; a float, a number in
quotes or a boolean is refused where an integer belongs. An integer without an upper bound here goes up to
{LARGEST_INT}. Unknown fields are refused by name, and all faults of a descriptor are reported at once.
"""


def page() -> str:
    """The whole page."""
    parts = [
        HEAD,
        section("The run", [field for field in FIELDS if "." not in field.path]),
        text_rules(),
        section("`config`", [field for field in FIELDS if field.path.startswith("config.")]),
        section("`execution`", [field for field in FIELDS if field.path.startswith("execution.")]),
    ]
    return "\n".join(parts)


def section(title: str, fields: list[Field]) -> str:
    """One table of fields under a heading."""
    head = "| field | type | default | takes | meaning | part |\n| --- | --- | --- | --- | --- | --- |\n"
    return f"## {title}\n\n{head}" + "".join(row(field) for field in fields)


def row(field: Field) -> str:
    """One field as a line of its table."""
    default = "required" if field.required else field.default_note if field.optional else f"`{written(field.default)}`"
    takes = field.range or f"a {field.form}" if field.form != "text" else "text"
    return f"| `{field.path}` | {field.kind} | {default} | {takes} | {field.meaning} | {field.part} |\n"


def text_rules() -> str:
    """What each form of text takes."""
    used = dict.fromkeys(field.form for field in FIELDS if field.kind == "string" and not field.choices)
    return "What text takes:\n\n" + "".join(f"* {form}: {RULES[form]}\n" for form in used)


if __name__ == "__main__":
    if sys.argv[1:] == ["--check"]:
        sys.exit(0 if PAGE.read_text() == page() else f"{PAGE} is out of date; run scripts/generate_fields_page.py")
    PAGE.write_text(page())
