"""What a document is to every layer."""

from __future__ import annotations

from typing import Any

Document = dict[str, Any]
