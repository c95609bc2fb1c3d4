"""How a dataset is shown."""

from __future__ import annotations

from akka_optimize.output.view import Column, Field, View

DATASET = View(
    name="dataset",
    plural="datasets",
    fields=(
        Field("hash", "sha256 of the rows in order, 64 hex digits"),
        Field("names", "the names it goes by"),
        Field("exampleCount", "rows"),
        Field("sizeBytes", "bytes of the stored rows"),
        Field("formatVersion", "version of the row format"),
        Field("findings", "what was noticed about the rows, and accepted"),
        Field("createdAt", "when it was registered"),
    ),
    columns=(
        Column("DATASET", lambda dataset: dataset.hash[:12]),
        Column("NAMES", "names"),
        Column("EXAMPLES", "exampleCount"),
        Column("BYTES", "sizeBytes"),
        Column("CREATED", "createdAt"),
    ),
    block=(
        Column("Dataset", "hash"),
        Column("Names", "names"),
        Column("Examples", "exampleCount"),
        Column("Bytes", "sizeBytes"),
        Column("Format", "formatVersion"),
        Column("Findings", lambda dataset: "\n".join(dataset.findings) or None),
        Column("Created", "createdAt"),
    ),
)
