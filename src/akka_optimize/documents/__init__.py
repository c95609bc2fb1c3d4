"""JSON and YAML documents, read strictly: nothing is guessed, and every refusal says where.

YAML is read by the 1.2 core schema, so `no`, `on` and `2024-01-01` are strings and `1e-5` is a number. Both readers
refuse duplicate keys, numbers that no JSON reader could carry on, lone surrogates, and documents that are too deep
or too large.
"""

from akka_optimize.documents.reading import parse, read, read_located
from akka_optimize.documents.scalars import parse_scalar
from akka_optimize.documents.writing import dumps

__all__ = ["dumps", "parse", "parse_scalar", "read", "read_located"]
