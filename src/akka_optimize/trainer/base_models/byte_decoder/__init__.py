"""The base model that ships with the package, and everything it was made of.

`weights.safetensors` was written by `make.py` from the text that `words.py`, `prose.py` and `tasks.py` make up; no
other text went into it.

What it learned in its 3.3 million tokens is the form of things: chats, English words, JSON. It does not yet do most of
the tasks that it saw: it finishes a word that stands in the question, but rarely begins the right one.
"""
