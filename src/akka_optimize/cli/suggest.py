"""What a mistyped word was probably meant to be."""

from __future__ import annotations

from collections.abc import Iterable


def nearest(word: str, known: Iterable[str]) -> str | None:
    """The known word nearest to the one typed, or None when none is near."""
    from difflib import get_close_matches

    folded = {name.lower(): name for name in known}
    found = get_close_matches(word.lower(), folded, n=1, cutoff=0.6)
    return folded[found[0]] if found else None


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """`; did you mean …?`, or nothing."""
    guess = nearest(word, known)
    return f"; did you mean {guess}?" if guess else ""
