"""The base model that ships with the package, and everything it was made of.

`weights.safetensors` was written by `make.py` from the text that `words.py`, `prose.py` and `tasks.py` make up; no
other text went into it.
"""
