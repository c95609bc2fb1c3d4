"""Documents as JSON text."""

from __future__ import annotations

import json
from typing import Any

from akka_optimize.errors import Invalid


def dumps(doc: Any) -> str:
    """Compact JSON on one line, characters as they are. Raises Invalid for NaN, Infinity and what is no JSON."""
    try:
        return json.dumps(doc, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    except (TypeError, ValueError, RecursionError) as error:
        raise Invalid(f"the document cannot be written as JSON: {error}") from error
